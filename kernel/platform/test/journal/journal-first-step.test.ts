/** A run that begins at once: accepted and begun in one commit, or accepted alone. */
import type { FirstStep, LeasedRun } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { type JournalRig, alice, codeOf, openJournalRig } from './journal-rig.js';

describeOnEngines('a run that begins with its first step', (engine) => {
  let rig: JournalRig;
  let commits: string[][];

  beforeEach(async () => {
    rig = await openJournalRig(engine);
    commits = [];
    rig.breakCommits((writes) => {
      commits.push(writes.map(rig.textOf));
      return false;
    });
  });

  afterEach(() => rig.close());

  const SPEC = { seq: 1, kind: 'model', key: 'r:1', replay: 'safe', intent: { ask: 1 } } as const;
  const request = (id: string, more: object = {}) => ({ id, kind: 'agent', actor: alice, input: { parts: ['long'] }, lane: 's1', ...more });
  const open = (id: string, first: (run: LeasedRun) => Promise<FirstStep | undefined>, more: object = {}) => rig.journal.open(request(id, more), [], first);
  const rowOf = async (id: string) => {
    const run = await rig.journal.get(alice, id);
    return [run?.status, run?.input, (await rig.journal.steps(alice, id)).map(({ kind, status }) => `${kind} ${status}`)];
  };

  it('is one commit: the row with its new input, the intent, and what belongs to it', async () => {
    let asked: LeasedRun | undefined;
    const opened = await open('r', async (run) => {
      asked = run;
      expect(await rig.journal.get(alice, 'r'), 'nothing stands before the commit').to.equal(undefined);
      return { intents: [SPEC], input: { moved: true } };
    });

    expect(commits).to.have.length(1);
    expect(opened).to.include({ hasBegun: true, replayed: false });
    expect(opened.leased, 'the run that was asked about is the run that is driven').to.equal(asked);
    expect(await rowOf('r')).to.deep.equal(['running', { moved: true }, ['model intent']]);
    await rig.journal.advance(opened.leased as LeasedRun, { outcomes: [{ seq: 1, status: 'done', outcome: 'ok' }], finish: { status: 'done' } });
    expect(await rowOf('r')).to.deep.equal(['done', { moved: true }, ['model done']]);
  });

  for (const [how, first] of [
    ['has none', async () => undefined],
    ['cannot be found', () => Promise.reject(new Error('no idea'))],
  ] as const) {
    it(`is accepted without one that ${how}`, async () => {
      const opened = await open('r', first);
      expect([opened.hasBegun, opened.leased?.token]).to.deep.equal([false, 1]);
      expect(await rowOf('r')).to.deep.equal(['running', { parts: ['long'] }, []]);
    });
  }

  it('is accepted without one that no longer fits, and nothing of it is kept', async () => {
    const opened = await open('r', async () => ({ intents: [SPEC], input: {}, also: [rig.db.sql("UPDATE journal__runs SET kind = kind WHERE id = 'nobody'", [], { expect: 1 })] }));
    expect([opened.hasBegun, opened.leased !== undefined]).to.deep.equal([false, true]);
    expect(await rowOf('r')).to.deep.equal(['running', { parts: ['long'] }, []]);
  });

  it('is not accepted where nothing can be written, and leaves its lane free', async () => {
    rig.breakCommits(() => true);
    expect(await codeOf(open('r', async () => ({ intents: [SPEC] })))).to.equal('Error: the disk is full');
    rig.breakCommits(() => false);
    expect((await open('next', async () => undefined)).leased?.id).to.equal('next');
  });

  it('asks for none where the run has to wait its turn', async () => {
    await open('a', async () => undefined);
    let isAsked = false;
    const opened = await open('b', async () => {
      isAsked = true;
      return undefined;
    });
    expect([isAsked, opened.leased, opened.run.status]).to.deep.equal([false, undefined, 'queued']);
  });

  it('keeps its place before one that came while its first step was looked for', async () => {
    const opened = await open('a', async () => {
      expect((await open('b', async () => undefined)).run.status).to.equal('queued');
      return { intents: [SPEC] };
    });
    expect(opened).to.include({ hasBegun: true });
    expect(await rig.journal.claim('agent', 5), 'b waits for it').to.deep.equal([]);
    await rig.journal.advance(opened.leased as LeasedRun, { finish: { status: 'done' } });
    expect((await rig.journal.claim('agent', 5)).map(({ id }) => id)).to.deep.equal(['b']);
  });

  it('answers a key that was used meanwhile with that run, and holds nothing', async () => {
    const key = { key: 'k', fingerprint: 'f' };
    const opened = await open(
      'late',
      async () => {
        await open('early', async () => undefined, { ...key, lane: 's2' });
        return { intents: [SPEC] };
      },
      key,
    );
    expect([opened.replayed, opened.run.id, opened.leased]).to.deep.equal([true, 'early', undefined]);
    expect(await rig.journal.get(alice, 'late')).to.equal(undefined);
    expect((await open('next', async () => undefined)).leased?.id, 'its lane is free again').to.equal('next');
  });

  it('begins its step again in the next life', async () => {
    await open('r', async () => ({ intents: [SPEC] }));
    const [again] = await rig.another().claim('agent', 5);
    expect([again?.id, again?.attempt, again?.steps.map(({ seq, status }) => [seq, status])]).to.deep.equal(['r', 2, [[1, 'intent']]]);
  });
});
