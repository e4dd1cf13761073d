/** A trail on a real database, without a daemon around it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Actor, type AuditFact, auditFact, type Db, type Dir, type ExtensionContext, actorFrom } from '@svc/api';
import { systemActor } from '@svc/api/internal';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { createSecrets } from '@svc/platform/adapters/secrets-adapter';
import { systemClock } from '@svc/platform/clock/clock';
import { systemIds } from '@svc/platform/clock/ids';
import { openStorage } from '@svc/platform/storage/storage';
import type { TestEngine } from '@svc/testing';
import { type Chain, createChain } from '../src/chain.js';
import { type CheckpointService, createCheckpoints, SIGNING_KEY } from '../src/checkpoints.js';
import type { AuditConfig } from '../src/config.js';
import { explainErasure } from '../src/explain-erasure.js';
import { type AuditStore, createStore } from '../src/store.js';
import { migrations, tables } from '../src/tables.js';
import { type Verdict, verifyChain } from '../src/verify.js';
import verifySegments from '../src/workers/verify-segments.js';
import type { VerifyInput } from '../src/workers/verify-worker.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const ALICE: Actor = actorFrom({ id: 'user:alice', role: 'user', ownerId: 'user:alice' });

export interface Trail {
  readonly db: Db;
  readonly store: AuditStore;
  readonly chain: Chain;
  readonly data: Dir;
  /** Of another process on the same database. */
  another(): Chain;
  checkpoints(settings?: Partial<AuditConfig>, fetch?: unknown): CheckpointService;
  /** As a process sees it that has just started. */
  verify(seen?: Chain): Promise<Verdict>;
  /** As a purge does: the rows go, and the chain says so. */
  erase(ownerId: string): Promise<void>;
  close(): Promise<void>;
}

export const factOf = (n: number, more: Partial<AuditFact> = {}, actor = ALICE): AuditFact => ({
  ...auditFact({ ids: systemIds(), clock: systemClock() }, { type: n % 2 === 0 ? 'tool_invoked' : 'agent_spawned', actor, details: { n }, personal: { ip: '192.0.2.1', words: `number-${n}` } }),
  ...more,
});

export const facts = (count: number, from = 1): AuditFact[] => Array.from({ length: count }, (_, n) => factOf(from + n));

export const openTrail = async (engine: TestEngine, under = tmpdir()): Promise<Trail> => {
  const home = await mkdtemp(join(under, 'svc-audit-'));
  const clock = systemClock();
  const storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, log: quiet, onEvents: () => undefined });
  const owner = { id: 'audit', tables: tables.map(({ name }) => name) };
  await storage.migrate(owner, migrations);
  const db = storage.dbFor(owner);
  const store = createStore(db);
  const ids = systemIds();
  const data = openDir(join(home, 'data'));
  const vault = new Map<string, string>();
  const secrets = createSecrets({
    env: {},
    ask: async (name) => (vault.has(name) ? { value: vault.get(name) ?? '' } : undefined),
    change: async ({ name, value = '' }) => {
      vault.set(name, value);
      return { changed: true };
    },
    log: { redact: () => undefined },
  });
  const chainOf = (): Chain => createChain({ store, ids, entered: () => [] });
  const chain = chainOf();
  return {
    db,
    store,
    chain,
    data,
    another: chainOf,
    checkpoints: (settings = {}, fetch = undefined) =>
      createCheckpoints({
        // Only what it uses of its context.
        ctx: { clock, secrets, files: { data }, log: quiet, fetch: fetch as never },
        store,
        settings: () => ({ required: [], retention_days: 90, checkpoint_entries: 100, checkpoint_minutes: 10, ...settings }),
      }),
    erase: async (ownerId) => {
      await db.commit([db.sql(`DELETE FROM ${db.table('details')} WHERE owner_id = ?`, [ownerId])]);
      await explainErasure({ actors: { system: (purpose: string) => systemActor(purpose) } as ExtensionContext['actors'], clock, ids }, store, chain, ownerId);
    },
    verify: (seen) =>
      verifyChain({
        store,
        data,
        seen: () => seen?.seen(),
        hasKey: async () => vault.has(SIGNING_KEY),
        sleep: async () => undefined,
        workers: { run: async (_worker, input) => verifySegments(input as VerifyInput) as never },
      }),
    close: async () => {
      await storage.close();
      await rm(home, { recursive: true, force: true });
    },
  };
};
