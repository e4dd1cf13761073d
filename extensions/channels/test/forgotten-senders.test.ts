/** Senders who were given a code and never allowed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { virtualClock } from '@svc/platform/clock/clock';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { describeOnEngines } from '@svc/testing';
import { expect } from 'chai';
import { channelTables } from '../migrations/0001_tables.js';
import type { Account } from '../src/account.js';
import { createSenders } from '../src/senders.js';

const OWNED = { id: 'channels', tables: ['accounts', 'connections', 'chats', 'senders', 'bindings', 'deliveries'] };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const HOUR_MS = 3_600_000;

describeOnEngines('senders of channels', (engine) => {
  let home: string;
  let storage: Storage;
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-senders-'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, log: silent, onEvents: () => undefined });
    await storage.migrate(OWNED, [channelTables]);
  });
  after(async () => {
    await storage.close();
    await rm(home, { recursive: true });
  });

  it('S4 are forgotten two days after their code, but for those who were allowed or linked', async () => {
    const db = storage.dbFor(OWNED);
    const events = { event: ({ name }: { name: string }, data: unknown) => storage.event('channels', name, data) };
    const senders = createSenders({ db, clock, ids: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) }, events: events as never });
    const account = { name: 'email', ownerId: 'owner', fields: {} } as unknown as Account;
    const codes: string[] = [];
    for (const sender of ['allowed@a.test', 'linked@a.test', 'later@a.test', 'forged@a.test']) codes.push((await senders.admission(account, { chat: sender, sender })).code ?? '');
    await senders.allow(codes[0] ?? '');
    const rows = async () => (await db.system('test').select<{ id: string; sender: string }>({ from: 'senders', order: [{ column: 'sender' }] })) ?? [];
    const idOf = async (name: string) => (await rows()).find(({ sender }) => sender === name)?.id ?? '';
    await db.commit([db.update('senders', ['id'], [{ id: await idOf('linked@a.test'), person_id: 'user:alice', code: null, code_at: null }])]);
    await clock.advance(47 * HOUR_MS);
    await db.commit([...senders.forgotten(), db.update('senders', ['id'], [{ id: await idOf('later@a.test'), code_at: clock.iso() }])]);
    expect((await rows()).length).to.equal(4);
    await clock.advance(2 * HOUR_MS);
    await db.commit([...senders.forgotten()]);
    expect((await rows()).map(({ sender }) => sender)).to.deep.equal(['allowed@a.test', 'later@a.test', 'linked@a.test']);
  });
});
