/** However many runs have ended, a start and a beat read the unfinished. Plans are SQLite's; PostgreSQL chooses by what it has counted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, RunFilter } from '@svc/api';
import { expect } from 'chai';
import sqlite3 from 'sqlite3';
import { virtualClock } from '../../src/clock/clock.js';
import { systemIds } from '../../src/clock/ids.js';
import { createJournal } from '../../src/journal/journal.js';
import { journalMigrations, journalOwner } from '../../src/journal/rows/journal-migrations.js';
import { openSqlite } from '../../src/storage/sqlite/sqlite-connection.js';
import { openStorage } from '../../src/storage/storage.js';
import { alice } from './journal-rig.js';

const LEASE_MS = 30_000;
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the journal on SQLite asks', () => {
  let home: string;
  let asked: Set<string>;
  const prepare = sqlite3.Database.prototype.prepare;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-plans-'));
    asked = new Set();
    sqlite3.Database.prototype.prepare = function (this: sqlite3.Database, sql: string, ...rest: never[]) {
      asked.add(sql);
      return prepare.call(this, sql, ...rest);
    };
  });
  afterEach(() => {
    sqlite3.Database.prototype.prepare = prepare;
    rmSync(home, { recursive: true, force: true });
  });

  /** A life of the journal: its start, claims, waits, beats and a sweep. Several may be alive, so that it asks what replicas ask, too. */
  const live = async (): Promise<void> => {
    const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const storage = await openStorage({ file: join(home, 'svc.db'), clock, now: clock.now, log: silent, onEvents: () => undefined });
    await storage.migrate(journalOwner, journalMigrations);
    const real = storage.dbFor(journalOwner);
    const db: Db = {
      ...real,
      sql: (text, args, options) => {
        asked.add(text);
        return real.sql(text, args, options);
      },
    };
    const journal = createJournal({ db, nowSql: storage.nowSql, clock, ids: systemIds(), log: silent, instanceId: 'life-1', leaseMs: LEASE_MS, soleWriter: false });
    const { leased } = await journal.open({ kind: 'agent', actor: alice, input: 1, lane: 'lane' });
    await journal.open({ kind: 'agent', actor: alice, input: 2, lane: 'lane' });
    expect(leased).to.not.equal(undefined);
    await journal.claim('agent', 5);
    await clock.advance(LEASE_MS / 3);
    while (![...asked].some((sql) => sql.includes('interrupt IS NOT NULL'))) await real.system('a test').read('SELECT 1');
    await journal.prune(clock.iso(), 10);
    await journal.close();
    await storage.close();
  };

  it('for each list from its newest on, by one index', async () => {
    const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const storage = await openStorage({ file: join(home, 'svc.db'), clock, now: clock.now, log: silent, onEvents: () => undefined });
    await storage.migrate(journalOwner, journalMigrations);
    const journal = createJournal({ db: storage.dbFor(journalOwner), nowSql: storage.nowSql, clock, ids: systemIds(), log: silent, instanceId: 'life-1', soleWriter: true });
    const connection = await openSqlite({ file: join(home, 'svc.db'), readOnly: true, maxStatements: 100 });
    const since = '2026-01-01T00:00:00Z';
    const everybody = { ...alice, role: 'owner' } as const;
    const lists: ReadonlyArray<readonly [filter: RunFilter, index: string]> = [
      [{ actor: everybody, kind: 'agent', since }, 'position_idx'],
      [{ actor: everybody, kind: 'agent', status: ['done'] }, 'position_idx'],
      [{ actor: everybody, kind: 'agent', status: ['failed'] }, 'kind_status_position_idx'],
      [{ actor: alice, kind: 'agent', since, before: 'r' }, 'owner_id_kind_position_idx'],
      [{ actor: alice, kind: 'agent', status: ['done'] }, 'owner_id_kind_position_idx'],
      [{ actor: alice, kind: 'agent', status: ['queued', 'running', 'waiting'] }, 'kind_status_position_idx'],
      [{ actor: alice, kind: 'agent', subject: 'a', since, before: 'r' }, 'subject_position_idx'],
      [{ actor: alice, kind: 'agent', subject: 'a', status: ['done'] }, 'subject_position_idx'],
      [{ actor: alice, kind: 'agent', lane: 'l', before: 'r' }, 'lane_position_idx'],
      [{ actor: everybody, kind: 'agent', lane: 'l' }, 'lane_position_idx'],
      [{ actor: alice, kind: 'agent', lane: 'l', status: ['failed'] }, 'lane_position_idx'],
    ];
    for (const [filter, index] of lists) {
      asked.clear();
      await journal.list(filter);
      const [sql = ''] = [...asked].filter((text) => text.includes('ORDER BY position DESC'));
      const plan = (await connection.all(`EXPLAIN QUERY PLAN ${sql}`, [])).map(({ detail }) => String(detail));
      const said = `${sql.replace(/\s+/g, ' ')}: ${plan.join('; ')}`;
      expect(plan[0], said).to.contain(`journal__runs_${index}`);
      if (filter.status?.length !== 3) expect(plan.join(), said).to.not.contain('TEMP B-TREE FOR ORDER BY');
    }
    asked.clear();
    await journal.list({ actor: alice, kind: 'agent', lane: 'l', status: ['queued', 'running', 'waiting'] });
    const [unfinished = ''] = [...asked].filter((text) => text.includes('ORDER BY position DESC'));
    const used = (await connection.all(`EXPLAIN QUERY PLAN ${unfinished}`, [])).map(({ detail }) => String(detail)).join('; ');
    for (const index of ['lane_key (lane=?)', 'lane_status_position_idx (lane=? AND status=?)', 'sqlite_autoindex_journal__runs_1 (id=?)']) expect(used).to.contain(index);
    asked.clear();
    await journal.tally({ actor: everybody, kind: 'agent', isTopLevel: true, endedSince: since });
    const [counting = ''] = [...asked].filter((text) => text.includes('COUNT(*)'));
    const [first] = await connection.all(`EXPLAIN QUERY PLAN ${counting}`, []);
    expect(String(first?.detail)).to.contain('journal__runs_kind_updated_at_idx (kind=? AND updated_at>?)');
    await connection.close();
    await journal.close();
    await storage.close();
  });

  it('only for what is unfinished, due or old enough to be swept', async () => {
    await live();
    const connection = await openSqlite({ file: join(home, 'svc.db'), readOnly: true, maxStatements: 100 });
    const plans: string[] = [];
    for (const sql of asked) {
      if (!/journal__runs/.test(sql) || !/^\s*(SELECT|UPDATE|DELETE|INSERT)/.test(sql)) continue;
      const steps = await connection.all(`EXPLAIN QUERY PLAN ${sql}`, []);
      for (const { detail } of steps) plans.push(`${String(detail)}   of   ${sql.replace(/\s+/g, ' ')}`);
    }
    await connection.close();
    const touching = plans.filter((plan) => /^(SCAN|SEARCH) (journal__runs|r|o)\b/.test(plan));
    // The index of lanes has what is running or waits, and nothing else.
    const found = touching.filter(
      (plan) => !plan.startsWith('SCAN journal__runs USING INDEX journal__runs_lane_key') && !/^SEARCH .*(\w+=\?|wait_until_idx \(wait_until[<>]\?\)|position_idx \(position<\?\))/.test(plan),
    );
    expect(found).to.deep.equal([]);
    expect(touching.filter((plan) => plan.startsWith('SCAN journal__runs USING INDEX journal__runs_lane_key'))).to.have.length.of.at.least(3);
    expect(touching.filter((plan) => plan.includes('journal__runs_status_position_idx (status=?)'))).to.have.length.of.at.least(1);
    expect(touching.filter((plan) => / o USING .*\(lane=\? AND status=\?/.test(plan))).to.have.length(1);
    expect(touching.filter((plan) => / o USING .*lane_key \(lane=\?\)/.test(plan))).to.have.length(1);
    expect(touching.filter((plan) => plan.includes('(kind=?)') || (plan.includes('(lane=?)') && !plan.includes('lane_key')))).to.deep.equal([]);
  });
});
