/**
 * Approvals that are remembered: this tool or this call, for an hour, a session or always, of this agent.
 *
 * G1  A command is remembered by its words: quotes and harmless assignments in front make no other command, and anything else does.
 * G2  What nobody can read as words is never remembered and never found.
 */
import { OneOf, type Plain, parseCommandLine, type ToolRequest, Type } from '@svc/api';
import { withoutAssignments } from '@svc/ext-capabilities/contract';
import type { GrantRow, RequestRow } from '../contract.js';
import { approvalErrors } from '../errors.js';
import { commandOf } from '../policy/rules.js';

export const Remember = Type.Object(
  {
    what: OneOf(['call', 'tool'], { default: 'call', description: '`call`: the same arguments, or the same command; `tool`: every call of the tool, which commands cannot have' }),
    for: OneOf(['hour', 'session', 'always'], { description: 'How long' }),
  },
  { additionalProperties: false, description: 'Approve such calls of this agent without asking again' },
);
export type Remember = Plain<typeof Remember>;

const HOUR_MS = 3_600_000;
/** What a row holds of a command; one character more tells that there was more. */
export const MAX_COMMAND_CHARS = 16_000;

/** The words of a command without harmless assignments in front; undefined for what is no plain command. */
const wordsOf = (line: string): readonly string[] | undefined => {
  const { rest, odd } = withoutAssignments(line);
  const parsed = odd === undefined ? parseCommandLine(rest) : { problem: odd };
  return 'words' in parsed ? parsed.words : undefined;
};

const coversOfCommand = (line: string): string | undefined => {
  const words = wordsOf(line);
  return words && `argv:${JSON.stringify(words)}`;
};

/** Whether one of these covers the call. They are of its agent and tool. */
export const isRemembered = (grants: readonly GrantRow[], request: Pick<ToolRequest, 'needs' | 'digest' | 'call'>, now: string): boolean => {
  const line = commandOf(request);
  const wanted = line === undefined ? [`digest:${request.digest}`, 'any'] : [coversOfCommand(line)];
  return grants.some(({ covers, session_id: session, expires_at: until }) => wanted.includes(covers) && (session === null || session === request.call.sessionId) && (until === null || until > now));
};

/** Throws `approvals_cannot_remember`. */
export const grantOfRequest = (row: RequestRow, remember: Remember, by: string, id: string, now: number): GrantRow => {
  if (row.run_id === '') throw approvalErrors.cannot_remember('no tool call waits for it');
  const covers = coversOf(row, remember);
  if (remember.for === 'session' && row.session_id === '') throw approvalErrors.cannot_remember('it belongs to no session');
  return {
    id,
    owner_id: row.owner_id,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    tool: row.tool,
    covers,
    shown: covers === 'any' ? 'every call' : (row.command ?? row.payload).slice(0, 500),
    session_id: remember.for === 'session' ? row.session_id : null,
    expires_at: remember.for === 'hour' ? new Date(now + HOUR_MS).toISOString() : null,
    created_at: new Date(now).toISOString(),
    created_by: by,
    request_id: row.id,
  };
};

const coversOf = (row: RequestRow, { what }: Remember): string => {
  if (row.command === null) return what === 'tool' ? 'any' : `digest:${row.digest}`;
  if (what === 'tool') throw approvalErrors.cannot_remember('a command is remembered with its arguments; use "what": "call"');
  const covers = row.command.length > MAX_COMMAND_CHARS ? undefined : coversOfCommand(row.command);
  if (covers === undefined) throw approvalErrors.cannot_remember('the command is not one program with plain arguments, so no later command can be compared with it');
  return covers;
};
