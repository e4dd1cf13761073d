/**
 * Taking sessions away, while runs may be going on in them.
 *
 * D1  First the id is closed, in the commit that also takes what was said there out of every search: from then on nothing is begun
 *     under it, and a run that still writes to it ends without writing. Then what runs there is stopped, then the rows go.
 * D2  An agent always has a session that can be spoken in: its current one is changed in that same commit.
 *     Where there is a bin (bin.ts), the rows of what a person deletes go there, unless they shall be erased at once.
 * D3  What is closed is erased, by other areas too, whatever happens in between: closed ids are looked at until each is done.
 */
import { type Actors, type Actor, type Clock, type Db, type HookHandle, isSvcError, type Logger, type Purged, type PurgeSubject } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { SessionClosing, SessionsService, Wiped } from '../contract.js';
import type { ChangeEvents } from '../service.js';
import { oneAtATime } from '../one-at-a-time.js';
import type { Bin } from './bin.js';
import type { ClosingStore } from './closing-store.js';

export interface ClosingDeps {
  readonly store: ClosingStore;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find' | 'setSession' | 'keptUntil'>;
  /** Stops what goes on in sessions that were closed. */
  readonly stop: HookHandle<typeof SessionClosing>;
  readonly sessions: Pick<SessionsService, 'create'>;
  readonly bin: Pick<Bin, 'take' | 'comeBack'>;
  commit: Db['commit'];
  purge(subject: PurgeSubject): Promise<Purged>;
  /** What is kept of these sessions in memory is stale. */
  gone(sessionIds: readonly string[]): void;
  readonly changeEvents: ChangeEvents;
  later(ms: number, fn: () => Promise<void>): void;
  readonly clock: Pick<Clock, 'iso'>;
  readonly log: Logger;
}

export interface Closing {
  /** One session, into the bin where there is one. Resolves with when it is erased; null where it is at once. */
  remove(actor: Actor, session: { readonly id: string; readonly agentId: string }): Promise<string | null>;
  /** What is in the bin, at once. */
  eraseBinned(sessionId: string): Promise<void>;
  /** One session, with everything that any area holds of it. */
  erase(actor: Actor, session: { readonly id: string; readonly agentId: string }): Promise<void>;
  /** Sessions of one agent, whoever they belong to. What other areas hold of them goes soon after. */
  eraseAll(agentId: string, sessionIds: readonly string[]): Promise<void>;
  wipe(actor: Actor, agent: { readonly id: string; readonly sessionId: string }): Promise<Wiped>;
  /** What was closed and not yet erased everywhere. */
  sweep(): Promise<void>;
}

const CLOSED_AT_ONCE = 500;
const SWEPT_AT_ONCE = 100;
const SWEEP_SOON_MS = 50;
const MAX_POINTER_RACES = 5;

export const createClosing = (deps: ClosingDeps): Closing => {
  const sweep = createSweep(deps);
  const sweepSoon = (): void => deps.later(SWEEP_SOON_MS, sweep);
  return {
    remove: async (actor, { id, agentId }) => {
      const keepUntil = await deps.agents.keptUntil();
      const closedAt = await close(deps, agentId, [id], keepUntil);
      await deps.stop.call({ actor, agentId, sessionIds: [id] });
      if (keepUntil !== null && (await deps.bin.take({ id, closedAt, keepUntil, isComingBack: false }))) return keepUntil;
      await eraseOne(deps, id);
      return null;
    },
    eraseBinned: (id) => eraseOne(deps, id),
    erase: async (actor, { id, agentId }) => {
      await close(deps, agentId, [id], null);
      await deps.stop.call({ actor, agentId, sessionIds: [id] });
      await eraseOne(deps, id);
    },
    eraseAll: async (agentId, sessionIds) => {
      for (let at = 0; at < sessionIds.length; at += CLOSED_AT_ONCE) {
        const ids = sessionIds.slice(at, at + CLOSED_AT_ONCE);
        await close(deps, agentId, ids, null);
        for (const id of ids) await deps.store.removeRows(id);
        deps.gone(ids);
      }
      if (sessionIds.length > 0) sweepSoon();
    },
    wipe: async (actor, agent) => {
      const wiped = await wipe(deps, actor, agent);
      sweepSoon();
      return wiped;
    },
    sweep,
  };
};

