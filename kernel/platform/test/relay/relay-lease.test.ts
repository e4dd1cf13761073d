/** Several daemons on one database: one of them numbers durable events and hands them on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger } from '@svc/api';
import { createInstalledStore } from '@svc/core';
import { virtualClock } from '@svc/platform/clock/clock';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { describeOnEngines, fixtureExtension } from '@svc/testing';
import { expect } from 'chai';
import { kernelMigrations, kernelTables } from '../../src/storage/kernel-tables.js';
import { createDurableRelay, type DurableRelay } from '../../src/relay/durable-relay.js';
import { createRelayLease } from '../../src/relay/relay-lease.js';

/** Of the daemons here. */
const LEASE_MS = 30_000;
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describeOnEngines('durable events of several daemons', (engine) => {
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
  let home: string;
  let storage: Storage;
  let db: Db;
  let relays: DurableRelay[];

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-lease-'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, now: clock.now, log: silent, onEvents: () => undefined, storeEvent: (event) => event === 'noted' });
    await storage.migrate(kernelTables, kernelMigrations);
    db = storage.dbFor(kernelTables);
    relays = [];
  });

  afterEach(async () => {
    for (const relay of relays) await relay.close();
    await storage.close();
    await rm(home, { recursive: true, force: true });
  });

  const listener = fixtureExtension({ id: 'scribe', manifest: { events: { listens: ['noted'], durable: ['noted'] } }, definition: { activate: () => undefined } });
  /** A daemon, and what its listener hears. */
  const another = async (holder: string, predecessor?: string): Promise<{ relay: DurableRelay; received: unknown[] }> => {
    const received: unknown[] = [];
    const hub = { takesBatch: () => false, deliverTo: async (_id: string, event: string, data: unknown) => received.push(event === 'noted' ? data : [event, data]) > 0 };
    const relay = createDurableRelay({ installed: createInstalledStore([listener]), hub, clock, log: silent });
    relays.push(relay);
    await relay.open(db, createRelayLease({ db, nowSql: storage.nowSql, holder, leaseMs: LEASE_MS, predecessor, soleWriter: false }));
    return { relay, received };
  };
  const note = (...data: number[]) => db.commit(data.map((n) => storage.event('scribe', 'noted', n)));
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 500 && !isDone(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it('are handed on by one of them, whoever committed them', async () => {
    const [first, second] = [await another('first'), await another('second')];
    await note(1);
    await second.relay.tick();
    await note(2);
    await first.relay.tick();
    await until(() => first.received.length === 2);
    expect([first.received, second.received]).to.deep.equal([[1, 2], []]);
  });

  it('are handed on by another when the lease has run out, from where the first one stopped', async () => {
    const [first, second] = [await another('first'), await another('second')];
    await note(1);
    await first.relay.tick();
    await until(() => first.received.length === 1);
    await note(2, 3);
    await clock.advance(29_000);
    await second.relay.tick();
    expect(second.received).to.deep.equal([]);

    await clock.advance(2_000);
    await second.relay.tick();
    await until(() => second.received.length === 2);
    await first.relay.tick();
    expect([first.received, second.received]).to.deep.equal([[1], [2, 3]]);
  });

  it('are handed on at once by the next life of the same home, and by the next when one has stopped', async () => {
    await another('before');
    const next = await another('after', 'before');
    await note(1);
    await next.relay.tick();
    await until(() => next.received.length === 1);
    expect(next.received).to.deep.equal([1]);

    await next.relay.close();
    const last = await another('last');
    await note(2);
    await last.relay.tick();
    await until(() => last.received.length === 1);
    expect(last.received).to.deep.equal([2]);
  });

  it('cost no commit where another daemon holds the lease', async () => {
    const [first, second] = [await another('first'), await another('second')];
    await second.relay.tick();
    await note(1);
    const tried = () => storage.stats().commits + storage.stats().conflicts;
    const before = tried();
    second.relay.poke();
    await clock.advance(100);
    await second.relay.tick();
    expect(tried()).to.equal(before);
    await first.relay.tick();
    await until(() => first.received.length === 1);
    expect(first.received).to.deep.equal([1]);
  });

  it('have numbers without holes in the order of their writing, also where a commit failed in between', async () => {
    const { relay } = await another('only');
    await note(1, 2);
    await relay.tick();
    await db.commit([storage.event('scribe', 'noted', 3), db.sql('UPDATE kernel__choices SET enabled = 1', [], { expect: 1 })]).catch(() => undefined);
    await note(4);
    await note(5);
    await relay.tick();
    expect(await db.system('a test').read('SELECT seq, data FROM kernel__events ORDER BY seq')).to.deep.equal([
      { seq: 1, data: '1' },
      { seq: 2, data: '2' },
      { seq: 3, data: '4' },
      { seq: 4, data: '5' },
    ]);
  });

  it('that were removed before a listener came are told as a gap', async () => {
    const { relay, received } = await another('only');
    await note(1);
    await relay.tick();
    await until(() => received.length === 1);
    await relay.close();
    await note(2, 3, 4);
    await createRelayLease({ db, nowSql: storage.nowSql, holder: 'other', leaseMs: LEASE_MS, soleWriter: false }).number();
    await db.commit([db.sql('DELETE FROM kernel__events WHERE seq < 4', [])]);

    const later = await another('later', 'other');
    await later.relay.tick();
    await until(() => later.received.length === 2);
    expect(later.received).to.deep.equal([['events.gap', { after: 1, before: 4 }], 4]);
  });
});
