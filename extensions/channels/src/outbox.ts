/**
 * Messages on their way to chats.
 *
 * O1  A message is a row and a piece of durable work before anything is sent; the same key is the same message.
 * O2  In one chat, messages go out in the order in which they were accepted.
 * O3  "Sent" means that the platform took it. Whether it did may be unknown, after a crash or a lost connection: then the row says so, and nothing is
 *     sent again by itself, unless the platform drops what comes twice.
 * O4  It is tried again over about an hour, and when the platform says; then it has failed, with the reason. What can never be sent fails at once.
 * O5  A file of an answer is a message of its own behind the words. Where a platform takes no files, its name is sent.
 */
import {
  type Actor,
  type Actors,
  type Clock,
  type Db,
  type Events,
  type Ids,
  isSvcError,
  type Journal,
  type JournalStep,
  type LeasedRun,
  type Logger,
  type OptionalHandle,
  type StepOutcome,
  type ToolFile,
  type Write,
} from '@svc/api';
import type { UploadsService } from '@svc/ext-runs/contract';
import type { Account } from './account.js';
import type { Accounts } from './accounts.js';
import { type Adapter, ChannelFault, type Connection, type OutgoingFile } from './adapters/adapter.js';
import { ChannelChanged, ChannelDelivery, type DeliveryRow, type DeliveryState, type Outgoing } from './contract.js';
import { channelErrors } from './errors.js';
import { uuidV5 } from './ids.js';
import { documentPieces } from './document/document.js';
import type { Piece } from './document/typeset.js';
import { piecesOf } from './pieces.js';

export interface OutboxDeps {
  readonly db: Db;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly events: Events;
  readonly log: Logger;
  readonly actors: Actors;
  readonly accounts: Accounts;
  readonly uploads: OptionalHandle<UploadsService>;
  readonly closing: AbortSignal;
  connectionTo(account: Account, adapter: Adapter, signal: AbortSignal): Connection;
}

export interface Outbox {
  send(ownerId: string, message: Outgoing & { readonly chat: string; readonly facts?: Readonly<Record<string, string>>; readonly runId?: string; readonly sessionId?: string }): Promise<string>;
  /** Throws `channels_not_retryable`. */
  retry(row: DeliveryRow): Promise<string>;
  /** Throws `channels_still_going`. */
  remove(row: DeliveryRow): Promise<void>;
}

const SECOND_MS = 1_000;
/** Waits between attempts, in seconds. */
const WAITS = [1, 5, 15, 60, 180, 600, 1_200, 1_800];
const AT_ONCE = 64;
const MAX_REASON = 500;
const MAX_TEXT = 100_000;
const MAX_WAIT_MS = 3_600_000;
/** No platform takes larger files from every bot. */
const MAX_FILE_BYTES = 50 * 1_048_576;
/** Beside what the answer needs, in the same column. */
const FILE = '$file';
interface Facts {
  readonly [FILE]?: ToolFile;
  readonly [fact: string]: string | ToolFile | undefined;
}

export const outgoingId = (key: string): string => uuidV5('out', key);

export const createOutbox = (deps: OutboxDeps): Outbox => {
  const worker = deps.journal.worker(ChannelDelivery, { concurrency: AT_ONCE, drive: (run) => drive(deps, run) });
  const open = async (row: DeliveryRow, key: string, also: readonly Write[]): Promise<void> => {
    const { leased } = await deps.journal.open(
      {
        kind: ChannelDelivery.name,
        actor: deps.actors.of(row.owner_id),
        key,
        lane: `channel-out:${row.channel}:${row.chat}`,
        ...(row.agent_id === null ? {} : { subject: row.agent_id }),
        input: { deliveryId: row.id },
      },
      also,
    );
    if (leased) void worker.take(leased);
    else worker.poke();
  };
  return {
    send: async (ownerId, { channel, chat, thread, message, subject, file, agentId, key, facts = {}, runId, sessionId }) => {
      const row: DeliveryRow = {
        ...{ id: outgoingId(key), owner_id: ownerId, direction: 'outbound', channel, chat, thread: thread ?? null, sender: null, sender_name: null },
        ...{
          agent_id: agentId ?? null,
          session_id: sessionId ?? null,
          run_id: runId ?? null,
          message: message.slice(0, MAX_TEXT),
          facts: JSON.stringify({ ...facts, ...(subject === undefined ? {} : { subject }), ...(file ? { [FILE]: file } : {}) } satisfies Facts),
        },
        ...{ status: 'queued', attempts: 0, reason: null, platform_id: null, created_at: deps.clock.iso(), ended_at: null },
      };
      await open(row, key, [deps.db.insert('deliveries', [row], { ifAbsent: true })]);
      return row.id;
    },
    retry: async (row) => {
      if (row.direction !== 'outbound' || (row.status !== 'failed' && row.status !== 'unknown')) throw channelErrors.not_retryable(row.status);
      const fresh: DeliveryRow = { ...row, id: deps.ids.uuid(), status: 'queued', attempts: 0, reason: null, platform_id: null, created_at: deps.clock.iso(), ended_at: null };
      // The old row goes with it: of two who retry, one finds it.
      await open(fresh, `retry:${row.id}`, [deps.db.remove('deliveries', { id: row.id, status: row.status }, { expect: 1 }), deps.db.insert('deliveries', [fresh])]);
      return fresh.id;
    },
    remove: async (row) => {
      if (row.status === 'queued' || row.status === 'sending' || row.status === 'received') throw channelErrors.still_going(row.status);
      await deps.db.commit([deps.db.remove('deliveries', { id: row.id }, { expect: 'any' })]);
    },
  };
};

