/** What becomes of a journal's write when somebody else was faster, and what its refusals and its tables say. */
import type { Write } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { journalErrors } from '../../src/journal/errors.js';
import type { PlatformJournal } from '../../src/journal/journal.js';
import { type JournalRig, alice, codeOf, openJournalRig } from './journal-rig.js';

describeOnEngines('journal races', (engine) => {
  let rig: JournalRig;

  beforeEach(async () => {
    rig = await openJournalRig(engine);
  });

  afterEach(() => rig.close());

  const open = (id: string, extra: object = {}) => rig.journal.open({ id, kind: 'agent', actor: alice, input: 0, ...extra });
  /** Before each of the next `times` commits that match, somebody else's is in the queue already. */
  const overtake = (matches: string, theirs: () => Write, times: number): void => {
    let left = times;
    rig.breakCommits((writes) => {
      const [first] = writes;
      if (left > 0 && first && rig.textOf(first).includes(matches)) {
        left -= 1;
        void rig.db.commit([theirs()]);
      }
      return false;
    });
  };
  const touched = (): Write => rig.db.sql("UPDATE journal__runs SET lease_token = lease_token + 1 WHERE status = 'running'", []);

  it('lost to others in a claim are tried with what is there then, three times at most', async () => {
    await rig.journal.release(await rig.held({ id: 'r' }));
    overtake('lease_token = lease_token + 1, lease_until', touched, 2);
    expect((await rig.journal.claim('agent', 1)).map(({ id }) => id)).to.deep.equal(['r']);

    await rig.journal.release(await rig.held({ id: 's' }));
    overtake('lease_token = lease_token + 1, lease_until', touched, 3);
    expect(await rig.journal.claim('agent', 1)).to.deep.equal([]);
    expect((await rig.journal.claim('agent', 1)).map(({ id }) => id)).to.deep.equal(['s']);
  });

  it('lost by a cancel or a wake say so, and change nothing', async () => {
    for (const id of ['a', 'b']) await rig.journal.wait(await rig.held({ id }), { reason: 'r', wakeKey: id });
    const ended = (): Write => rig.db.sql("UPDATE journal__runs SET status = 'done'", []);
    overtake("status = 'cancelled'", ended, 1);
    expect(await rig.journal.cancel(alice, 'a', { code: 'c', message: 'm' })).to.equal(false);
    expect(await rig.journal.wake(alice, 'b', 'yes')).to.equal(false);
    await rig.db.commit([rig.db.sql("UPDATE journal__runs SET status = 'waiting'", [])]);
    overtake("status = 'queued'", ended, 1);
    expect(await rig.journal.wake(alice, 'b', 'yes')).to.equal(false);
    expect((await rig.journal.get(alice, 'a'))?.error).to.equal(null);
  });

  it('keep the lease when only what stands beside the progress could not be written', async () => {
    const run = await rig.held({ id: 'r' });
    const missing: Write = rig.db.sql('UPDATE journal__runs SET input = NULL WHERE id = ?', ['nobody'], { expect: 1 });
    expect(await codeOf(rig.journal.advance(run, { also: [missing] }))).to.equal('storage_conflict');
    expect(run.signal.aborted).to.equal(false);
    await rig.finish(run);
    expect((await rig.journal.get(alice, 'r'))?.status).to.equal('done');
  });

  it('keep a run within reach of an interruption after each step', async () => {
    const run = await rig.held({ id: 'r' });
    await rig.journal.advance(run, {});
    expect(await rig.journal.interrupt('r', new Error('stop'))).to.equal(true);
  });

  describe('of an interruption', () => {
    const interrupted = async (journal: PlatformJournal = rig.journal): Promise<unknown[]> => (await journal.claim('agent', 9)).map(({ id, signal }) => [id, signal.aborted]);

    it('with the death of its holder leave it to whoever takes the run over', async () => {
      const run = await rig.held({ id: 'r' });
      expect(await rig.journal.interrupt('r', new Error('stop'))).to.equal(true);
      expect(run.signal.aborted).to.equal(true);
      expect(await interrupted(rig.another())).to.deep.equal([['r', true]]);
    });

    it('with a claim end with the run interrupted, whichever was first', async () => {
      await rig.held({ id: 'r' });
      const next = rig.another();
      let reported: Promise<boolean> | undefined;
      rig.breakCommits((writes) => {
        if (writes[0] && rig.textOf(writes[0]).includes('lease_token = lease_token + 1, lease_until')) reported ??= next.interrupt('r', new Error('stop'));
        return false;
      });
      const [taken] = await next.claim('agent', 1);
      expect(await reported).to.equal(true);
      expect(taken?.signal.aborted).to.equal(true);

      rig.breakCommits(() => false);
      await rig.held({ id: 's' });
      const last = rig.another({ soleWriter: true });
      overtake('lease_token = lease_token + 1, lease_until', () => rig.db.sql("UPDATE journal__runs SET interrupt = ? WHERE id = 's'", ['{"code":"c","message":"m"}']), 2);
      expect([...(await interrupted(last)), ...(await interrupted(last))]).to.deep.include(['s', true]);
    });

    it('with a run that falls asleep are told to whoever asked: it is to be cancelled, or claimed again at once', async () => {
      const run = await rig.held({ id: 'r' });
      const asleep = rig.journal.wait(run, { reason: 'r', wakeKey: 'w' });
      const reported = await rig.journal.interrupt('r', new Error('stop'));
      await asleep;
      const status = (await rig.journal.get(alice, 'r'))?.status;
      expect([reported, status]).to.deep.equal(reported ? [true, 'queued'] : [false, 'waiting']);
      if (reported) expect(await interrupted()).to.deep.equal([['r', true]]);
    });

    it('with a full disk stop what is held here all the same', async () => {
      const run = await rig.held({ id: 'r' });
      rig.breakCommits(() => true);
      expect(await rig.journal.interrupt('r', new Error('stop'))).to.equal(true);
      expect(run.signal.aborted).to.equal(true);
      rig.breakCommits(() => false);
    });
  });

  it('for a lane are validated by the database: behind who runs there, and behind who is queued there', async () => {
    const other = rig.another({ soleWriter: false });
    await other.open({ id: 'elsewhere', kind: 'agent', actor: alice, input: 0, lane: 'x' });
    const { leased: first } = await open('first', { lane: 's', key: 'k1' });
    expect((await other.open({ id: 'second', kind: 'agent', actor: alice, input: 0, lane: 's', key: 'k2' })).run.status).to.equal('queued');
    if (first) await rig.finish(first);

    const third = rig.another({ soleWriter: false });
    await third.claim('none', 1);
    const { leased } = await rig.journal.open({ id: 'busy', kind: 'agent', actor: alice, input: 0, lane: 'y' });
    await rig.journal.open({ id: 'queued', kind: 'agent', actor: alice, input: 0, lane: 'y' });
    if (leased) await rig.finish(leased);
    await rig.clock.advance(1);
    const late = await third.open({ id: 'late', kind: 'agent', actor: alice, input: 0, lane: 'y' });
    expect([late.run.status, late.leased]).to.deep.equal(['queued', undefined]);
    expect((await rig.journal.claim('agent', 9)).map(({ id }) => id))
      .to.include('queued')
      .and.not.include('late');
  });

  describe('after a restart', () => {
    it('call for whoever is queued behind a run of an earlier life when that ends', async () => {
      await open('first', { lane: 's' });
      await open('second', { lane: 's' });
      const next = rig.another();
      const [first] = await next.claim('agent', 1);
      let calls = 0;
      next.onReady('agent', () => {
        calls += 1;
      });
      await rig.settled();
      const before = calls;
      if (first) await next.advance(first, { finish: { status: 'done' } });
      await rig.settled();
      expect(calls).to.equal(before + 1);
      expect((await next.claim('agent', 1)).map(({ id }) => id)).to.deep.equal(['second']);
    });
  });

  it('call for a run without a lane when it is woken', async () => {
    let calls = 0;
    rig.journal.onReady('agent', () => {
      calls += 1;
    });
    await rig.journal.wait(await rig.held(), { reason: 'r', wakeKey: 'w' });
    await rig.settled();
    const before = calls;
    await rig.journal.wake(alice, 'w', 'yes');
    await rig.settled();
    expect(calls).to.equal(before + 1);
  });

  it('are refused with a status and a word on trying again', () => {
    const { lease_lost, key_conflict, step_conflict, outcome_unknown, bad_time, bad_row } = journalErrors;
    const made = [lease_lost('r'), key_conflict('k'), step_conflict('r'), outcome_unknown('tool'), bad_time('soon'), bad_row('r', 'input')];
    expect(made.map(({ code, status, retry }) => [code, status, retry])).to.deep.equal([
      ['journal_lease_lost', 409, false],
      ['journal_key_conflict', 409, false],
      ['journal_step_conflict', 409, false],
      ['journal_outcome_unknown', 409, false],
      ['journal_bad_time', 500, false],
      ['journal_bad_row', 500, false],
    ]);
  });

  it('cannot leave a row half written: what every run and step has may not be null', async () => {
    const mayBeNull = (table: string): string =>
      engine.name === 'SQLite'
        ? `SELECT name FROM pragma_table_info('${table}') WHERE "notnull" = 0 ORDER BY cid`
        : `SELECT column_name::text AS name FROM information_schema.columns WHERE table_name = '${table}' AND is_nullable = 'YES' ORDER BY ordinal_position`;
    const columns = async (table: string) => (await rig.db.system('a test').read<{ name: string }>(mayBeNull(table))).map(({ name }) => name);
    expect(await columns('journal__runs')).to.deep.equal([
      ...[
        'request_key',
        'fingerprint',
        'lane',
        'parent_id',
        'input',
        'result',
        'error',
        'wait_reason',
        'wake_key',
        'wait_until',
        'wait_data',
        'lease_owner',
        'interrupt',
        'subject',
        'session_id',
        'root_id',
        'cause_kind',
        'cause_id',
        'pool',
        'begun_at',
      ],
    ]);
    expect(await columns('journal__steps')).to.deep.equal(['intent', 'outcome', 'ended_at']);
  });
});
