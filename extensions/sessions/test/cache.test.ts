/** What sessions keep in memory: bounded, and never an answer for another log than the one in the database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Actor, Db } from '@svc/api';
import { seededIds } from '@svc/platform/clock/ids';
import { systemClock } from '@svc/platform/clock/clock';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import type { EntryDraft, SessionRef } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { init } from '../migrations/0001_init.js';
import { thinking } from '../migrations/0002_thinking.js';
import { createSessionsService } from '../src/service.js';
import { createSessionStore } from '../src/store.js';

const owner: Actor = { id: 'owner', role: 'owner', ownerId: 'owner' };
const AGENT = '11111111-1111-4111-8111-111111111111';
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const said = (text: string): EntryDraft => ({ kind: 'user', runId: 'r', parts: [{ type: 'text', text }] });

describe('what sessions keep in memory', () => {
  let home: string;
  let storage: Storage;
  let db: Db;
  let reads: string[];
  const ids = seededIds(7);
  const clock = systemClock();

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-sessions-'));
    const tables = { id: 'sessions', tables: ['sessions', 'entries'] };
    storage = await openStorage({ file: join(home, 'svc.db'), clock, log: silent, onEvents: () => undefined });
    await storage.migrate(tables, [init, thinking]);
    db = storage.dbFor(tables);
    reads = [];
  });

  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** A service as one process has it; `reads` names the sessions whose entries came from the database. */
  const open = () => {
    const store = createSessionStore(db);
    const entries: typeof store.entries = (id, after, limit) => {
      reads.push(id);
      return store.entries(id, after, limit);
    };
    return createSessionsService({ store: { ...store, entries }, clock, ids, projected: () => undefined, compactNow: () => Promise.reject(new Error('nobody asks for it here')) });
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
});