async function drive(deps: OutboxDeps, run: LeasedRun): Promise<void> {
  const { deliveryId } = run.input as { readonly deliveryId: string }; // what `open` stored
  const row = await deps.db.system('a delivery').first<DeliveryRow>({ from: 'deliveries', where: { id: deliveryId } });
  // Deleted meanwhile, with its owner.
  if (!row) return deps.journal.advance(run, { finish: { status: 'cancelled' } });
  const account = await deps.accounts.find(row.channel);
  if (!account) return end(deps, run, row, 'failed', `the channel ${row.channel} is not configured`);
  const adapter = deps.accounts.adapterOf(row.channel);
  const pieces = row.facts.includes(`"${FILE}"`) && adapter.sendFile ? [{ text: row.message }] : await piecesFor(adapter, row.message);
  const connection = deps.connectionTo(account, adapter, AbortSignal.any([run.signal, deps.closing]));
  let { platform_id: lastId } = row;
  const isBegun = run.steps.find(({ status }) => status === 'intent');
  // What the last life of the daemon was about to send may have arrived.
  if (isBegun && !isRemembered(adapter, deps.clock.now() - Date.parse(isBegun.startedAt))) return end(deps, run, row, 'unknown', 'the daemon ended while it was sent; it may have arrived');
  let seq = run.steps.reduce((most, step) => Math.max(most, step.seq), 0);
  // The outcome of a piece is committed with what follows it: one wait for the disk instead of two. A send that is cut off leaves its intent alone (O3).
  let outcomes: StepOutcome[] = [];
  for (const [index, piece] of pieces.entries()) {
    const key = `${row.id}:${index}`;
    if (isSent(run.steps, key)) continue;
    seq += 1;
    const intent = { seq, kind: 'send', key, replay: adapter.isKeyed ? ('keyed' as const) : ('never' as const), intent: { piece: index, of: pieces.length } };
    await deps.journal.advance(run, { outcomes, intents: [intent] });
    const outcome = await attempt(deps, adapter, connection, row, piece, key);
    outcomes = [{ seq, status: 'done', outcome }];
    if (outcome.kind === 'sent') lastId = outcome.id ?? lastId;
    else return unsent(deps, run, row, { outcome, outcomes }, adapter);
  }
  return end(deps, run, { ...row, platform_id: lastId }, 'sent', null, outcomes);
}

const piecesFor = async ({ format, maxLength }: Adapter, message: string): Promise<Piece[]> => {
  const pieces = format ? await documentPieces(message, format) : [];
  // Markdown that shows nothing, such as a comment alone, goes as it was written.
  return pieces.length > 0 ? pieces : piecesOf(message, maxLength).map((text) => ({ text }));
};

const isSent = (steps: readonly JournalStep[], key: string): boolean => steps.some((step) => step.key === key && step.status === 'done' && (step.outcome as Attempt | null)?.kind === 'sent');

type Attempt = { readonly kind: 'sent'; readonly id?: string } | { readonly kind: 'later' | 'never' | 'unknown'; readonly why: string; readonly waitMs?: number };

