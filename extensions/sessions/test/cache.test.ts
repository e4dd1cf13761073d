/** What sessions keep in memory: bounded, and never an answer for another log than the one in the database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Actor, type Db, actorFrom } from '@svc/api';
import { seededIds } from '@svc/platform/clock/ids';
import { systemClock } from '@svc/platform/clock/clock';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import type { EntryDraft, SessionRef } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { sessionTables } from '../migrations/0001_tables.js';
import { createSessionsService } from '../src/service.js';
import { createSessionStore } from '../src/store.js';

const owner: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });
const AGENT = '11111111-1111-4111-8111-111111111111';
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const said = (text: string, runId = 'r'): EntryDraft => ({ kind: 'user', runId, parts: [{ type: 'text', text }] });

describe('what sessions keep in memory', () => {
  let home: string;
  let storage: Storage;
  let db: Db;
  let reads: string[];
  let looks: number;
  /** What was read is handed on when this resolves. */
  let gate: Promise<void> | undefined;
  const ids = seededIds(7);
  const clock = systemClock();

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-sessions-'));
    const tables = { id: 'sessions', tables: ['sessions', 'entries', 'closed', 'shelves', 'spans', 'said', 'shares'] };
    storage = await openStorage({ file: join(home, 'svc.db'), clock, log: silent, onEvents: () => undefined });
    await storage.migrate(tables, [sessionTables]);
    db = storage.dbFor(tables);
    reads = [];
    looks = 0;
    gate = undefined;
  });

  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** A service as one process has it; `reads` names the sessions whose entries came from the database. */
  const open = () => {
    const store = createSessionStore(db);
    const entries: typeof store.entries = async (id, after, limit) => {
      reads.push(id);
      const found = await store.entries(id, after, limit);
      await gate;
      return found;
    };
    const find: typeof store.find = (actor, id) => {
      looks += 1;
      return store.find(actor, id);
    };
    return createSessionsService({
      store: { ...store, entries, find },
      clock,
      ids,
      projected: () => undefined,
      said: () => undefined,
      changeEvents: () => [],
      compactNow: () => Promise.reject(new Error('nobody asks for it here')),
    });
  };
  type Service = ReturnType<typeof open>;

  const add = async (service: Service, ref: SessionRef, ...drafts: EntryDraft[]): Promise<SessionRef> => {
    const { writes, next } = await service.append(owner, ref, drafts);
    await db.commit(writes);
    return next;
  };
  const begin = async (service: Service, ...drafts: EntryDraft[]): Promise<SessionRef> => add(service, await service.ensure(owner, AGENT, ids.uuid()), ...drafts);
  const project = async (service: Service, ref: SessionRef): Promise<string> => {
    const current = await service.ensure(owner, AGENT, ref.id);
    return JSON.stringify((await service.project(owner, current, { budgetTokens: 1_000_000 })).messages);
  };

  it('are the logs that were written, however long: none of them is read from the database to go on', async () => {
    const service = open();
    const lines = Array.from({ length: 1_200 }, (_, n) => said(`line ${n};`));
    const longer = await add(service, await begin(service, ...lines), said('one more'));

    expect(await project(service, longer))
      .to.contain('line 0;')
      .and.to.contain('one more');
    expect(reads).to.deep.equal([]);
  });

  it('are read again when they were given back', async () => {
    const service = open();
    const ref = await begin(service, said('first'));
    service.forget(ref.id);

    expect(await project(service, ref)).to.contain('first');
    expect(reads).to.deep.equal([ref.id]);
  });

  it('are dropped when another process has written to the log', async () => {
    const [one, two] = [open(), open()];
    const ref = await begin(one, said('from one'));
    await add(two, await two.ensure(owner, AGENT, ref.id), said('from two'));

    expect(await project(one, ref))
      .to.contain('from one')
      .and.to.contain('from two');
  });

  it('never hold what a commit that failed would have added', async () => {
    const service = open();
    const ref = await begin(service, said('kept'));
    const { writes } = await service.append(owner, ref, [said('lost')]);
    await db.commit([...writes, db.sql(`UPDATE ${db.table('sessions')} SET label = 'x' WHERE id = 'nobody'`, [], { expect: 1 })]).catch(() => undefined);

    expect(await project(service, ref))
      .to.contain('kept')
      .and.not.contain('lost');
    await add(service, await service.ensure(owner, AGENT, ref.id), said('another second'));
    expect(await project(service, ref))
      .to.contain('kept')
      .and.to.contain('another second')
      .and.not.contain('lost');
  });

  it('are let go when the log was compacted', async () => {
    const service = open();
    const ref = await begin(service, said('old'), said('new'));
    await project(service, ref);
    const current = await add(service, ref, { kind: 'summary', runId: 'c', content: 'in short', coversThrough: 1 });
    service.forget(ref.id);

    expect(await project(service, current))
      .to.contain('in short')
      .and.to.contain('new')
      .and.not.contain('old');
    expect(reads).to.deep.equal([ref.id]);
  });

  it('say where a session stands without a look, once it was looked at', async () => {
    const service = open();
    const ref = await begin(service, said('first'));
    await service.ensure(owner, AGENT, ref.id);
    looks = 0;
    let next = await service.named(owner, { id: AGENT, sessionId: 'another' }, ref.id);
    for (const text of ['second', 'third']) next = await add(service, await service.ensure(owner, AGENT, ref.id), said(text));

    expect({ looks, seq: next.seq, reads }).to.deep.equal({ looks: 0, seq: 3, reads: [] });
  });

  it('let nothing be appended to a place that another process has taken: that is a conflict, and who looks again sees the log', async () => {
    const [one, two] = [open(), open()];
    const ref = await begin(one, said('first'));
    const stale = await one.ensure(owner, AGENT, ref.id);
    await add(two, await two.ensure(owner, AGENT, ref.id), said('from two', 'another run'));

    expect(await one.ensure(owner, AGENT, ref.id)).to.deep.equal(stale);
    const refused = await add(one, stale, said('too late')).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'storage_conflict');
    const fresh = await one.ensure(owner, AGENT, ref.id, { again: true });
    expect(fresh.seq).to.equal(2);
    await add(one, fresh, said('in turn'));
    expect(await project(one, ref))
      .to.contain('from two')
      .and.to.contain('in turn')
      .and.not.contain('too late');
  });

  it('let nothing follow on what a commit that failed would have added', async () => {
    const service = open();
    const ref = await begin(service, said('kept'));
    await service.ensure(owner, AGENT, ref.id);
    const lost = await service.append(owner, await service.ensure(owner, AGENT, ref.id), [said('lost')]);
    const refused = await add(service, lost.next, said('on nothing')).catch((error: unknown) => error);

    expect(refused).to.have.property('code', 'storage_conflict');
  });

  it('let nothing be appended to a session that is gone', async () => {
    const [one, two] = [open(), open()];
    const ref = await begin(one, said('first'));
    const stale = await one.ensure(owner, AGENT, ref.id);
    await db.commit(await two.discard(owner, ref.id));

    const refused = await add(one, stale, said('to nobody')).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'storage_conflict');
  });

  it('show nobody the place of another owner', async () => {
    const service = open();
    const ref = await begin(service, said('mine'));
    await service.ensure(owner, AGENT, ref.id);
    const thirdParty: Actor = actorFrom({ id: 'user:eve', role: 'user', ownerId: 'eve' });

    expect(await service.named(thirdParty, { id: AGENT, sessionId: 'x' }, ref.id).catch((error: unknown) => error)).to.have.property('code', 'sessions_session_not_found');
  });

  it('hear at once whether the model shall think', async () => {
    const service = open();
    const ref = await begin(service, said('first'));
    const before = await service.ensure(owner, AGENT, ref.id);
    await db.commit(await service.setThinking(owner, before, true));

    expect((await service.ensure(owner, AGENT, ref.id)).thinking).to.equal(true);
    await db.commit(await service.setThinking(owner, before, null));
    expect((await service.ensure(owner, AGENT, ref.id)).thinking).to.equal(undefined);
  });

  it('are kept again from the first message that had to read them', async () => {
    const service = open();
    const ref = await begin(service, said('first'));
    service.forget(ref.id);
    for (const text of ['second', 'third', 'fourth']) {
      const staged = [said(text)];
      const current = await service.ensure(owner, AGENT, ref.id);
      const { writes, next } = await service.append(owner, current, staged);
      const { messages } = await service.project(owner, next, { budgetTokens: 1_000_000, staged });
      expect(JSON.stringify(messages)).to.contain('first').and.to.contain(text);
      await db.commit(writes);
    }

    expect(reads).to.deep.equal([ref.id]);
  });

  it('give a model the new message, whoever else reads the log at the same time', async () => {
    const service = open();
    const ref = await begin(service, said('first'));
    service.forget(ref.id);
    const staged = [said('second')];
    const current = await service.ensure(owner, AGENT, ref.id);
    const { next } = await service.append(owner, current, staged);
    service.forget(ref.id);
    let letGo = (): void => undefined;
    gate = new Promise((resolve) => {
      letGo = resolve;
    });
    const asked = service.project(owner, next, { budgetTokens: 1_000_000, staged });
    const looked = [1, 2, 3].map(() => service.project(owner, current, { budgetTokens: 1_000_000 }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    letGo();
    await Promise.all(looked);

    expect(JSON.stringify((await asked).messages))
      .to.contain('first')
      .and.to.contain('second');
  });

  it('say where a session stands in which nothing was said yet, once it was looked at', async () => {
    const service = open();
    const { ref, writes } = await service.create(owner, AGENT);
    await db.commit(writes);
    await service.named(owner, { id: AGENT, sessionId: 'another' }, ref.id);
    looks = 0;
    const first = await add(service, await service.ensure(owner, AGENT, ref.id), said('first'));
    const second = await add(service, await service.ensure(owner, AGENT, ref.id), said('second'));

    expect({ looks, seqs: [first.seq, second.seq], reads }).to.deep.equal({ looks: 0, seqs: [1, 2], reads: [] });
    expect(await project(service, second))
      .to.contain('first')
      .and.to.contain('second');
  });
});
