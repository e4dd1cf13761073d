/** The log of a session: who may write and read it, what two writers of one place get, and what goes with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Actor, type Db, actorFrom } from '@svc/api';
import { actorOf } from '@svc/api/internal';
import { systemClock } from '@svc/platform/clock/clock';
import { seededIds } from '@svc/platform/clock/ids';
import { openSqlite } from '@svc/platform/storage/sqlite/sqlite-connection';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import type { Entry, EntryDraft, SessionRef } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { sessionTables } from '../migrations/0001_tables.js';
import { createClosingStore } from '../src/closing/closing-store.js';
import { createSessionsService } from '../src/service.js';
import { createSessionStore, type SessionStore } from '../src/store.js';

const alice = actorOf('user:alice');
const bob = actorOf('user:bob');
const system: Actor = actorFrom({ id: 'system:test', role: 'system', ownerId: 'system' });
const AGENT = '11111111-1111-4111-8111-111111111111';
const OTHER_AGENT = '22222222-2222-4222-8222-222222222222';
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const said = (text: string, kind: EntryDraft['kind'] = 'user'): EntryDraft => ({ kind, runId: 'r', parts: [{ type: 'text', text }] });

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: { code?: string }) => error.code ?? String(error),
  );

describe('the log of a session', () => {
  let home: string;
  let storage: Storage;
  let db: Db;
  let store: SessionStore;
  let seen: Array<{ id: string; entries: number; messages: number }>;
  const ids = seededIds(11);
  const clock = systemClock();

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-log-'));
    const tables = { id: 'sessions', tables: ['sessions', 'entries', 'closed', 'shelves', 'spans', 'said', 'shares'] };
    storage = await openStorage({ file: join(home, 'svc.db'), clock, log: silent, onEvents: () => undefined });
    await storage.migrate(tables, [sessionTables]);
    db = storage.dbFor(tables);
    store = createSessionStore(db);
    seen = [];
  });
  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** A service as one process has it. */
  const open = () =>
    createSessionsService({
      store,
      clock,
      ids,
      said: () => undefined,
      changeEvents: () => [],
      projected: ({ id }, entries, messages) => void seen.push({ id, entries: entries.length, messages }),
      compactNow: async ({ id }) => ({ summarised: 0, kept: 0, summaryChars: 0, message: id }),
    });
  type Service = ReturnType<typeof open>;
  const add = async (service: Service, ref: SessionRef, ...drafts: EntryDraft[]): Promise<SessionRef> => {
    const { writes, next } = await service.append(actorOf(ref.ownerId), ref, drafts);
    await db.commit(writes);
    return next;
  };
  const begin = async (service: Service, ...drafts: EntryDraft[]): Promise<SessionRef> => add(service, await service.ensure(alice, AGENT, ids.uuid()), ...drafts);
  const words = (entries: readonly Entry[]) => entries.map(({ seq, parts }) => `${seq}:${(parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')}`);

  it('numbers what is said from one, and keeps each entry as it was given', async () => {
    const service = open();
    const ref = await begin(service, said('one'), said('two', 'assistant'));
    const call: EntryDraft = { kind: 'tool_call', runId: null, callId: 'c', tool: 'x', args: { y: 1 } };
    const next = await add(service, ref, call);

    expect([ref.seq, next.seq]).to.deep.equal([2, 3]);
    const entries = await service.entries(alice, ref.id);
    expect(words(entries)).to.deep.equal(['1:one', '2:two', '3:']);
    expect(entries[2]).to.deep.include({ ...call, seq: 3 });
    expect(Number.isNaN(Date.parse(entries[2]?.at ?? ''))).to.equal(false);
  });

  it('is read from any place, and as far as asked', async () => {
    const service = open();
    const { id } = await begin(service, said('one'), said('two'), said('three'));
    expect(words(await service.entries(alice, id, { after: 1 }))).to.deep.equal(['2:two', '3:three']);
    expect(words(await service.entries(alice, id, { after: 1, limit: 1 }))).to.deep.equal(['2:two']);
    expect(words(await service.entries(alice, id, { limit: 2 }))).to.deep.equal(['1:one', '2:two']);
  });

  it('is read whole where its pictures are more than one read of the database brings', async () => {
    const service = open();
    const picture = 'x'.repeat(14_000_000);
    let ref = await begin(service, said('one'));
    for (let count = 0; count < 5; count += 1) ref = await add(service, ref, said(picture), said('then'));
    const entries = await service.entries(alice, ref.id);
    expect(words(entries).map((text) => text.length)).to.deep.equal([5, ...Array.from({ length: 5 }, (_, at) => [String(2 + at * 2).length + 14_000_001, String(3 + at * 2).length + 5]).flat()]);
    expect(await codeOf(db.system('a test').select({ from: 'entries' }))).to.equal('storage_read_too_large');
  }).timeout(30_000);

  it('S4 takes one of two writers of one place, and the other conflicts', async () => {
    const [one, two] = [open(), open()];
    const ref = await begin(one, said('one'));
    await add(one, ref, said('first'));
    expect(await codeOf(add(two, ref, said('second')))).to.equal('storage_conflict');
    expect(words(await one.entries(alice, ref.id))).to.deep.equal(['1:one', '2:first']);
  });

  it('S5 is found by its owner and by whoever sees all, and by its own agent only', async () => {
    const service = open();
    const { id, ownerId } = await begin(service, said('one'));
    expect(ownerId).to.equal('user:alice');
    expect((await service.get(alice, id)).seq).to.equal(1);
    expect((await service.get(system, id)).ownerId).to.equal('user:alice');
    expect(await codeOf(service.get(bob, id))).to.equal('sessions_session_not_found');
    expect(await codeOf(service.entries(bob, id))).to.equal('sessions_session_not_found');
    expect(await codeOf(service.ensure(alice, OTHER_AGENT, id))).to.equal('sessions_session_not_found');
    expect(await service.agentOf(id)).to.equal(AGENT);
    expect(await service.agentOf(ids.uuid())).to.equal(undefined);
  });

  it('S5 can be neither read nor extended by whoever names the ref of another', async () => {
    const service = open();
    const hers = await begin(service, said('one'));
    const his = await add(service, await service.ensure(bob, AGENT, ids.uuid()), said('mine'));
    for (const work of [
      () => service.append(bob, hers, [said('planted')]),
      () => service.project(bob, hers, { budgetTokens: 1_000 }),
      () => service.project(bob, his, { budgetTokens: 1_000, aside: { history: hers } }),
      () => service.setThinking(bob, hers, true),
      () => service.discard(bob, hers.id),
    ])
      expect(await codeOf(work()), String(work)).to.equal('sessions_session_not_found');
    expect(words(await service.entries(alice, hers.id))).to.deep.equal(['1:one']);
    expect(await codeOf(service.append(system, hers, [said('two')]))).to.equal('none');
  });

  it('is named by a UUID in small or capital letters, and by nothing else', async () => {
    const service = open();
    for (const id of ['', 'x', `${AGENT}0`, `x${AGENT}`, AGENT.replaceAll('-', '')]) {
      expect(await codeOf(service.ensure(alice, AGENT, id)), id).to.equal('sessions_invalid_session_id');
      expect(await codeOf(service.get(alice, id)), id).to.equal('sessions_invalid_session_id');
    }
    expect((await service.ensure(alice, AGENT, 'ABCDEF00-0000-4000-8000-000000000000')).seq).to.equal(0);
  });

  it('S7 is there when a caller names it, or is the current one of the agent', async () => {
    const service = open();
    const [current, unknown] = [ids.uuid(), ids.uuid()];
    const agent = { id: AGENT, sessionId: current };
    const { id } = await begin(service, said('one'));
    expect(await service.named(alice, agent, current)).to.deep.equal({ id: current, agentId: AGENT, ownerId: 'user:alice', seq: 0 });
    expect(await service.named(alice, agent, id)).to.include({ id, seq: 1 });
    expect(await codeOf(service.named(alice, agent, unknown))).to.equal('sessions_session_not_found');
    expect(await service.ensure(alice, AGENT, unknown)).to.deep.equal({ id: unknown, agentId: AGENT, ownerId: 'user:alice', seq: 0 });
    expect((await service.compact(alice, agent, id)).message).to.equal(id);
    expect(await codeOf(service.compact(alice, agent, unknown))).to.equal('sessions_session_not_found');
  });

  it('is begun under an id and a label, or under an id of its own, and stays what it was when it is begun again', async () => {
    const service = open();
    const id = ids.uuid();
    const { ref, writes } = await service.create(alice, AGENT, { id, label: 'work' });
    expect(ref).to.deep.equal({ id, agentId: AGENT, ownerId: 'user:alice', seq: 0 });
    await db.commit(writes);
    await db.commit((await service.create(alice, AGENT, { id, label: 'other' })).writes);
    expect((await store.find(alice, id))?.label).to.equal('work');

    const own = await service.create(alice, AGENT);
    await db.commit(own.writes);
    expect(await store.find(alice, own.ref.id)).to.include({ id: own.ref.id, label: null, agentId: AGENT, ownerId: 'user:alice', thinking: null, seq: 0 });
  });

  it('remembers whether its model shall think: yes, no, or not said', async () => {
    const service = open();
    const ref = await service.ensure(alice, AGENT, ids.uuid());
    for (const isOn of [true, false, null]) {
      await db.commit(await service.setThinking(alice, ref, isOn));
      const found = await service.ensure(alice, AGENT, ref.id);
      if (isOn === null) expect(found).to.not.have.property('thinking');
      else expect(found.thinking).to.equal(isOn);
    }
  });

  it('goes with all its entries, and takes no other along', async () => {
    const service = open();
    const [gone, kept] = [await begin(service, said('one')), await begin(service, said('two'))];
    await db.commit(await service.discard(alice, gone.id));
    expect(await codeOf(service.get(alice, gone.id))).to.equal('sessions_session_not_found');
    expect(await store.entries(gone.id, 0, 10)).to.deep.equal([]);
    expect(words(await service.entries(alice, kept.id))).to.deep.equal(['1:two']);
    expect((await service.project(alice, await service.ensure(alice, AGENT, gone.id), { budgetTokens: 1_000 })).messages).to.deep.equal([]);
  });

  it('S10 is not begun again once it was taken away, whoever still means to write to it', async () => {
    const [mine, other] = [open(), open()];
    const spoken = await begin(mine, said('one'));
    const unspoken = await mine.ensure(alice, AGENT, ids.uuid());
    const closing = createClosingStore(db);
    await db.commit([db.insert('said', [{ id: 1, session_id: spoken.id, seq: 1, role: 'user', at: clock.iso(), text: 'one', words: 'one' }])]);
    await db.commit(closing.close([spoken.id, unspoken.id], clock.iso()));
    expect(await db.system('a test').count('said')).to.equal(0);
    await closing.removeRows(spoken.id);
    for (const service of [mine, other]) {
      expect(await codeOf(service.ensure(alice, AGENT, spoken.id, { again: true }))).to.equal('sessions_session_not_found');
      for (const ref of [spoken, unspoken]) {
        expect(await codeOf(add(service, ref, said('late')))).to.equal('storage_conflict');
        expect(await codeOf(service.setThinking(alice, ref, true).then((writes) => db.commit(writes)))).to.equal('storage_conflict');
      }
    }
    expect(await codeOf(db.commit([closing.isOpen(unspoken.id)]))).to.equal('storage_conflict');
    expect([await db.system('a test').count('sessions'), await db.system('a test').count('entries')]).to.deep.equal([0, 0]);
  });

  it('that holds a row nobody can read says which', async () => {
    const service = open();
    const { id } = await begin(service, said('one'));
    // As a damaged disk would: past every rule of the tables.
    const disk = await openSqlite({ file: join(home, 'svc.db'), readOnly: false, maxStatements: 1 });
    await disk.exec(`PRAGMA ignore_check_constraints=ON; UPDATE ${db.table('entries')} SET body = '{'`);
    await disk.close();
    const error = await service.entries(alice, id).catch((cause: { code: string; message: string }) => cause);
    expect(error).to.include({ code: 'sessions_row_unreadable' });
    expect((error as { message: string }).message)
      .to.contain(id)
      .and.contain('1');
  });

  describe('as a model reads it', () => {
    const texts = (messages: ReadonlyArray<{ parts: ReadonlyArray<{ type: string; text?: string }> }>) => messages.flatMap(({ parts }) => parts.map(({ text }) => text));

    /** With the log in memory, and with a memory that knows nothing of it. */
    for (const [where, isCold] of [
      ['of this process', false],
      ['of another process', true],
    ] as const)
      it(`holds what is numbered and not committed yet, once: the log ${where}`, async () => {
        const writer = open();
        const ref = await begin(writer, said('one'), said('two', 'assistant'));
        const service = isCold ? open() : writer;
        const staged = [said('three'), said('four', 'assistant')];
        const { next } = await service.append(alice, await service.ensure(alice, AGENT, ref.id), staged);

        const { messages, throughSeq } = await service.project(alice, next, { budgetTokens: 10_000, staged });
        expect(texts(messages)).to.deep.equal(['one', 'two', 'three', 'four']);
        expect(throughSeq).to.equal(4);
        expect(seen.at(-1)).to.deep.equal({ id: ref.id, entries: 4, messages: 4 });
      });

    it('is without what another writer put in the place of what is staged', async () => {
      const [one, two] = [open(), open()];
      const ref = await begin(one, said('one'));
      const staged = [said('mine')];
      const { next } = await two.append(alice, ref, staged);
      await add(one, ref, said('theirs'));
      two.forget(ref.id);
      expect(texts((await two.project(alice, next, { budgetTokens: 10_000, staged })).messages)).to.deep.equal(['one', 'mine']);
    });

    it('begins with the newest summary, then what that does not cover', async () => {
      const service = open();
      const ref = await begin(service, said('one'), said('two', 'assistant'), said('three'), said('four', 'assistant'));
      const first = await add(service, ref, { kind: 'summary', runId: 'c', content: 'FIRST', coversThrough: 1 });
      const second = await add(service, first, { kind: 'summary', runId: 'c', content: 'SECOND', coversThrough: 2 });
      const read = texts((await open().project(alice, second, { budgetTokens: 10_000 })).messages).join('|');
      expect(read).to.match(/SECOND\|three\|four$/);
      expect(read).to.not.contain('FIRST');
    });

    it('is at most as many messages as asked for', async () => {
      const service = open();
      const ref = await begin(service, said('one'), said('two', 'assistant'), said('three'));
      expect(texts((await service.project(alice, ref, { budgetTokens: 10_000, maxMessages: 1 })).messages)).to.deep.equal(['three']);
      expect(texts((await service.project(alice, ref, { budgetTokens: 5 })).messages)).to.deep.equal(['three']);
    });

    it('is read beside another one after it, and neither is looked at for compaction then', async () => {
      const service = open();
      const history = await begin(service, said('one'), said('two', 'assistant'));
      const aside = await begin(service, said('beside'));
      expect(texts((await service.project(alice, aside, { budgetTokens: 10_000, aside: { history } })).messages)).to.deep.equal(['one', 'two', 'beside']);
      expect(texts((await service.project(alice, aside, { budgetTokens: 10_000, aside: {} })).messages)).to.deep.equal(['beside']);
      expect(seen).to.deep.equal([]);
    });
  });

  it('is found by its label, by whoever may see it, newest first and two at most', async () => {
    const service = open();
    const make = async (actor: Actor, agentId: string, label: string): Promise<string> => {
      const { ref, writes } = await service.create(actor, agentId, { label });
      await db.commit(writes);
      return ref.id;
    };
    const mine = await make(alice, AGENT, 'a');
    await make(alice, OTHER_AGENT, 'a');
    await make(alice, AGENT, 'b');
    const found = async (actor: Actor, label: string) => (await service.labelled(actor, AGENT, label)).map(({ id }) => id);
    expect(await found(alice, 'a')).to.deep.equal([mine]);
    expect(await found(system, 'a')).to.deep.equal([mine]);
    expect(await found(bob, 'a')).to.deep.equal([]);
    expect(await found(alice, 'A')).to.deep.equal([]);
    await make(alice, AGENT, 'a');
    await make(alice, AGENT, 'a');
    expect(await found(alice, 'a')).to.have.length(2);
  });

  it('is read whole where that was asked, however long it is, and in its usual part elsewhere', async () => {
    const many = Array.from({ length: 9_001 }, (_, index) => said(`m${index}`, index % 2 === 0 ? 'user' : 'assistant'));
    const ref = await begin(open(), ...many);
    const read = async (aside: { isWhole?: boolean }) => (await open().project(alice, ref, { budgetTokens: Number.MAX_SAFE_INTEGER, aside })).messages.length;
    expect(await read({ isWhole: true })).to.equal(9_001);
    expect(await read({})).to.be.at.most(4_000);
  });

  it('gives a call back with what its provider wants to see again', async () => {
    const call: EntryDraft = { kind: 'tool_call', runId: 'r', callId: 'c1', tool: 'look', args: {}, signature: 'sealed' };
    const ref = await begin(open(), said('look'), call);
    const { messages } = await open().project(alice, ref, { budgetTokens: 10_000 });
    expect(messages[1]?.parts[0]).to.include({ type: 'tool_call', id: 'c1', signature: 'sealed' });
  });
});