const attempt = async (deps: OutboxDeps, adapter: Adapter, connection: Connection, row: DeliveryRow, piece: Piece, key: string): Promise<Attempt> => {
  try {
    const { [FILE]: file, ...facts } = JSON.parse(row.facts) as Record<string, string> & { readonly [FILE]?: ToolFile }; // written by `send`
    const to = { key, chat: row.chat, facts, ...(row.thread === null ? {} : { thread: row.thread }) };
    const id = file && adapter.sendFile ? await adapter.sendFile(connection, to, await bytesOf(deps, file)) : await adapter.send(connection, { ...to, ...piece });
    return { kind: 'sent', ...(id === undefined ? {} : { id }) };
  } catch (error) {
    if (error instanceof ChannelFault) return { kind: error.retry, why: error.message, ...(error.retryAfterMs === undefined ? {} : { waitMs: error.retryAfterMs }) };
    if (connection.signal.aborted) throw error;
    const why = isSvcError(error) ? error.message : 'the connection to the platform broke';
    return { kind: neverLeft(error) ? 'later' : 'unknown', why };
  }
};

const bytesOf = async ({ uploads, actors }: OutboxDeps, { id, name, mediaType }: ToolFile): Promise<OutgoingFile> => {
  const found = await uploads.value?.read(actors.system('files of answers'), id, MAX_FILE_BYTES);
  if (!found) throw new ChannelFault(`the file ${name} is gone or larger than ${MAX_FILE_BYTES} bytes`, 'Send a smaller file.', 'never');
  return { name, mediaType, data: Buffer.from(found.data, 'base64') };
};

const NOT_SENT: ReadonlySet<string> = new Set(['fetch_refused_address', 'fetch_not_a_server', 'fetch_bad_request', 'secret_missing', 'tcp_unreachable', 'tcp_timeout']);

/** Whether nothing reached the platform: then it can be sent again without harm. What broke on the way may have arrived. */
export const neverLeft = (error: unknown): boolean =>
  isSvcError(error) &&
  (NOT_SENT.has(error.code) || (error.code === 'fetch_network' && /refused|its name/.test(error.message)) || (error.code === 'fetch_timeout' && error.message.includes('connecting')));

/** Whether what was sent so long ago under the same key would be dropped. */
const isRemembered = ({ isKeyed, keyedForMs = Number.POSITIVE_INFINITY }: Adapter, agoMs: number): boolean => isKeyed && agoMs <= keyedForMs;

interface Unsent {
  readonly outcome: Exclude<Attempt, { kind: 'sent' }>;
  readonly outcomes: readonly StepOutcome[];
}

const unsent = (deps: OutboxDeps, run: LeasedRun, row: DeliveryRow, { outcome, outcomes }: Unsent, adapter: Adapter): Promise<void> => {
  const waitSecs = WAITS[row.attempts];
  const waitMs = Math.min(MAX_WAIT_MS, Math.max(outcome.waitMs ?? 0, (waitSecs ?? 0) * SECOND_MS));
  if (outcome.kind === 'unknown' && (waitSecs === undefined || !isRemembered(adapter, waitMs))) return end(deps, run, row, 'unknown', outcome.why, outcomes);
  if (outcome.kind === 'never' || waitSecs === undefined) return end(deps, run, row, 'failed', outcome.why, outcomes);
  const stored = deps.db.update('deliveries', ['id'], [{ id: row.id, attempts: row.attempts + 1, reason: outcome.why.slice(0, MAX_REASON) }]);
  const until = new Date(deps.clock.now() + waitMs).toISOString();
  return deps.journal.wait(run, { reason: 'retry', wakeKey: `channel-delivery:${run.id}`, until }, { outcomes, also: [stored] });
};

const end = (deps: OutboxDeps, run: LeasedRun, row: DeliveryRow, status: DeliveryState, reason: string | null, outcomes: readonly StepOutcome[] = []): Promise<void> =>
  deps.journal.advance(run, {
    outcomes,
    finish: status === 'sent' ? { status: 'done' } : { status: 'failed', error: { code: 'channels_undelivered', message: reason ?? '' } },
    also: [
      deps.db.update(
        'deliveries',
        ['id'],
        [{ id: row.id, status, reason: reason?.slice(0, MAX_REASON) ?? null, attempts: row.attempts + 1, platform_id: row.platform_id, ended_at: deps.clock.iso() }],
      ),
      deps.events.event(ChannelChanged, { name: row.channel, change: 'message', deliveryId: row.id }),
    ],
  });

/** Writes nothing of others: for the tool and for answers alike. */
export const assertConfigured = async (accounts: Accounts, name: string): Promise<Account> => {
  accounts.adapterOf(name);
  const account = await accounts.find(name);
  if (!account) throw channelErrors.not_configured(name);
  return account;
};

export type { Actor };
