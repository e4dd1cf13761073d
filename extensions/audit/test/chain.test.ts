import { actorFrom } from '@svc/api';
import { describeOnEngines } from '@svc/testing';
import { expect } from 'chai';
import { fieldsOf, hashOf, textOf } from '../src/format/entry.js';
import { openNote } from '../src/format/note.js';
import { verifyExport, exportLines } from '../src/format/export-file.js';
import { leafHashes, treeHead } from '../src/tree.js';
import { tileBytes } from '../src/tiles.js';
import { recent } from '../src/trail.js';
import type { Verdict } from '../src/verify.js';
import { systemIds } from '@svc/platform/clock/ids';
import { createChain } from '../src/chain.js';
import { factOf, facts, openTrail, type Trail } from './trail-kit.js';

const OWNER = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });
const BOB = actorFrom({ id: 'user:bob', role: 'user', ownerId: 'user:bob' });
const PAGE = { limit: 50, offset: 0, after: undefined };

describeOnEngines('the audit chain', function (engine) {
  this.timeout(30_000);
  let trail: Trail;
  beforeEach(async () => {
    trail = await openTrail(engine);
  });
  afterEach(() => trail.close());

  const whole = async (count: number): Promise<void> => {
    await trail.chain.enter(facts(count));
  };
  const faults = ({ broken, problems }: Verdict): unknown[] => [...broken, ...problems];
  const entryOf = async (id: number) => (await trail.store.entries([id])).get(id) ?? { body: '', hash: '' };
  /** Changes the text of an entry that stands in its row, and its hash with it where that is said. */
  const rewrite = async (id: number, change: (text: string) => string, withHash: boolean): Promise<void> => {
    const body = change((await entryOf(id)).body ?? '');
    await trail.db.commit([trail.db.update('entries', ['id'], [{ id, body, ...(withHash ? { hash: hashOf(body) } : {}) }])]);
  };
  const rewriteSegment = async (n: number, change: (bodies: string[], hashes: string[]) => void): Promise<void> => {
    const row = await trail.store.segment(n);
    const [bodies, hashes] = [row?.bodies?.split('\n') ?? [], row?.hashes.match(/.{64}/g) ?? []];
    change(bodies, [...hashes]);
    await trail.db.commit([trail.db.update('segments', ['n'], [{ n, bodies: bodies.join('\n') }])]);
  };

  it('C1 has an entry for each fact, in order, and none twice', async () => {
    const [first, second, third] = facts(3);
    if (!first || !second || !third) throw new Error('there are three');
    await trail.chain.enter([first, second]);
    await trail.another().enter([second, third]);
    await trail.chain.enter([first]);

    const { rows, total } = await recent(trail.store, OWNER, {}, PAGE);
    expect([total, rows.map(({ details }) => JSON.parse(details).n)]).to.deep.equal([3, [3, 2, 1]]);
    expect([rows[2]?.id, rows[2]?.prev_hash, rows[1]?.prev_hash]).to.deep.equal([1, '0'.repeat(64), rows[2]?.hash]);
    expect(faults(await trail.verify())).to.deep.equal([]);
  });

  it('C2 is one chain also when two daemons write at once', async () => {
    const [one, two] = [trail.chain, trail.another()];
    const write = async (chain: typeof one): Promise<void> => {
      for (let n = 0; n < 6; n += 1) await chain.enter(facts(5));
    };
    await Promise.all([write(one), write(two)]);
    const verdict = await trail.verify(one);
    expect([verdict.chain_length, faults(verdict)]).to.deep.equal([60, []]);
  });

  it('moves whole segments out of the rows, and reads them as before', async () => {
    await trail.chain.enter(facts(250));
    const before = (await recent(trail.store, OWNER, {}, { ...PAGE, offset: 248 })).rows;
    await trail.chain.enter(facts(300, 251));
    expect((await trail.store.segments(0, 10)).map(({ n }) => n)).to.deep.equal([0, 1]);
    expect((await recent(trail.store, OWNER, {}, { ...PAGE, offset: 548 })).rows).to.deep.equal(before);
    expect(faults(await trail.verify(trail.chain))).to.deep.equal([]);
    await trail.another().enter(facts(1, 551));
    expect((await trail.store.tip()).id).to.equal(551);
  });

  it('seals what a failure has left, and knows how far it came when a fact is delivered again', async () => {
    const [given, again] = [facts(300), trail.another()];
    await createChain({ store: { ...trail.store, seal: () => Promise.reject(new Error('the disk is full')) }, ids: systemIds(), entered: () => [] })
      .enter(given)
      .catch(() => undefined);
    await again.enter(given);
    expect([(await trail.store.segments(0, 9)).length, again.seen()?.id, faults(await trail.verify(again))]).to.deep.equal([1, 300, []]);
  });

  it('V1 names an entry of which one bit was changed, wherever it stands', async () => {
    await whole(300);
    await rewriteSegment(0, (bodies) => bodies.splice(9, 1, (bodies[9] ?? '').replace('agent_spawned', 'agent_spawoed').replace('tool_invoked', 'tool_invokee')));
    await rewrite(280, (text) => text.replace('number', 'numbes').replace('"n":280', '"n":281'), false);
    expect((await trail.verify()).broken).to.deep.equal([
      { id: 10, problem: 'Its content is not what was hashed.' },
      { id: 280, problem: 'Its content is not what was hashed.' },
    ]);
  });

  it('V1 names the entry behind one whose hash was computed anew', async () => {
    await whole(20);
    await rewrite(10, (text) => text.replace('"n":10', '"n":11'), true);
    expect((await trail.verify()).broken).to.deep.equal([{ id: 11, problem: 'It does not continue the entry before it.' }]);
  });

  it('V1 finds an entry that was deleted, and two that were swapped', async () => {
    await whole(300);
    await trail.db.commit([trail.db.remove('entries', { id: 290 })]);
    expect((await trail.verify()).broken[0]).to.deep.equal({ id: 291, problem: 'The entry before it is missing.' });
    await rewriteSegment(0, (bodies) => bodies.splice(4, 2, bodies[5] ?? '', bodies[4] ?? ''));
    expect((await trail.verify()).broken[0]).to.deep.equal({ id: 5, problem: 'Another entry stands in its place.' });
  });

  it('V1 finds a whole segment that was deleted', async () => {
    await whole(800);
    await trail.db.commit([trail.db.remove('segments', { n: 1 })]);
    expect((await trail.verify()).broken[0]).to.deep.equal({ id: 257, problem: '256 entries from here on are missing.' });
  });

  it('V2 finds that the end was cut: by a checkpoint, and before the next one by what the daemon has written', async () => {
    await whole(40);
    await trail.checkpoints().sign('stop');
    await trail.db.commit([trail.db.remove('entries', { id: { gt: 30 } })]);
    expect((await trail.verify()).problems[0]).to.equal('A checkpoint in the database covers 40 entries, and there are 30: entries were removed from the end.');

    await trail.db.commit([trail.db.remove('checkpoints', { size: 40 })]);
    expect((await trail.verify()).problems.join()).to.contain('in the file');
    expect((await trail.verify(trail.chain)).problems.join()).to.contain('This daemon has written 40 entries, and there are 30');
  });

  it('V2 finds that the whole chain was computed anew, by the checkpoints outside of the database', async () => {
    await whole(300);
    await trail.checkpoints().sign('stop');
    const forger = await openTrail(engine);
    await forger.chain.enter(facts(300, 1_000));
    await forger.checkpoints().sign('stop');
    // The database is the forger's, down to its checkpoints; the files are still the old ones.
    const verdict = await trail.verify();
    expect(faults(verdict)).to.deep.equal([]);
    const files = await trail.data.readText(`checkpoints/${new Date().toISOString().slice(0, 10)}.txt`);
    await forger.data.write('checkpoints/2026-01-01.txt', files);
    expect((await forger.verify()).problems).to.deep.equal(['The checkpoint of 300 entries in the file is signed with a key that the database does not know.']);
    // Whoever keeps the old key among those in the database is caught by the root.
    for (const row of await trail.store.checkpoints()) await forger.store.addCheckpoint(row);
    expect((await forger.verify()).problems).to.include('The first 300 entries are not those that a checkpoint in the file was signed over.');
    await forger.close();
  });

  it('V2 refuses a checkpoint whose signature is wrong', async () => {
    await whole(5);
    await trail.checkpoints().sign('stop');
    const [row] = await trail.store.checkpoints();
    if (!row) throw new Error('one was signed');
    await trail.store.addCheckpoint({ ...row, note: row.note.replace('\n5\n', '\n4\n') });
    expect((await trail.verify()).problems[0]).to.contain('is wrong');
  });

  it('K1, K2 signs what is committed, in a file as well, and not twice', async () => {
    const checkpoints = trail.checkpoints();
    await checkpoints.sign('time');
    await whole(99);
    await checkpoints.sign('entries');
    expect(await trail.store.checkpoints()).to.deep.equal([]);
    await trail.chain.enter(facts(200, 100));
    await checkpoints.sign('entries');
    await checkpoints.sign('time');
    const [row, ...more] = await trail.store.checkpoints();
    const open = openNote(row?.note ?? '');
    expect([row?.size, more.length, Buffer.from(open?.checkpoint.root ?? []).toString('hex')]).to.deep.equal([299, 0, Buffer.from((await treeHead(trail.store, 299)).root).toString('hex')]);
    expect((await trail.data.list('checkpoints')).length).to.equal(1);
    expect(checkpoints.state()).to.deep.include({ size: 299, problem: undefined });
  });

  it('K1 signs the right root while full segments are not sealed yet', async () => {
    await createChain({ store: { ...trail.store, seal: async () => undefined }, ids: systemIds(), entered: () => [] }).enter(facts(600));
    expect((await trail.store.segments(0, 1)).length).to.equal(0);
    await trail.checkpoints().sign('stop');
    await trail.store.seal(await trail.store.tip());
    expect((await trail.store.segments(0, 9)).length).to.equal(2);
    const verdict = await trail.verify();
    expect([verdict.covered, faults(verdict)]).to.deep.equal([600, []]);
  });

  it('K3 asks a witness with the size that it knows, and goes on without one', async () => {
    const asked: string[] = [];
    const witness =
      (status: number, text: string) =>
      async (url: string, { body }: { body: string }) => {
        asked.push(`${url} ${body}`);
        return { status, text: async () => text };
      };
    await whole(10);
    const checkpoints = trail.checkpoints({ witness_url: 'https://witness.test/' }, witness(200, '— witness.test AAAAAAAA\n'));
    await checkpoints.sign('time');
    const [row] = await trail.store.checkpoints();
    expect(asked[0]).to.match(/^https:\/\/witness\.test\/add-checkpoint old 0\n\nsvc\/audit\/[\da-f]{16}\n10\n/);
    expect([row?.note.endsWith('— witness.test AAAAAAAA\n'), faults(await trail.verify())]).to.deep.equal([true, []]);
    await trail.chain.enter(facts(10, 11));
    const refusing = trail.checkpoints({ witness_url: 'https://witness.test' }, witness(409, '3'));
    await refusing.sign('time');
    expect(asked[1]).to.contain('old 10\n');
    expect([refusing.state().size, refusing.state().witnessProblem]).to.deep.equal([20, 'the witness answered 409: it knows another size, 3']);
  });

  it('C3 says when personal details are not those that were hashed, and verifies without them', async () => {
    await whole(3);
    await trail.db.commit([trail.db.update('details', ['id'], [{ id: 2, detail: '{"actor":"user:mallory"}' }]), trail.db.remove('details', { id: 3 })]);
    const { rows } = await recent(trail.store, OWNER, {}, PAGE);
    expect(rows.map(({ id, actor, state }) => [id, actor, state])).to.deep.equal([
      [3, null, 'erased'],
      [2, null, 'altered'],
      [1, 'user:alice', 'whole'],
    ]);
    expect(faults(await trail.verify())).to.deep.equal([
      { id: 2, problem: 'Its personal details are not those that were hashed.' },
      { id: 3, problem: 'Its personal details are missing, and no erasure explains it.' },
    ]);
  });

  it('V4 names entries of which it was changed who did it, wherever they stand, also in an export', async () => {
    await whole(300);
    const mallory = [7, 290].map((id) => ({ id, detail: '{"actor":"user:mallory"}' }));
    await trail.db.commit([trail.db.update('details', ['id'], mallory), trail.db.remove('details', { id: [8, 291] })]);
    expect((await trail.verify()).broken.map(({ id, problem }) => `${id} ${problem}`)).to.deep.equal([
      '7 Its personal details are not those that were hashed.',
      '8 Its personal details are missing, and no erasure explains it.',
      '290 Its personal details are not those that were hashed.',
      '291 Its personal details are missing, and no erasure explains it.',
    ]);
    expect((await verifyExport(exportLines(trail.store.reader))).problems).to.deep.equal([
      'The personal details of entry 7 are not those that were hashed.',
      'The personal details of entry 290 are not those that were hashed.',
      'The personal details of entry 8 are missing, and no erasure explains it.',
      'The personal details of entry 291 are missing, and no erasure explains it.',
    ]);
  });

  it('V4 has each erasure explained by the chain, and nothing that was deleted beside it', async () => {
    await trail.chain.enter([...facts(3), factOf(4, {}, BOB), ...facts(260, 5), factOf(265, {}, BOB), factOf(266, {}, BOB)]);
    await trail.erase('user:bob');
    expect(faults(await trail.verify())).to.deep.equal([]);
    expect((await verifyExport(exportLines(trail.store.reader))).problems).to.deep.equal([]);
    const said = (await recent(trail.store, OWNER, { event_type: 'audit_erased' }, PAGE)).rows.map(({ details }) => JSON.parse(details).entries);
    expect(said).to.deep.equal(['4 265-266']);
    await trail.erase('user:bob');
    expect((await trail.verify()).chain_length).to.equal(267);

    await trail.db.commit([trail.db.remove('details', { id: [5, 6] })]);
    expect((await trail.verify()).broken.map(({ id }) => id)).to.deep.equal([5, 6]);
  });

  it('V4 has details that were trimmed by their age explained by the chain', async () => {
    await trail.chain.enter([factOf(1, { at: '2026-01-01T00:00:00.000Z' }), factOf(2)]);
    await trail.store.trim(
      '2026-02-01T00:00:00.000Z',
      () => trail.db.remove('details', { id: -1 }),
      () => trail.chain.enter([factOf(3, { type: 'audit_details_trimmed', details: { before: '2026-02-01T00:00:00.000Z' } })]),
    );
    expect(faults(await trail.verify())).to.deep.equal([]);
    await trail.db.commit([trail.db.remove('details', { id: 2 })]);
    expect((await trail.verify()).broken.map(({ id }) => id)).to.deep.equal([2]);
  });

  it('V4 takes entries from before the chain explained erasures as they are', async () => {
    await trail.chain.enter([factOf(1)]);
    await rewrite(1, (text) => textOf({ ...(fieldsOf(text) ?? never()), details: (fieldsOf(text) ?? never()).details.replace(',"personal_kept":true', '') }), true);
    await trail.db.commit([trail.db.remove('details', { id: 1 })]);
    expect(faults(await trail.verify())).to.deep.equal([]);
  });

  it('V5 finds a log that was emptied with its checkpoints, by its key', async () => {
    expect(faults(await trail.verify())).to.deep.equal([]);
    await whole(3);
    await trail.checkpoints().sign('stop');
    await trail.db.commit(['entries', 'details', 'checkpoints'].map((table) => trail.db.sql(`DELETE FROM ${trail.db.table(table)}`, [])));
    for (const { name } of await trail.data.list('checkpoints')) await trail.data.remove(`checkpoints/${name}`);
    expect(faults(await trail.verify())).to.deep.equal(['The log is empty, and the key that signs it was used: all entries were removed.']);
  });

  it('C3 has no personal details of somebody who was erased before the fact was entered', async () => {
    await trail.chain.enter([factOf(1, { ownerId: '', personal: {} }), factOf(2)]);
    const { rows } = await recent(trail.store, OWNER, {}, PAGE);
    expect(rows.map(({ id, state }) => [id, state])).to.deep.equal([
      [2, 'whole'],
      [1, 'erased'],
    ]);
    expect(faults(await trail.verify())).to.deep.equal([]);
  });

  it('V3 is verified by its hashes after it was trimmed, and its proofs stay', async () => {
    await trail.chain.enter(facts(300).map((fact) => ({ ...fact, at: '2026-01-01T00:00:00.000Z' })));
    await trail.chain.enter(facts(300, 301));
    await trail.checkpoints().sign('stop');
    const before = await leafHashes(trail.store, 0, 256);
    const gone: number[] = [];
    await trail.store.trim(
      '2026-02-01T00:00:00.000Z',
      (first, last) => {
        gone.push(first, last);
        return trail.db.remove('details', { id: -1 });
      },
      () => trail.chain.enter([factOf(601, { type: 'audit_details_trimmed', details: { before: '2026-02-01T00:00:00.000Z' } })]),
    );
    const verdict = await trail.verify(trail.chain);
    expect([gone, verdict.trimmed, verdict.chain_length, faults(verdict)]).to.deep.equal([[1, 256], 256, 601, []]);
    expect(await leafHashes(trail.store, 0, 256)).to.deep.equal(before);
    expect((await recent(trail.store, OWNER, {}, { ...PAGE, offset: 341 })).rows.map(({ id, state }) => [id, state])).to.deep.equal([260, 259, 258, 257].map((id) => [id, 'erased']));
  });

  it('takes a clock that was stepped back as it is', async () => {
    await trail.chain.enter([factOf(1, { at: '2026-03-01T00:00:00.000Z' }), factOf(2, { at: '2020-01-01T00:00:00.000Z' })]);
    const verdict = await trail.verify();
    expect([verdict.first_entry, verdict.last_entry, faults(verdict)]).to.deep.equal(['2026-03-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z', []]);
  });

  it('shows people their own entries alone, by filters and words', async () => {
    await trail.chain.enter([...facts(3), factOf(4, { agentId: 'agent-b' }, BOB)]);
    const ids = async (actor: typeof OWNER | typeof BOB, filter: Parameters<typeof recent>[2]): Promise<number[]> => (await recent(trail.store, actor, filter, PAGE)).rows.map(({ id }) => id);
    expect([await ids(OWNER, {}), await ids(BOB, {})]).to.deep.equal([[4, 3, 2, 1], [4]]);
    expect([await ids(OWNER, { event_type: 'agent_spawned' }), await ids(OWNER, { agent_id: 'agent-b' }), await ids(OWNER, { q: 'number-2' }), await ids(BOB, { q: 'number-2' })]).to.deep.equal([
      [3, 1],
      [4],
      [2],
      [],
    ]);
  });

  it('lays the log out in tiles', async () => {
    await whole(300);
    const [full, part] = [await tileBytes(trail.store, '0/000'), await tileBytes(trail.store, '0/001.p/44')];
    expect([full?.length, part?.length, (await tileBytes(trail.store, 'entries/001.p/44'))?.length, (await tileBytes(trail.store, '1/000.p/1'))?.length]).to.deep.equal([8_192, 1_408, 44 * 34, 32]);
    for (const bad of ['0/001', '0/001.p/45', '0/000.p/256', '9/000', '0/1', '1/000', '0/x001', '../0/000']) expect(await tileBytes(trail.store, bad), bad).to.equal(undefined);
  });

  it('is verified from an export, which says what was changed', async () => {
    await whole(300);
    await trail.checkpoints().sign('stop');
    const lines: string[] = [];
    for await (const line of exportLines(trail.store.reader)) lines.push(line);
    const verdictOf = async (changed: readonly string[]) => {
      const verdict = await verifyExport(
        (async function* () {
          yield* changed;
        })(),
      );
      return verdict.problems;
    };
    expect(await verdictOf(lines)).to.deep.equal([]);
    expect(await verdictOf([])).to.deep.equal(['The file is empty.']);
    expect(await verdictOf(lines.with(5, 'x'))).to.include('Line 6 is none of an export of svc.');
    expect((await verdictOf(lines.toSpliced(100, 1)))[0]).to.equal('Entry 101 stands where entry 100 belongs.');
    expect((await verdictOf(lines.with(20, (lines[20] ?? '').replace('number', 'numbes'))))[0]).to.equal('The personal details of entry 20 are not those that were hashed.');
    expect((await verdictOf(lines.with(-1, (lines.at(-1) ?? '').replace('300', '299'))))[0]).to.contain('The signature of the checkpoint of 299 entries is wrong.');
    expect((await verdictOf([...lines.slice(0, 250), ...lines.slice(-1)]))[0]).to.contain('entries were removed from the end');
    const { body } = await entryOf(300);
    expect(fieldsOf(body ?? '') && textOf({ ...(fieldsOf(body ?? '') ?? never()) })).to.equal(body);
  });
});

const never = (): never => {
  throw new Error('it can be read');
};
