/**
 * Erasing an owner, an agent or a session from every area (decision 0017).
 *
 * E1  It is a row with one receipt per area that may hold something, before anything is erased.
 * E2  An area's receipt is written when its declared tables are empty of the subject and its tap of `storage.purge` has ended.
 *     Rows go before the tap, and those that running work wrote until the tap ended it go after it.
 * E3  An area that is off, or fails, erases before any generation of it is seen. One that failed while it runs is asked again.
 * E4  Complete is what has all receipts, and nothing else.
 * E5  The journal takes part like an area, after all others: the work of areas ends before its runs go (decision 0017).
 * E6  The bin takes part like an area, before all others: nothing comes back from it while they erase, and what only it referred to goes with them (trash.ts).
 * E7  Facts for the audit trail that are stored as events lose the person before any area is asked, and again with the journal (decision 0017).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Db, defineErrors, type Logger, type Purged, type PurgeSubject, StoragePurge, type TableDecl } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { type ContributionRegistry, type HookRegistry, type InstalledStore, type Contributor, resolve } from '@svc/core';
import type { TimerClock } from '../clock/clock.js';
import type { PlatformJournal } from '../journal/journal.js';
import type { OpenPurge, PurgeRegistry, Waiting } from './purge-registry.js';
import { removeRows } from './row-removal.js';
import type { PlatformTrash } from './trash.js';

const purgeErrors = defineErrors('daemon', {
  bad_purge: {
    status: 400,
    retry: false,
    message: (named: string) => `A purge must name one owner, agent or session, not ${named === '' ? 'none' : named} was given.`,
    hint: 'Give exactly one non-empty value of ownerId, agentId and sessionId.',
  },
});

export interface Purges {
  /** Begins one and erases in every area that is on. What those that are off, or fail, have left to do stands in the answer. */
  purge(subject: PurgeSubject): Promise<Purged>;
  /** Before a candidate is seen: what is open for its area. Throws when something cannot be erased. */
  settleCandidate(owner: Contributor): Promise<void>;
  /** An area became active: what was begun between its candidate's look and now. */
  wentLive(area: string): void;
  waiting(): Promise<Waiting[]>;
  forgetBefore(at: string): Promise<void>;
  close(): Promise<void>;
}

export interface PurgeDeps {
  readonly registry: PurgeRegistry;
  readonly installed: InstalledStore;
  readonly tables: ContributionRegistry<TableDecl>;
  readonly hooks: HookRegistry;
  /** The rows of an area, for the kernel. */
  dbOf(area: string, tables: readonly string[]): Db;
  readonly journal: Pick<PlatformJournal, 'erase'>;
  readonly trash: Pick<PlatformTrash, 'erase'>;
  /** From the events that are stored for the audit trail. */
  eraseFacts(ownerId: string): Promise<number>;
  readonly clock: Pick<TimerClock, 'schedule'>;
  readonly log: Logger;
  readonly apiVersion: string;
}

/** The name under which the journal has its receipts. */
export const JOURNAL = 'journal';
const TRASH = 'trash';

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

interface State {
  /** The last of each area's turns: one purge of an area at a time. */
  readonly turns: Map<string, Promise<unknown>>;
  readonly retries: Map<string, { readonly cancel: () => void; readonly ms: number }>;
  /** Areas with an open receipt, as far as this process knows. */
  readonly owing: Set<string>;
  isClosed: boolean;
}

/** Set while a tap runs: a purge that it begins cannot wait for the one it is part of. One for all daemons of a process, because Node asks each at every promise. */
const inTap = new AsyncLocalStorage<State>();

export const createPurges = (deps: PurgeDeps): Purges => {
  const state: State = { turns: new Map(), retries: new Map(), owing: new Set(), isClosed: false };
  // What was open when the daemon ended, before anybody claims runs.
  for (const own of [JOURNAL, TRASH]) void settleActive(deps, state, own);
  return {
    purge: (subject) => begin(deps, state, subject),
    settleCandidate: (owner) => inTurn(state, owner.id, () => settle(deps, state, owner)),
    wentLive: (area) => {
      if (state.owing.has(area)) void settleActive(deps, state, area);
    },
    waiting: () => deps.registry.waiting(),
    forgetBefore: (at) => deps.registry.forgetBefore(at),
    close: async () => {
      state.isClosed = true;
      for (const { cancel } of state.retries.values()) cancel();
      await Promise.all(state.turns.values());
    },
  };
};

const begin = async (deps: PurgeDeps, state: State, subject: PurgeSubject): Promise<Purged> => {
  const checked = checkedSubject(subject);
  const areas = [TRASH, ...areasThatHold(deps), JOURNAL];
  for (const area of areas) state.owing.add(area);
  const purge = await deps.registry.begin(checked, areas);
  const erasing = (async () => {
    // What waits for the audit area is entered without the person. What fails here is done with the journal.
    await eraseFacts(deps, checked).catch((cause: unknown) => deps.log.warn('a person could not be erased from facts for the audit trail; svc tries again', { cause }));
    for (const area of areas) await settleActive(deps, state, area);
  })();
  if (inTap.getStore() !== state) await erasing;
  const waiting = await deps.registry.waitingOf(purge.id);
  if (waiting.length > 0) deps.log.warn('a purge waits for areas that are off or failed at it', { purge: purge.id, ...checked, waiting });
  return { id: purge.id, complete: waiting.length === 0, waiting };
};

