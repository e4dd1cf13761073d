/** The agents service over a real database file; hooks and events are plain functions a test can look at. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Actor, type Events, cacheRows, type Logger, type Verdict } from '@svc/api';
import { actorOf } from '@svc/api/internal';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { systemIds } from '@svc/platform/clock/ids';
import { virtualClock } from '@svc/platform/clock/clock';
import { createJournal } from '@svc/platform/journal/journal';
import { journalMigrations, journalOwner } from '@svc/platform/journal/rows/journal-migrations';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import type { TestEngine } from '@svc/testing/postgres/engines';
import { agentTables } from '../migrations/0001_tables.js';
import { bin } from '../migrations/0003_bin.js';
import { type AgentsDeps, createAgentsService } from '../src/service.js';
import { createRemoving, type RemovingDeps } from '../src/removing.js';
import { createStore } from '../src/store.js';

export const owner: Actor = actorOf('owner');
export const alice: Actor = actorOf('user:alice');
export const bob: Actor = actorOf('user:bob');

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** On SQLite, unless another engine is named. */
export const openAgents = async (engine?: Pick<TestEngine, 'fresh'>) => {
  const home = await mkdtemp(join(tmpdir(), 'svc-agents-'));
  const said: Array<{ event: string; data: unknown }> = [];
  let ticks = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => ticks++, iso: () => new Date(ticks++).toISOString(), mono: () => ticks++, sleep: async () => undefined };
  const storage: Storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine?.fresh()), clock, log: silent, onEvents: (events) => said.push(...events) });
  const tables = { id: 'agents', tables: ['agents', 'spawn_keys', 'marks'] };
  await storage.migrate(tables, [agentTables, bin]);
  const events: Events = {
    event: ({ name }, data) => storage.event('agents', name, data),
    publish: () => undefined,
    on: () => ({ dispose: () => undefined }),
    onBatch: () => ({ dispose: () => undefined }),
  };
  await storage.migrate(journalOwner, journalMigrations);
  const journal = createJournal({
    db: storage.dbFor(journalOwner),
    clock: virtualClock(ticks),
    ids: systemIds(),
    log: silent,
    instanceId: 'kit',
    leaseMs: 30_000,
    soleWriter: true,
    nowSql: storage.nowSql,
  });
  let nextId = 1;
  const ids = { uuid: () => `00000000-0000-4000-8000-${String(nextId++).padStart(12, '0')}`, hex: () => '', bytes: () => new Uint8Array(), random: () => 0 };
  const taps: { veto: Verdict | undefined; review: string[]; spawning: unknown[]; purged: unknown[]; binned: unknown[]; purgeFails: boolean } = {
    veto: undefined,
    review: [],
    spawning: [],
    purged: [],
    binned: [],
    purgeFails: false,
  };
  const spawning: AgentsDeps['spawning'] = {
    isEmpty: () => false,
    call: async (subject) => {
      taps.spawning.push(subject);
      return taps.veto;
    },
  };
  const review: AgentsDeps['review'] = { isEmpty: () => false, call: async () => [{ owner: 'test', value: taps.review }] };
  const purge = async (agentId: string): Promise<void> => {
    taps.purged.push(agentId);
    if (taps.purgeFails) throw new Error('the purge could not be stored');
  };
  const providers = { value: undefined, onChange: () => ({ dispose: () => undefined }) };
  const store = createStore(storage.dbFor(tables));
  const cache: RemovingDeps['cache'] = cacheRows(clock);
  const noBin: RemovingDeps['trash'] = { put: async (item) => void taps.binned.push(item), restore: async () => false, find: async () => undefined, list: async () => ({ items: [], total: 0 }) };
  const halt: RemovingDeps['halt'] = { isEmpty: () => true, call: async () => [] };
  const removing = createRemoving({ store, cache, trash: noBin, halt, system: owner, events, clock, log: silent, purge, keptUntil: () => null });
  const deps: AgentsDeps = {
    journal,
    store,
    cache,
    removing,
    spawning,
    review,
    providers,
    models: providers,
    templates: providers,
    lastActive: { touch: () => undefined },
    modelsOf: async (agents) => agents.map(({ manifest }) => manifest.model),
    keptUntil: () => null,
    schemas: createValueChecks(),
    capabilities: { declared: () => [] },
    ids,
    clock,
    events,
  };
  return {
    deps,
    log: silent,
    removing,
    agents: createAgentsService(deps),
    said,
    taps,
    close: async () => {
      await journal.close();
      await storage.close();
      await rm(home, { recursive: true });
    },
  };
};
export type OpenAgents = Awaited<ReturnType<typeof openAgents>>;

/** The error's code, or a failure when nothing was thrown. */
export const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : `not ours: ${String(error)}`;
  }
  return 'nothing was thrown';
};