/** D1 and D2. */
async function close(deps: ClosingDeps, agentId: string, sessionIds: readonly string[], keepUntil: string | null): Promise<string> {
  const at = deps.clock.iso();
  const owners = await deps.store.ownersOf(sessionIds);
  const [only] = sessionIds.length === 1 ? sessionIds : [];
  const changeEvents = owners.flatMap((ownerId) => deps.changeEvents({ ...(only === undefined ? {} : { id: only }), agentId, ownerId }, 'deleted'));
  await deps.commit([...deps.store.close(sessionIds, at, keepUntil), ...changeEvents]);
  deps.gone(sessionIds);
  await leaveClosed(deps, agentId, new Set(sessionIds));
  return at;
}

/** The agent's current session is another one, if it was one of these. Nobody can switch to one of them any more, so this comes to an end. */
async function leaveClosed(deps: ClosingDeps, agentId: string, closed: ReadonlySet<string>): Promise<void> {
  for (let races = 0; ; races++) {
    const agent = await deps.agents.find(deps.actors.system('closing'), agentId);
    if (!agent || !closed.has(agent.sessionId)) return;
    try {
      const { ref, writes } = await deps.sessions.create(deps.actors.of(agent.ownerId), agentId);
      await deps.commit([...writes, ...(await deps.agents.setSession(deps.actors.system('closing'), agentId, ref.id))]);
      return;
    } catch (error) {
      if (races === MAX_POINTER_RACES || !isSvcError(error) || !error.retry) throw error;
    }
  }
}

/** What is begun while it goes on stays: of two that wipe at once neither takes away what the other began. */
async function wipe(deps: ClosingDeps, actor: Actor, agent: { readonly id: string; readonly sessionId: string }): Promise<Wiped> {
  const until = deps.clock.iso();
  const { ref, writes } = await deps.sessions.create({ ...actor, ownerId: (await deps.agents.find(actor, agent.id))?.ownerId ?? actor.ownerId }, agent.id);
  await deps.commit([...writes, ...(await deps.agents.setSession(actor, agent.id, ref.id))]);
  // The one it had, too, where nothing was said in it yet: what is accepted for it now would begin it.
  const old = new Set([agent.sessionId]);
  const keepUntil = await deps.agents.keptUntil();
  let deleted = 0;
  for (;;) {
    const found = (await deps.store.ofAgent(agent.id, until, CLOSED_AT_ONCE)).filter((id) => id !== ref.id);
    const fresh = [...new Set([...found, ...old])];
    old.clear();
    if (fresh.length === 0) break;
    await close(deps, agent.id, fresh, keepUntil);
    await deps.stop.call({ actor, agentId: agent.id, sessionIds: fresh });
    // What goes into the bin is moved by the sweep: nobody sees it from here on.
    if (keepUntil === null) for (const id of fresh) await deps.store.removeRows(id);
    deps.gone(fresh);
    deleted += found.length;
  }
  return { sessionId: ref.id, deleted, keptUntil: keepUntil };
}

export interface SweepDeps extends Pick<ClosingDeps, 'commit' | 'purge' | 'gone' | 'log' | 'bin' | 'clock'> {
  readonly store: Pick<ClosingStore, 'unerased' | 'unmoved' | 'removeRows' | 'erased'>;
}

export const createSweep = (deps: SweepDeps): (() => Promise<void>) => oneAtATime(() => sweepClosed(deps));

async function eraseOne(deps: SweepDeps, id: string): Promise<void> {
  await deps.store.removeRows(id);
  deps.gone([id]);
  await deps.purge({ sessionId: id });
  await deps.commit([deps.store.erased(id)]);
}

/** An empty one is erased. */
async function sweepBin(deps: SweepDeps): Promise<void> {
  for (;;) {
    const unmoved = await deps.store.unmoved(SWEPT_AT_ONCE);
    for (const closed of unmoved) {
      try {
        if (closed.isComingBack) await deps.bin.comeBack(closed.id);
        else if (!(await deps.bin.take(closed))) await eraseOne(deps, closed.id);
      } catch (cause) {
        deps.log.warn('a deleted session could not be moved into the bin or out of it; svc tries again', { session: closed.id, cause });
        return;
      }
    }
    if (unmoved.length < SWEPT_AT_ONCE) return;
  }
}

async function sweepClosed(deps: SweepDeps): Promise<void> {
  await sweepBin(deps);
  for (;;) {
    const ids = await deps.store.unerased(deps.clock.iso(), SWEPT_AT_ONCE);
    for (const id of ids) {
      try {
        await eraseOne(deps, id);
      } catch (cause) {
        deps.log.warn('a deleted session could not be erased everywhere; svc tries again', { session: id, cause });
        return;
      }
    }
    if (ids.length < SWEPT_AT_ONCE) return;
  }
}
