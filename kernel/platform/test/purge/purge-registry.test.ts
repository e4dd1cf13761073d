/** What each area still has to erase, read for all that ask at once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger } from '@svc/api';
import { createPurgeRegistry, type PurgeRegistry } from '@svc/platform/purge/purge-registry';
import { kernelMigrations, kernelTables } from '@svc/platform/storage/kernel-tables';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { systemIds } from '../../src/clock/ids.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describeOnEngines('open purges', (engine) => {
  let home: string;
  let storage: Storage;
  let registry: PurgeRegistry;
  let reads: number;
  let isBroken: boolean;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-purges-'));
    const clock = systemClock();
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, log: silent, onEvents: () => undefined });
    await storage.migrate(kernelTables, kernelMigrations);
    const db = storage.dbFor(kernelTables);
    [reads, isBroken] = [0, false];
    const counting: Db = {
      ...db,
      system: (why) => {
        const rows = db.system(why);
        const read: typeof rows.read = (sql, args) => {
          reads += 1;
          return isBroken ? Promise.reject(new Error('the disk is gone')) : rows.read(sql, args);
        };
        return { ...rows, read };
      },
    };
    registry = createPurgeRegistry(counting, clock, systemIds());
  });
  afterEach(async () => {
    await storage.close();
    await rm(home, { recursive: true, force: true });
  });

  const nextMs = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));
  const openIds = async (area: string): Promise<string[]> => (await registry.openOf(area)).map(({ id }) => id);

  it('gives each area its own, oldest first, in one read for all that ask at once', async () => {
    const first = await registry.begin({ ownerId: 'ann' }, ['notes', 'files']);
    await nextMs(); // those of one millisecond have no order
    const second = await registry.begin({ agentId: 'robot' }, ['notes']);
    await nextMs();
    const done = await registry.begin({ sessionId: 's1' }, ['notes', 'files']);
    await registry.receive(done, 'notes');
    expect(await Promise.all(['notes', 'files', 'words', 'notes'].map(openIds))).to.deep.equal([[first.id, second.id], [first.id, done.id], [], [first.id, second.id]]);
    expect(reads).to.equal(1);
    expect((await registry.openOf('files')).map(({ subject }) => subject)).to.deep.equal([{ ownerId: 'ann' }, { sessionId: 's1' }]);
  });

  it('shows what was begun before the question, also while an older read runs', async () => {
    const asked: Promise<string[]>[] = [];
    const begun: string[] = [];
    for (let times = 0; times < 10; times += 1) {
      void openIds('files').catch(() => undefined);
      begun.push((await registry.begin({ ownerId: `person ${times}` }, ['notes'])).id);
      asked.push(openIds('notes'));
    }
    const seen = await Promise.all(asked);
    for (const [index, ids] of seen.entries()) expect(ids).to.include.members(begun.slice(0, index + 1));
  });

  it('tells all that share a failed read, and reads again for the next', async () => {
    isBroken = true;
    const failed = await Promise.allSettled(['notes', 'files'].map(openIds));
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(reads).to.equal(1);
    isBroken = false;
    expect(await openIds('notes')).to.deep.equal([]);
  });
});
