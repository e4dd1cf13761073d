/**
 * Connections to platforms.
 *
 * C1  One daemon at a time holds the connection of a channel; when it is gone for half a minute, another one takes over.
 * C2  What a platform refuses is a state with its cause and what to do, and it is tried again for ever: after a second at first, a minute at most; programs of
 *     sidecars as backoff.ts says.
 * C3  "Connected" means that the platform answered lately. Where it was silent for a minute, the state is `deaf`.
 */
import { createTurns, type Db, type Disposable, type Events, type ExtensionContext, type Write } from '@svc/api';
import type { Account } from './account.js';
import type { Accounts } from './accounts.js';
import { type Adapter, ChannelFault, type AdapterTools, type Connection } from './adapters/adapter.js';
import type { Inbox } from './inbox.js';
import { createBackoff } from './backoff.js';
import { createLeases, type Leases } from './leases.js';

export const STATES = ['off', 'connecting', 'connected', 'listening', 'failing', 'deaf', 'elsewhere'] as const;
export type ChannelState = (typeof STATES)[number];

export interface Standing {
  readonly state: ChannelState;
  readonly problem: string | null;
  readonly fix: string | null;
  readonly answeredAt: string | null;
  readonly startedAt: string | null;
}

export interface SupervisorDeps extends AdapterTools {
  readonly db: Db;
  readonly events: Events;
  readonly egress: ExtensionContext['egress'];
  readonly accounts: Accounts;
  readonly closing: AbortSignal;
  inbox(): Inbox;
}

export interface Supervisor {
  /** Connects what is configured and not connected, and ends what is not configured any more. Answers with the names of those that it began. */
  sync(): Promise<string[]>;
  /** Ends all connections of this daemon and begins them anew. */
  restart(): Promise<string[]>;
  connectionTo(account: Account, adapter: Adapter, signal: AbortSignal, place?: string): Connection;
  /** Where the platform is read from next. */
  placeOf(name: string): Promise<string | undefined>;
  standing(account: Account, adapter: Adapter): Promise<Standing>;
  stop(): Promise<void>;
}

const BEAT_MS = 10_000;
const DEAF_MS = 60_000;
const FIRST_IDLE_MS = 1_000;
const MAX_IDLE_MS = 60_000;

interface Live {
  readonly account: Account;
  readonly stop: AbortController;
  readonly origins: readonly Disposable[];
  ended: Promise<void>;
  answeredMs: number;
}

export const createSupervisor = (deps: SupervisorDeps): Supervisor => {
  const leases = createLeases(deps);
  const live = new Map<string, Live>();
  /** For channels that are written to without a connection of this daemon. */
  const reached = new Map<string, { readonly from: string; readonly origins: readonly Disposable[] }>();
  const reach = (account: Account, adapter: Adapter): void => {
    const known = reached.get(account.name);
    if (known?.from === account.startedFrom) return;
    for (const origin of known?.origins ?? []) void origin.dispose();
    reached.set(account.name, { from: account.startedFrom, origins: adapter.origins(account).map((url) => deps.egress.allow(url, 'server')) });
  };
  const connectionTo = (account: Account, adapter: Adapter, signal: AbortSignal, place?: string): Connection => {
    reach(account, adapter);
    const placing = (at: string | undefined): Write[] => (at === undefined ? [] : [deps.db.update('connections', ['name'], [{ name: account.name, place: at }])]);
    return {
      ...{ fetch: deps.fetch, tcp: deps.tcp, webSocket: deps.webSocket, secrets: deps.secrets, ids: deps.ids, clock: deps.clock, log: deps.log, spawn: deps.spawn, files: deps.files },
      account,
      signal,
      place,
      secret: (field) => deps.accounts.secretOf(account.name, field, account),
      alive: () => {
        const one = live.get(account.name);
        if (one) one.answeredMs = deps.clock.now();
      },
      receive: async (message) => (await deps.inbox().receive(account, message, placing(message.place))).isNew,
      change: (message) => deps.inbox().change(account, message, placing(message.place)),
      remember: async (at) => void (await deps.db.commit(placing(at))),
    };
  };
  const begin = (account: Account, adapter: Adapter): void => {
    reach(account, adapter);
    const one: Live = { account, stop: new AbortController(), origins: [], ended: Promise.resolve(), answeredMs: 0 };
    live.set(account.name, one);
    one.ended = serve({ deps, leases, connectionTo }, one, adapter);
  };
  const finish = async (one: Live): Promise<void> => {
    one.stop.abort();
    live.delete(one.account.name);
    await one.ended;
  };
  const sync = async (): Promise<string[]> => {
    if (deps.closing.aborted) return [];
    const wanted = (await deps.accounts.all()).filter(({ name }) => deps.accounts.adapterOf(name).connect);
    for (const one of [...live.values()]) if (!wanted.some(({ name, startedFrom }) => name === one.account.name && startedFrom === one.account.startedFrom)) await finish(one);
    const begun = wanted.filter(({ name }) => !live.has(name));
    for (const account of begun) begin(account, deps.accounts.adapterOf(account.name));
    return begun.map(({ name }) => name);
  };
  // One after another: a channel is not begun twice.
  const inTurn = createTurns();
  return {
    sync: () => inTurn('channels', sync),
    restart: () =>
      inTurn('channels', async () => {
        for (const one of [...live.values()]) await finish(one);
        return sync();
      }),
    connectionTo,
    placeOf: async (name) => (await leases.rowOf(name))?.place ?? undefined,
    standing: async (account, adapter) => {
      if (!adapter.connect) return { state: 'listening', problem: null, fix: null, answeredAt: null, startedAt: null };
      const row = await leases.rowOf(account.name);
      const shown = { problem: row?.problem ?? null, fix: row?.fix ?? null, answeredAt: row?.answered_at ?? null, startedAt: row?.started_at ?? null };
      if (row?.state !== 'connected') return { state: row?.state === 'failing' ? 'failing' : 'connecting', ...shown };
      const now = deps.clock.now();
      if (row.answered_at !== null && now - Date.parse(row.answered_at) <= DEAF_MS + BEAT_MS) return { state: 'connected', ...shown };
      return { state: 'deaf', ...shown, problem: 'the platform has not answered for over a minute', fix: 'svc goes on trying. Check the network, and `svc channels test`.' };
    },
    stop: () =>
      inTurn('channels', async () => {
        await Promise.all([...live.values()].map(finish));
        for (const { origins } of reached.values()) for (const origin of origins) void origin.dispose();
        reached.clear();
      }),
  };
};

