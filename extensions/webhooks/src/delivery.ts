/**
 * Events on their way to webhooks.
 *
 * W1  An event is a row and a piece of durable work for each webhook, made in one commit, once.
 * W2  "Sent" means that the target took it (2xx). Else it is tried again over 28 hours, then it is dead; the row says why.
 * W3  An address that says 410 is disabled, and not asked again.
 * W4  The same id and body go with every attempt, signed anew: a receiver drops what it has seen.
 * W5  An address that hangs holds few places: others are not kept waiting by it.
 * W6  A delivery that ended is sent again when its owner asks: the same id and body, with all attempts.
 */
import { type Actor, type Actors, type Clock, type Db, type ExtensionContext, type Ids, isSvcError, type Journal, type LeasedRun, type Secrets } from '@svc/api';
import { type DeliveryRow, WebhookDelivery } from './contract.js';
import { signatures } from './signatures.js';
import type { Sent, Target } from './sources.js';

/** Where a delivery goes, as its owner set it last. */
export interface Address {
  readonly id: string;
  readonly url: string;
  readonly enabled: boolean;
  /** Names of the secrets in the vault that sign now, the newest first. */
  readonly secrets: readonly string[];
}

export interface DeliveryDeps {
  readonly db: Db;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly actors: Actors;
  readonly secrets: Pick<Secrets, 'hmac'>;
  readonly fetch: ExtensionContext['fetch'];
  readonly closing: AbortSignal;
  address(owner: Actor, id: string): Promise<Address | undefined>;
  disable(owner: Actor, id: string): Promise<unknown>;
}

const SECOND_MS = 1_000;
const TIMEOUT_MS = 10 * SECOND_MS;
const MAX_ANSWER_BYTES = 65_536;
const GONE = 410;
/** Waits between attempts, in seconds: 28 hours in all. */
const WAITS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200];
const AT_ONCE = 16;
const AT_ONCE_PER_ADDRESS = 4;
const BUSY_MS = 2 * SECOND_MS;
const MAX_REASON = 500;

export interface Deliveries {
  /** Durable when this resolves. */
  send(target: Target, happening: Sent): Promise<void>;
  /** Sends one that ended again. False where it is still on its way. */
  replay(row: DeliveryRow): Promise<boolean>;
  /** One attempt, of which nothing is stored. */
  test(address: Address): Promise<Attempted>;
}

export interface Attempted {
  /** 0 where nobody answered. */
  readonly status: number;
  readonly why: string;
  readonly retry: boolean;
}

export const createDeliveries = (deps: DeliveryDeps): Deliveries => {
  const busy = new Map<string, number>();
  const worker = deps.journal.worker(WebhookDelivery, { concurrency: AT_ONCE, drive: (run) => drive(deps, busy, run) });
  return {
    send: async (target, { kind, key, data }) => {
      const now = deps.clock.iso();
      const row: DeliveryRow = {
        id: deps.ids.uuid(),
        owner_id: target.ownerId,
        webhook_id: target.id,
        event: kind,
        body: JSON.stringify({ type: kind, event: kind, timestamp: now, webhook_id: target.id, data }),
        status: 'pending',
        attempts: 0,
        response_status: null,
        reason: null,
        created_at: now,
        ended_at: null,
        next_attempt_at: now,
      };
      const { leased } = await deps.journal.open({ kind: WebhookDelivery.name, actor: deps.actors.of(target.ownerId), key: `${target.id}:${key}`, input: { deliveryId: row.id } }, [
        deps.db.insert('deliveries', [row]),
      ]);
      if (leased) void worker.take(leased);
      else worker.poke();
    },
    replay: async (row) => {
      if (row.status === 'pending') return false;
      const again = deps.db.update('deliveries', ['id', 'status', 'attempts'], [{ id: row.id, status: row.status, attempts: row.attempts, reason: null }], { expect: 'each' });
      const next = deps.db.update('deliveries', ['id'], [{ id: row.id, status: 'pending', reason: null, ended_at: null, next_attempt_at: deps.clock.iso() }]);
      const input = { deliveryId: row.id, before: row.attempts };
      try {
        const { leased } = await deps.journal.open({ kind: WebhookDelivery.name, actor: deps.actors.of(row.owner_id), key: `replay:${row.id}:${row.attempts}`, input }, [again, next]);
        if (leased) void worker.take(leased);
        else worker.poke();
        return true;
      } catch (error) {
        // Somebody else was quicker.
        if (isSvcError(error) && error.code === 'storage_conflict') return false;
        throw error;
      }
    },
    test: (address) => {
      const timestamp = deps.clock.iso();
      const body = JSON.stringify({ type: 'test', event: 'test', timestamp, webhook_id: address.id, message: 'A test of svc.', data: { message: 'A test of svc.' } });
      return attempt(deps, address, deps.ids.uuid(), body, deps.closing);
    },
  };
};

