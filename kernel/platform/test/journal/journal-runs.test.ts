/** What a run's row says, who finds it, and how it ends. */
import type { LeasedRun } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { type JournalRig, alice, bob, codeOf, openJournalRig } from './journal-rig.js';

describeOnEngines('journal runs', (engine) => {
  let rig: JournalRig;

  beforeEach(async () => {
    rig = await openJournalRig(engine);
  });

  afterEach(() => rig.close());

  const intent = (seq: number, replay: 'safe' | 'keyed' | 'never' = 'safe') => ({ seq, kind: 'tool', key: `call-${seq}`, replay, intent: { n: seq } });
  const ids = async (filter: object = {}): Promise<string[]> => (await rig.journal.list({ actor: alice, ...filter })).map(({ id }) => id);

  describe('a row', () => {
    it('keeps all that was asked for, and says null for what was not', async () => {
      await rig.journal.open({ id: 'full', kind: 'agent', actor: alice, input: { ask: 1 }, key: 'k', fingerprint: 'f', lane: 's1', parentId: 'p', cause: { kind: 'cron', id: 'c' }, subject: 'a' });
      await rig.journal.open({ id: 'bare', kind: 'agent', actor: alice, input: undefined });
      const at = '2026-01-01T00:00:00.000Z';

      expect(await rig.journal.get(alice, 'full')).to.deep.equal({
        ...{
          id: 'full',
          kind: 'agent',
          ownerId: 'user:alice',
          key: 'k',
          fingerprint: 'f',
          lane: 's1',
          parentId: 'p',
          rootId: 'p',
          cause: { kind: 'cron', id: 'c' },
          subject: 'a',
          pool: null,
          status: 'running',
          input: { ask: 1 },
        },
        ...{ result: null, error: null, attempt: 1, createdAt: at, begunAt: at, updatedAt: at, wait: null },
      });
      expect(await rig.journal.get(alice, 'bare')).to.include({ key: null, fingerprint: null, lane: null, parentId: null, rootId: 'bare', cause: null, input: null });
      expect(await rig.journal.get(alice, 'nobody')).to.equal(undefined);
    });

    it('says how it ended, and when it was last touched', async () => {
      const run = await rig.held({ id: 'r' });
      await rig.clock.advance(5_000);
      await rig.journal.advance(run, { finish: { status: 'failed', result: { partly: true }, error: { code: 'x', message: 'It broke.' } } });

      expect(await rig.journal.get(alice, 'r')).to.deep.include({
        status: 'failed',
        result: { partly: true },
        error: { code: 'x', message: 'It broke.' },
        createdAt: '2026-01-01T00:00:00.000Z',
        updatedAt: '2026-01-01T00:00:05.000Z',
      });
      expect(await codeOf(rig.journal.advance(run, {}))).to.equal('journal_lease_lost');
    });

    it('takes a new input with its end too', async () => {
      const run = await rig.held({ id: 'r', input: { parts: ['long'] } });
      await rig.journal.advance(run, { input: { moved: true }, finish: { status: 'done' } });
      expect(await rig.journal.get(alice, 'r')).to.deep.include({ status: 'done', input: { moved: true } });
    });

    it('that cannot be read raises its id and column, and spares the others', async () => {
      await rig.held({ id: 'good' });
      const bad = await rig.held({ id: 'bad' });
      await rig.journal.advance(bad, { intents: [intent(1)] });
      await rig.spoil("UPDATE journal__runs SET input = '{' WHERE id = 'bad'; UPDATE journal__steps SET outcome = '{' WHERE run_id = 'bad'");

      const failure = await rig.journal.get(alice, 'bad').catch((error: Error & { code: string }) => error);
      expect(failure).to.include({ code: 'journal_bad_row' });
      expect((failure as Error).message)
        .to.contain('bad')
        .and.to.contain('input');
      expect(await codeOf(rig.journal.steps(alice, 'bad'))).to.equal('journal_bad_row');
      expect((await rig.journal.get(alice, 'good'))?.id).to.equal('good');
    });
  });

  describe('a list', () => {
    it('comes newest first, and only what was asked for: by kind, by lane, by status', async () => {
      await rig.held({ id: 'a', lane: 's1' });
      await rig.journal.open({ id: 'b', kind: 'agent', actor: alice, input: 0, lane: 's1' });
      await rig.held({ id: 'c', kind: 'delivery' });
      await rig.held({ id: 'd', actor: bob, lane: 's2' });
      await rig.finish(await rig.held({ id: 'e' }));

      expect(await ids()).to.deep.equal(['e', 'c', 'b', 'a']);
      expect(await ids({ kind: 'agent' })).to.deep.equal(['e', 'b', 'a']);
      expect(await ids({ lane: 's1' })).to.deep.equal(['b', 'a']);
      expect(await ids({ status: ['queued', 'done'] })).to.deep.equal(['e', 'b']);
      expect(await ids({ kind: 'agent', lane: 's1', status: ['running'] })).to.deep.equal(['a']);
      expect(await ids({ actor: bob })).to.deep.equal(['d']);
    });

    it('knows what runs are about and what began them, and goes on after a page where that ended', async () => {
      await rig.held({ id: 'a', subject: 'x' });
      await rig.held({ id: 'b', subject: 'y', parentId: 'a' });
      await rig.held({ id: 'c', subject: 'x', parentId: 'b' });
      await rig.held({ id: 'd', subject: 'x', actor: bob });

      expect(await ids({ subject: 'x' })).to.deep.equal(['c', 'a']);
      expect(await ids({ parentId: 'a' })).to.deep.equal(['b']);
      expect(await ids({ subject: 'x', limit: 1 })).to.deep.equal(['c']);
      expect(await ids({ subject: 'x', limit: 1, before: 'c' })).to.deep.equal(['a']);
      expect(await ids({ before: 'a' })).to.deep.equal([]);
    });

    it('has a hundred, or as many as were asked for, and never more than a thousand', async () => {
      await Promise.all(Array.from({ length: 1_002 }, () => rig.held()));

      expect(await ids()).to.have.length(100);
      expect(await ids({ limit: 7 })).to.have.length(7);
      expect(await ids({ limit: 5_000 })).to.have.length(1_000);
    });
  });

  describe('counts', () => {
    const ended = async (id: string, ms: number, status: 'done' | 'failed', steps: number): Promise<void> => {
      const run = await rig.held({ id, subject: 'a' });
      if (steps > 0) await rig.journal.advance(run, { intents: Array.from({ length: steps }, (_, index) => intent(index + 1)) });
      await rig.clock.advance(ms);
      await rig.journal.advance(run, { finish: { status } });
    };
    const count = (filter: object = {}) => rig.journal.summary({ actor: alice, kind: 'agent', ...filter });

    it('are of the newest runs that the filter finds and the actor may see', async () => {
      expect(await count()).to.deep.equal({ runs: 0, byStatus: {}, steps: {}, meanMs: null });
      await ended('old', 9_000, 'done', 1);
      await ended('one', 1_000, 'done', 2);
      await ended('two', 2_000, 'failed', 1);
      await ended('three', 3_000, 'done', 0);
      expect(await count({ limit: 3 })).to.deep.equal({ runs: 3, byStatus: { done: 2, failed: 1 }, steps: { tool: 3 }, meanMs: 2_000 });
      expect((await count({ subject: 'a' })).runs).to.equal(4);
      expect(await count({ subject: 'b' })).to.include({ runs: 0, meanMs: null });
      expect((await count({ status: ['failed'] })).steps).to.deep.equal({ tool: 1 });
      expect((await count({ status: [] })).runs).to.equal(0);
      expect((await rig.journal.summary({ actor: bob, kind: 'agent' })).runs).to.equal(0);
    });

    it('are grouped by when the runs were accepted, with the times that half and nearly all of them took', async () => {
      const toHour = 3_600_000 - (rig.clock.now() % 3_600_000);
      const hour = rig.clock.now() + toHour;
      await rig.clock.advance(toHour - 120_000);
      const at = (ms: number): string => new Date(ms).toISOString();
      const since = at(hour - 120_000);
      const timeline = (filter: object = {}, interval: 'minute' | 'ten_minutes' | 'hour' | 'day' = 'minute') => rig.journal.timeline({ actor: alice, kind: 'agent', since, ...filter }, interval);
      expect(await timeline()).to.deep.equal([]);
      await ended('one', 10_000, 'done', 0);
      await ended('two', 30_000, 'done', 0);
      await ended('three', 19_999, 'failed', 0);
      await rig.clock.advance(60_001);
      await ended('four', 1_000, 'done', 0);
      expect(await timeline()).to.deep.equal([
        { start: since, byStatus: { done: 2, failed: 1 }, medianMs: 10_000, p95Ms: 30_000 },
        { start: at(hour), byStatus: { done: 1 }, medianMs: 1_000, p95Ms: 1_000 },
      ]);
      const starts = async (interval: 'ten_minutes' | 'hour' | 'day') => (await timeline({}, interval)).map(({ start }) => start);
      expect(await starts('ten_minutes')).to.deep.equal([at(hour - 600_000), at(hour)]);
      expect(await starts('hour')).to.deep.equal([at(hour - 3_600_000), at(hour)]);
      expect(await starts('day')).to.deep.equal([...new Set([since, at(hour)].map((time) => `${time.slice(0, 10)}T00:00:00.000Z`))]);
      expect(await timeline({ status: ['failed'] })).to.deep.equal([{ start: since, byStatus: { failed: 1 }, medianMs: null, p95Ms: null }]);
      expect(await timeline({ subject: 'b' })).to.deep.equal([]);
      expect(await timeline({ since: at(hour) })).to.have.length(1);
      expect(await rig.journal.timeline({ actor: bob, kind: 'agent', since }, 'day')).to.deep.equal([]);
    });
  });

  describe('a key', () => {
    it('is found with its owner and its kind only', async () => {
      await rig.held({ id: 'r', key: 'k' });
      await rig.held({ id: 'd', key: 'k', kind: 'delivery' });

      expect((await rig.journal.byKey(alice, 'agent', 'k'))?.id).to.equal('r');
      expect((await rig.journal.byKey(alice, 'delivery', 'k'))?.id).to.equal('d');
      expect(await rig.journal.byKey(bob, 'agent', 'k')).to.equal(undefined);
      expect(await rig.journal.byKey(alice, 'agent', 'other')).to.equal(undefined);
    });

    it('names the earlier run to a resend that would have queued, and writes nothing beside it', async () => {
      const first = await rig.held({ id: 'first', lane: 's1', key: 'k', fingerprint: 'f' });
      const again = await rig.journal.open({ kind: 'agent', actor: alice, input: 0, lane: 's1', key: 'k', fingerprint: 'f' });

      expect([again.run.id, again.replayed, again.leased]).to.deep.equal(['first', true, undefined]);
      expect(await codeOf(rig.journal.open({ kind: 'agent', actor: alice, input: 0, lane: 's1', key: 'k', fingerprint: 'else' }))).to.equal('journal_key_conflict');
      await rig.finish(first);
      expect(await ids({ status: ['queued'] })).to.deep.equal([]);
      expect((await rig.journal.open({ kind: 'agent', actor: alice, input: 0, lane: 's1' })).run.status).to.equal('running');
    });
  });

  describe('steps', () => {
    it('of several runs come by run, in order, of those that the actor may see and of the kinds asked for', async () => {
      for (const id of ['one', 'two']) await rig.journal.advance(await rig.held({ id }), { intents: [intent(2), intent(1)] });
      await rig.held({ id: 'none' });
      const seqs = async (...asked: Parameters<typeof rig.journal.stepsOf>) => Object.fromEntries([...(await rig.journal.stepsOf(...asked))].map(([id, steps]) => [id, steps.map(({ seq }) => seq)]));
      expect(await seqs(alice, ['one', 'two', 'none', 'nowhere'])).to.deep.equal({ one: [1, 2], two: [1, 2] });
      expect(await seqs(bob, ['one', 'two'])).to.deep.equal({});
      expect(await seqs(alice, ['one'], ['agent'])).to.deep.equal({ one: [1, 2] });
      expect(await seqs(alice, ['one'], ['other'])).to.deep.equal({});
      expect(await seqs(alice, ['one'], [])).to.deep.equal({});
      expect(await seqs(alice, [])).to.deep.equal({});
    });

    it('say when they began and ended, with which key, and in which life', async () => {
      const run = await rig.held({ id: 'r' });
      await rig.journal.advance(run, { intents: [intent(1, 'keyed')] });
      await rig.clock.advance(2_000);
      await rig.journal.advance(run, { outcomes: [{ seq: 1, status: 'failed', outcome: { why: 'no' } }] });

      expect(await rig.journal.steps(alice, 'r')).to.deep.equal([
        {
          ...{ seq: 1, kind: 'tool', key: 'call-1', replay: 'keyed', intent: { n: 1 }, status: 'failed', outcome: { why: 'no' } },
          ...{ startedAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:00:02.000Z', attempt: 1 },
        },
      ]);
      expect(await rig.journal.steps(alice, 'other')).to.deep.equal([]);
    });

    it('keep what an effect says as its outcome, its value when it is empty, and the code of an error with one', async () => {
      const run = await rig.held({ id: 'r' });
      await rig.journal.step(run, intent(1), async () => ({ value: 'plain' }));
      await rig.journal.step(run, intent(2), async () => ({ value: 'big', outcome: null }));
      const refusal = await rig.journal.advance(run, { outcomes: [{ seq: 9, status: 'done', outcome: 1 }] }).then(
        () => new Error('it was not refused'),
        (error: unknown) => error as Error,
      );
      await rig.journal.step(run, intent(3), () => Promise.reject(refusal)).catch(() => undefined);

      const outcomes = (await rig.journal.steps(alice, 'r')).map(({ outcome }) => outcome);
      expect(outcomes.slice(0, 2)).to.deep.equal(['plain', null]);
      expect(outcomes[2]).to.deep.include({ code: 'journal_step_conflict' });
    });

    it('of several claimed runs come with their own run, in order', async () => {
      const runs: LeasedRun[] = [];
      for (const id of ['a', 'b']) {
        const run = await rig.held({ id });
        await rig.journal.advance(run, { intents: [intent(2), intent(1)] });
        runs.push(run);
      }
      for (const run of runs) await rig.journal.release(run);
      await rig.journal.open({ id: 'waiting', kind: 'agent', actor: alice, input: 0, lane: 'x' });

      const claimed = await rig.journal.claim('agent', 5);

      expect(claimed.map(({ id, steps }) => [id, steps.map(({ seq }) => seq)])).to.deep.equal([
        ['a', [1, 2]],
        ['b', [1, 2]],
      ]);
    });
  });

  describe('pruning', () => {
    it('takes what ended before the time and not at it, as many as were asked for, five hundred at most', async () => {
      const runs = await Promise.all(Array.from({ length: 503 }, () => rig.held()));
      await Promise.all(runs.map((run) => rig.finish(run)));
      const at = rig.clock.iso();
      await rig.clock.advance(1);
      await rig.finish(await rig.held({ id: 'later' }));

      expect(await rig.journal.prune(at, 10)).to.equal(0);
      expect(await rig.journal.prune(rig.clock.iso(), 2)).to.equal(2);
      expect(await rig.journal.prune(rig.clock.iso(), 9_999)).to.equal(500);
      expect(await rig.journal.prune(rig.clock.iso(), 9_999)).to.equal(1);
      expect(await ids({ limit: 1_000 })).to.deep.equal(['later']);
    });

    it('takes failed and cancelled runs too, and leaves those that wait or are queued', async () => {
      const failed = await rig.held({ id: 'failed' });
      await rig.journal.advance(failed, { finish: { status: 'failed' } });
      const waiting = await rig.held({ id: 'waiting', lane: 's' });
      await rig.journal.open({ id: 'queued', kind: 'agent', actor: alice, input: 0, lane: 's' });
      const gone = await rig.held({ id: 'gone' });
      await rig.journal.wait(gone, { reason: 'r', wakeKey: 'w2' });
      await rig.journal.cancel(alice, 'gone', { code: 'c', message: 'm' });
      await rig.journal.wait(waiting, { reason: 'r', wakeKey: 'w' });
      await rig.clock.advance(1);

      expect(await rig.journal.prune(rig.clock.iso(), 10)).to.equal(2);
      expect(await ids()).to.have.members(['waiting', 'queued']);
    });

    it('refuses a text that is no time', async () => {
      expect(await codeOf(rig.journal.prune('yesterday', 10))).to.equal('journal_bad_time');
    });
  });

  describe('a cancel', () => {
    it('ends what is queued or waiting, says why, and frees the lane', async () => {
      const run = await rig.held({ id: 'first', lane: 's' });
      await rig.journal.open({ id: 'second', kind: 'agent', actor: alice, input: 0, lane: 's' });
      expect(await rig.journal.cancel(alice, 'second', { code: 'stopped', message: 'Enough.' })).to.equal(true);
      expect(await rig.journal.get(alice, 'second')).to.deep.include({ status: 'cancelled', error: { code: 'stopped', message: 'Enough.' } });
      await rig.finish(run);

      expect(await rig.journal.claim('agent', 5)).to.deep.equal([]);
      expect((await rig.journal.open({ kind: 'agent', actor: alice, input: 0, lane: 's' })).leased).to.not.equal(undefined);
    });

    it('leaves alone what runs, what is over and what is not there', async () => {
      const run = await rig.held({ id: 'r' });
      const why = { code: 'stopped', message: 'Enough.' };
      expect(await rig.journal.cancel(alice, 'r', why)).to.equal(false);
      await rig.finish(run);
      expect(await rig.journal.cancel(alice, 'r', why)).to.equal(false);
      expect(await rig.journal.cancel(alice, 'nobody', why)).to.equal(false);
      expect((await rig.journal.get(alice, 'r'))?.status).to.equal('done');
    });

    it('fails when what stands beside it cannot be written, and the run waits on', async () => {
      const run = await rig.held({ id: 'r' });
      await rig.journal.wait(run, { reason: 'r', wakeKey: 'w' });
      const missing = rig.db.sql("UPDATE journal__runs SET input = 'x' WHERE id = ?", ['nobody'], { expect: 1 });

      expect(await codeOf(rig.journal.cancel(alice, 'r', { code: 'c', message: 'm' }, [missing]))).to.equal('storage_conflict');
      expect(await codeOf(rig.journal.wake(alice, 'w', 'yes', [missing]))).to.equal('storage_conflict');
      expect((await rig.journal.get(alice, 'r'))?.status).to.equal('waiting');
    });
  });
});