interface Serving {
  readonly deps: SupervisorDeps;
  readonly leases: Leases;
  connectionTo(account: Account, adapter: Adapter, signal: AbortSignal, place?: string): Connection;
}

const serve = async (serving: Serving, one: Live, adapter: Adapter): Promise<void> => {
  const { deps, leases } = serving;
  const { rowOf, state, held, release } = leases;
  const { account } = one;
  const { signal } = one.stop;
  const backoff = createBackoff(account.sidecar, () => (deps.ids.bytes(1)[0] ?? 0) / BYTE);
  // Where another daemon has the channel, and where a platform ended the connection in its own way.
  let idleMs = FIRST_IDLE_MS;
  while (!signal.aborted) {
    const begun = deps.clock.now();
    let waitMs = idleMs;
    idleMs = Math.min(MAX_IDLE_MS, idleMs * 2);
    try {
      if (await held(account.name)) {
        await state(account.name, { state: 'connecting', started_at: deps.clock.iso() });
        const { place } = (await rowOf(account.name)) ?? {};
        await listened(serving, one, adapter, place ?? undefined);
        if (deps.clock.now() - begun > MAX_IDLE_MS) waitMs = idleMs = FIRST_IDLE_MS;
      }
    } catch (error) {
      if (signal.aborted) break;
      const [problem, fix] = error instanceof ChannelFault ? [error.message, error.fix] : [messageOf(error), 'Check the address, the network and the settings of the channel.'];
      const { waitMs: next, isOpen, failures } = backoff.failed(deps.clock.now() - begun);
      waitMs = Math.max(next, (error instanceof ChannelFault && error.retryAfterMs) || 0);
      deps.log.warn('A channel is not connected; svc tries again.', { channel: account.name, problem, waitMs });
      const shown = isOpen ? { problem: `its circuit is open: it failed ${failures} times in a row, the last time because ${problem}`, fix: openFix(waitMs) } : { problem, fix };
      await state(account.name, { state: 'failing', ...shown }).catch(() => undefined); // the database may be what failed
      if (account.sidecar?.restart === false) break;
    }
    await deps.clock.sleep(waitMs, signal).catch(() => undefined);
  }
  await release(account.name).catch(() => undefined); // it runs out by itself
};

const BYTE = 256;
const MINUTE_MS = 60_000;
const openFix = (waitMs: number): string => `svc starts it again within ${Math.ceil(waitMs / MINUTE_MS)} minutes. When you have repaired it, \`svc channels reload\` starts it at once.`;

/** Listens while the lease is held. */
const listened = async ({ deps, leases: { state, held }, connectionTo }: Serving, one: Live, adapter: Adapter, place: string | undefined): Promise<void> => {
  const { account } = one;
  const over = new AbortController();
  const signal = AbortSignal.any([one.stop.signal, over.signal]);
  let shown = 0;
  const beat = async (): Promise<void> => {
    while (!signal.aborted) {
      const wait = shown === 0 ? FIRST_BEAT_MS : BEAT_MS;
      await deps.clock.sleep(wait, signal).catch(() => undefined);
      if (signal.aborted) return;
      if (one.answeredMs > shown) {
        const isFirst = shown === 0;
        shown = one.answeredMs;
        const answered = { name: account.name, state: 'connected', problem: null, fix: null, answered_at: new Date(shown).toISOString() };
        await (isFirst ? state(account.name, answered) : deps.db.commit([deps.db.update('connections', ['name'], [answered])]));
      }
      if (!(await held(account.name))) throw new ChannelFault('another daemon took the channel over', 'Nothing needs to be done.');
    }
  };
  one.answeredMs = 0;
  const work = adapter.connect?.(connectionTo(account, adapter, signal, place)) ?? Promise.resolve();
  try {
    await Promise.race([work, beat()]);
  } finally {
    over.abort();
    await work.catch(() => undefined); // the race has its reason
  }
};

/** A platform answers at once as a rule; then the page says so soon. */
const FIRST_BEAT_MS = 500;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
