/**
 * Responses that are stored: each is a part of a run in a session of its own, and is read from there.
 *
 * S1  The id names the run and the calls whose results it answers. There is no second copy that could differ.
 * S2  Who may not see the run does not see its responses.
 * S3  Only the newest response of a conversation can be continued: the conversation is the history.
 */
import { type Actor, isSvcError, isUuid, uuidOfHex } from '@svc/api';
import { type ClientCalls, type ClientResult, type RunInfo, type RunsService, stepOfCall } from '@svc/ext-runs/contract';
import { type Entry, type SessionsService, textOfParts } from '@svc/ext-sessions/contract';
import { compatErrors } from '../errors.js';
import { bodyOf, messageItem, type ResponseBody } from './response-object.js';

const FIRST = '0';
const MAX_ENTRIES = 5_000;
const RESPONSE_ID = /^resp_([0-9a-f]{32})_([0-9a-z]{1,12})$/;

export interface StoredDeps {
  readonly runs: Pick<RunsService, 'get'>;
  readonly sessions: Pick<SessionsService, 'entries'>;
}

export interface Stored {
  readonly run: RunInfo;
  readonly body: ResponseBody;
  readonly isNewest: boolean;
}

export const responseIdOf = (runId: string, results: readonly ClientResult[] = []): string => `resp_${runId.replaceAll('-', '')}_${stepOfCall(results[0]?.callId ?? '') ?? FIRST}`;

/** Whether a run of this daemon waits, or waited, for this result. */
export const isOwnCall = (callId: string): boolean => stepOfCall(callId) !== undefined;

/** Throws `response_not_found`. */
export async function storedResponse({ runs, sessions }: StoredDeps, actor: Actor, id: string): Promise<Stored> {
  const [, hex = '', part = ''] = RESPONSE_ID.exec(id) ?? [];
  const runId = uuidOfHex(hex);
  if (!isUuid(runId)) throw compatErrors.response_not_found(id);
  try {
    const run = await runs.get(actor, runId);
    const entries = await sessions.entries(actor, run.sessionId, { limit: MAX_ENTRIES });
    const parts = partsOf(entries.filter((entry) => entry.runId === run.id));
    const found = parts.findIndex((one) => one.name === part);
    const own = parts[found];
    if (!own) throw compatErrors.response_not_found(id);
    const isLast = found === parts.length - 1;
    return { run, body: stateOf(id, run, own.entries, isLast), isNewest: isLast && entries.at(-1)?.runId === run.id };
  } catch (cause) {
    if (isSvcError(cause) && cause.status === 404) throw compatErrors.response_not_found(id).with({ cause });
    throw cause;
  }
}

interface RunPart {
  readonly name: string;
  readonly entries: Entry[];
}

/** Results of calls of the client begin the next part. */
function partsOf(entries: readonly Entry[]): RunPart[] {
  const parts: RunPart[] = [{ name: FIRST, entries: [] }];
  for (const entry of entries) {
    const name = entry.kind === 'tool_result' ? stepOfCall(entry.callId ?? '') : undefined;
    if (name !== undefined && entry.status === 'completed' && parts.at(-1)?.name !== name) parts.push({ name, entries: [] });
    parts.at(-1)?.entries.push(entry);
  }
  return parts;
}

function stateOf(id: string, { status, result, error }: RunInfo, entries: readonly Entry[], isLast: boolean): ResponseBody {
  const calls = entries.flatMap(({ kind, callId = '', tool = '', args }) => (kind === 'tool_call' && isOwnCall(callId) ? [{ id: callId, name: tool, args }] : []));
  const said = textOfParts(entries.findLast(({ kind }) => kind === 'assistant')?.parts);
  const used = entries.flatMap(({ used: one }) => one ?? []);
  const usage = { input_tokens: sum(used.map(({ inputTokens }) => inputTokens)), output_tokens: sum(used.map(({ outputTokens }) => outputTokens)) };
  const client: ClientCalls = { calls, text: said, usage };
  if (!isLast || (calls.length > 0 && (status === 'waiting' || status === 'done'))) return bodyOf(id, client);
  if (status === 'done' && result) return bodyOf(id, result);
  if (status === 'failed' || status === 'cancelled') return { status, output: said === '' ? [] : [messageItem(id, said)], usage, error: error ?? { code: status, message: `The run was ${status}.` } };
  return { status: 'in_progress', output: [] };
}

const sum = (all: readonly number[]): number => all.reduce((before, one) => before + one, 0);
