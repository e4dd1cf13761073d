/** Branches of a database of an earlier version: the migration makes each tree of them one conversation. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Row } from '@svc/api';
import { systemClock } from '@svc/platform/clock/clock';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { migrations } from '../src/migrations.js';

const OWNER = { id: 'sessions', tables: ['sessions', 'entries', 'closed', 'shelves', 'spans', 'said', 'shares'] };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const BEFORE = migrations.findIndex(({ name }) => name === '0005_versions');

/** Id, what it was branched from, and when. */
type Branch = readonly [id: string, from: string | null, day: number];

describeOnEngines('the branches of an earlier version', (engine) => {
  let home: string;
  let storage: Storage;
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-branches-'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock: systemClock(), log: silent, onEvents: () => undefined });
    await storage.migrate(OWNER, migrations.slice(0, BEFORE));
  });
  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** `id: conversation`, with a star where the version is chosen. */
  const grouped = async (branches: readonly Branch[]): Promise<string[]> => {
    const db = storage.dbFor(OWNER);
    const rows = branches.map(([id, branched_from, day]) => ({
      id,
      agent_id: 'a',
      owner_id: 'o',
      label: null,
      created_at: `2026-01-0${day}T00:00:00.000Z`,
      branched_from,
      branched_through: branched_from === null ? null : 2,
    }));
    await db.commit([db.insert('sessions', rows)]);
    await storage.migrate(OWNER, migrations);
    const found = await storage
      .dbFor(OWNER)
      .system('a test')
      .select<Row>({ from: 'sessions', columns: ['id', 'conversation_id', 'unchosen'], order: [{ column: 'id' }] });
    return found.map(({ conversation_id, id, unchosen }) => `${id}: ${conversation_id}${unchosen === null ? ' *' : ''}`);
  };

  it('are versions of the session that the first of them was branched from, and the newest is chosen', async () => {
    expect(
      await grouped([
        ['root', null, 1],
        ['edit', 'root', 2],
        ['deep', 'edit', 5],
        ['side', 'root', 3],
        ['last', 'deep', 4],
      ]),
    ).to.deep.equal(['deep: root *', 'edit: root', 'last: root', 'root: root', 'side: root']);
  });

  it('leave a session alone that was never branched, and trees apart', async () => {
    expect(
      await grouped([
        ['alone', null, 9],
        ['one', null, 1],
        ['one-b', 'one', 2],
        ['two', null, 3],
        ['two-b', 'two', 4],
      ]),
    ).to.deep.equal(['alone: null *', 'one: one', 'one-b: one *', 'two: two', 'two-b: two *']);
  });

  it('of a session that was deleted stay together where one was branched from the other', async () => {
    expect(
      await grouped([
        ['child', 'gone', 1],
        ['grandchild', 'child', 2],
        ['other', 'gone', 3],
      ]),
    ).to.deep.equal(['child: child', 'grandchild: child *', 'other: other *']);
  });

  it('of one moment have one that is chosen', async () => {
    expect(
      await grouped([
        ['a', null, 1],
        ['b', 'a', 1],
        ['c', 'a', 1],
      ]),
    ).to.deep.equal(['a: a', 'b: a', 'c: a *']);
  });
});