async function drive(deps: DeliveryDeps, busy: Map<string, number>, run: LeasedRun): Promise<void> {
  const { deliveryId, before = 0 } = run.input as { readonly deliveryId: string; readonly before?: number }; // what `send` or `replay` stored
  const row = await deps.db.system('a delivery').first<DeliveryRow>({ from: 'deliveries', where: { id: deliveryId } });
  const owner = deps.actors.of(run.ownerId);
  const address = row && (await deps.address(owner, row.webhook_id));
  // Deleted meanwhile, by its owner or with them.
  if (!row) return deps.journal.advance(run, { finish: { status: 'cancelled' } });
  if (!address) return end(deps, run, row, { status: 'dead', reason: 'the webhook was deleted' });
  if (!address.enabled) return end(deps, run, row, { status: 'dead', reason: 'the webhook is disabled' });
  const going = busy.get(address.id) ?? 0;
  if (going >= AT_ONCE_PER_ADDRESS) return deps.journal.wait(run, { reason: 'busy', wakeKey: `webhook-delivery:${run.id}`, until: new Date(deps.clock.now() + BUSY_MS).toISOString() });
  busy.set(address.id, going + 1);
  try {
    await tried(deps, run, { ...row, attempts: before }, address, owner);
  } finally {
    const left = (busy.get(address.id) ?? 1) - 1;
    if (left > 0) busy.set(address.id, left);
    else busy.delete(address.id);
  }
}

/** `row.attempts`: those of earlier runs of this delivery. */
const tried = async (deps: DeliveryDeps, run: LeasedRun, row: DeliveryRow, address: Address, owner: Actor): Promise<void> => {
  const tries = run.steps.length;
  const outcome = await deps.journal.step(run, { seq: tries + 1, kind: 'webhook', key: run.id, replay: 'safe', intent: { attempt: tries + 1 } }, async () => {
    const value = await attempt(deps, address, row.id, row.body, run.signal);
    return { value, outcome: value };
  });
  const now: DeliveryRow = { ...row, attempts: row.attempts + tries + 1, response_status: outcome.status === 0 ? null : outcome.status };
  if (outcome.status >= 200 && outcome.status < 300) return end(deps, run, now, { status: 'sent', reason: null });
  if (outcome.status === GONE) {
    await deps.disable(owner, address.id);
    return end(deps, run, now, { status: 'dead', reason: 'the target answered 410: it is gone, and the webhook was disabled' });
  }
  const waitSecs = WAITS[tries];
  if (!outcome.retry || waitSecs === undefined) return end(deps, run, now, { status: 'dead', reason: outcome.why });
  const until = new Date(deps.clock.now() + waitSecs * SECOND_MS).toISOString();
  await store(deps, { ...now, reason: outcome.why, next_attempt_at: until });
  return deps.journal.wait(run, { reason: 'retry', wakeKey: `webhook-delivery:${run.id}`, until, data: { why: outcome.why } });
};

const stored = ({ db }: DeliveryDeps, { id, status, attempts, response_status, reason, ended_at, next_attempt_at }: DeliveryRow) =>
  db.update('deliveries', ['id'], [{ id, status, attempts, response_status, reason: reason?.slice(0, MAX_REASON) ?? null, ended_at, next_attempt_at }]);

const store = (deps: DeliveryDeps, row: DeliveryRow): Promise<unknown> => deps.db.commit([stored(deps, row)]);

const end = (deps: DeliveryDeps, run: LeasedRun, row: DeliveryRow, { status, reason }: { readonly status: 'sent' | 'dead'; readonly reason: string | null }): Promise<void> =>
  deps.journal.advance(run, {
    finish: status === 'sent' ? { status: 'done', result: { status: row.response_status ?? 0 } } : { status: 'failed', error: { code: 'webhooks_undelivered', message: reason ?? '' } },
    also: [stored(deps, { ...row, status, reason, ended_at: deps.clock.iso(), next_attempt_at: null })],
  });

const attempt = async ({ fetch, secrets, closing, clock }: DeliveryDeps, address: Address, id: string, body: string, signal: AbortSignal): Promise<Attempted> => {
  try {
    const seconds = Math.floor(clock.now() / SECOND_MS);
    const signed = await signatures(secrets, address.secrets, id, seconds, body);
    const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': String(seconds), ...signed };
    const answer = await fetch(address.url, {
      purpose: 'webhook',
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: AbortSignal.any([signal, closing]),
    });
    answer.cancel();
    return { status: answer.status, why: `the target answered ${answer.status}`, retry: true };
  } catch (error) {
    if (signal.aborted || closing.aborted) throw error;
    const why = isSvcError(error) ? error.message : 'the target could not be reached';
    return { status: 0, why, retry: !(isSvcError(error) && error.code === 'fetch_refused_address') };
  }
};