/** Never wider than what was meant: one id, and not an empty one. */
const checkedSubject = (subject: PurgeSubject): PurgeSubject => {
  const named = (['ownerId', 'agentId', 'sessionId'] as const).flatMap((key) => (subject[key] === undefined ? [] : [[key, subject[key]] as const]));
  const [first, another] = named;
  if (!first || another || typeof first[1] !== 'string' || first[1] === '') throw purgeErrors.bad_purge(named.map(([key]) => key).join(' and '));
  return { [first[0]]: first[1] };
};

/** Those with tables, or with a tap; who uses others comes before them, so that work ends before the rows go that it writes. */
const areasThatHold = ({ installed, apiVersion }: PurgeDeps): string[] => {
  const manifests = installed.all().map(({ manifest }) => manifest);
  const order = [...resolve(manifests, manifests, { apiVersion }).waves].reverse().flat();
  const holding = manifests.filter(mayHold).map(({ id }) => id);
  return [...order.filter((id) => holding.includes(id)), ...holding.filter((id) => !order.includes(id))];
};

const mayHold = ({ tables = [], hooks = [] }: Manifest): boolean => tables.length > 0 || hooks.some(({ name }) => name === StoragePurge.name);

const settleActive = (deps: PurgeDeps, state: State, area: string): Promise<void> =>
  inTurn(state, area, async () => {
    if (state.isClosed) return;
    const owner = visible(deps, area);
    // One that is being prepared has perhaps looked already: it is asked when it is seen.
    if (!owner && area !== JOURNAL && area !== TRASH) return void state.owing.add(area);
    try {
      await (owner ? settle(deps, state, owner) : area === TRASH ? settleTrash(deps) : settleJournal(deps));
      state.retries.delete(area);
    } catch (cause) {
      const ms = Math.min((state.retries.get(area)?.ms ?? FIRST_RETRY_MS / 2) * 2, LAST_RETRY_MS);
      deps.log.error('an extension could not erase its data; svc tries again', { extension: area, wait_ms: ms, cause });
      state.retries.get(area)?.cancel();
      if (!state.isClosed) state.retries.set(area, { ms, cancel: deps.clock.schedule(ms, () => void settleActive(deps, state, area)) });
    }
  });

/** The generation of the area that is seen now. */
const visible = ({ tables, hooks }: PurgeDeps, area: string): Contributor | undefined => [...tables.active(), ...hooks.taps.active()].find(({ owner }) => owner.id === area)?.owner;

const settle = async (deps: PurgeDeps, state: State, owner: Contributor): Promise<void> => {
  // What is begun from here on is noted anew.
  state.owing.delete(owner.id);
  for (const purge of await deps.registry.openOf(owner.id)) {
    await erase(deps, state, owner, purge);
    if (await deps.registry.receive(purge, owner.id)) deps.log.info('a purge is complete: every area has erased it', { purge: purge.id, ...purge.subject });
  }
};

/** Each that is open is asked, so that one whose run goes on keeps no other. Throws where runs are left. */
const settleJournal = async (deps: PurgeDeps): Promise<void> => {
  const { journal, log, registry } = deps;
  let left = 0;
  for (const purge of await registry.openOf(JOURNAL)) {
    await eraseFacts(deps, purge.subject);
    const held = await journal.erase(purge.subject);
    left += held;
    if (held === 0 && (await registry.receive(purge, JOURNAL))) log.info('a purge is complete: every area has erased it', { purge: purge.id, ...purge.subject });
  }
  if (left > 0) throw new Error(`${left} runs are being stopped; their rows are deleted when they have ended`);
};

const settleTrash = async ({ registry, trash, log }: PurgeDeps): Promise<void> => {
  for (const purge of await registry.openOf(TRASH)) {
    await trash.erase(purge.subject);
    if (await registry.receive(purge, TRASH)) log.info('a purge is complete: every area has erased it', { purge: purge.id, ...purge.subject });
  }
};

const eraseFacts = async (deps: PurgeDeps, { ownerId }: PurgeSubject): Promise<void> => {
  if (ownerId !== undefined) await deps.eraseFacts(ownerId);
};

const erase = async (deps: PurgeDeps, state: State, owner: Contributor, { subject }: OpenPurge): Promise<void> => {
  const tables = deps.tables.of(owner);
  const db = deps.dbOf(
    owner.id,
    tables.map(({ name }) => name),
  );
  await removeRows(db, tables, subject);
  const tap = deps.hooks.callOf(owner, StoragePurge);
  if (!tap) return;
  await inTap.run(state, () => tap(subject));
  await removeRows(db, tables, subject);
};

const inTurn = <T>(state: State, area: string, work: () => Promise<T>): Promise<T> => {
  const next = (state.turns.get(area) ?? Promise.resolve()).then(work);
  const settled = next.then(
    () => undefined,
    () => undefined,
  );
  state.turns.set(area, settled);
  void settled.then(() => {
    if (state.turns.get(area) === settled) state.turns.delete(area);
  });
  return next;
};
