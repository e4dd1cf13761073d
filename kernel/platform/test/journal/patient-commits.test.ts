/** Progress of a run through a database that cannot be written for a while (C1 to C3 of patient-commits.ts). */
import { describeOnEngines } from '@svc/testing/postgres/engines';
import type { LeasedRun } from '@svc/api';
import { expect } from 'chai';
import { storageErrors } from '../../src/storage/contract/errors.js';
import { codeOf, type JournalRig, openJournalRig } from './journal-rig.js';

describeOnEngines('journal commits of a held run', (engine) => {
  let rig: JournalRig;
  let run: LeasedRun;

  beforeEach(async () => {
    rig = await openJournalRig(engine);
    run = await rig.held();
  });
  afterEach(() => rig.close());

  const intent = { seq: 1, kind: 'tool', key: 'call-1', replay: 'never' as const, intent: {} };
  const stepsNow = () => rig.db.system('a test').read<{ seq: number; status: string }>('SELECT seq, status FROM journal__steps ORDER BY seq', []);
  const statusNow = async () => (await rig.db.system('a test').readOne<{ status: string }>('SELECT status FROM journal__runs WHERE id = ?', [run.id]))?.status;
  /** Commits of this run are refused so many times. */
  const refuse = (times: number, error: () => Error): void => {
    let left = times;
    rig.breakCommits(() => {
      if (left === 0) return false;
      left -= 1;
      throw error();
    });
  };
  /** Lets time pass until the work is over. */
  const whileTimePasses = async <T>(work: Promise<T>, stepMs = 500): Promise<T> => {
    let isOver = false;
    const settled = work.finally(() => {
      isOver = true;
    });
    settled.catch(() => undefined); // it is awaited below
    while (!isOver) await rig.pass(stepMs);
    return settled;
  };

  for (const [why, error] of [
    ['a full disk', () => storageErrors.full()],
    ['a lock of another program', () => storageErrors.busy()],
    ['a server that is away', () => storageErrors.unreachable('a server', 'nothing answers at this address')],
  ] as const)
    it(`are made once ${why} has passed`, async () => {
      refuse(3, error);
      await whileTimePasses(rig.journal.advance(run, { intents: [intent] }));
      expect(await stepsNow()).to.deep.equal([{ seq: 1, status: 'intent' }]);
      expect(rig.logged.filter((line) => line.includes('could not be saved'))).to.have.length(1);
    });

  describe('that took effect without saying so', () => {
    const loseOne = (): void => {
      let isLost = false;
      rig.loseAnswers(() => {
        const loses = !isLost;
        isLost = true;
        return loses;
      });
    };

    it('are not made twice: an outcome stands once, with the rows beside it', async () => {
      await rig.journal.advance(run, { intents: [intent] });
      loseOne();
      const also = [rig.db.sql("UPDATE journal__runs SET subject = COALESCE(subject, '') || 'x' WHERE id = ?", [run.id])];
      await whileTimePasses(rig.journal.advance(run, { outcomes: [{ seq: 1, status: 'done', outcome: 42 }], also }));
      expect(await stepsNow()).to.deep.equal([{ seq: 1, status: 'done' }]);
      expect(await rig.db.system('a test').readOne('SELECT subject FROM journal__runs WHERE id = ?', [run.id])).to.deep.equal({ subject: 'x' });
    });

    it('are told apart from the one before in the same millisecond', async () => {
      await rig.journal.advance(run, { intents: [intent] });
      refuse(1, () => storageErrors.io());
      await whileTimePasses(rig.journal.advance(run, { outcomes: [{ seq: 1, status: 'done', outcome: 42 }] }));
      expect(await stepsNow()).to.deep.equal([{ seq: 1, status: 'done' }]);
    });

    it('end the run, or let it sleep, once', async () => {
      loseOne();
      await whileTimePasses(rig.finish(run));
      expect(await statusNow()).to.equal('done');
      run = await rig.held();
      loseOne();
      await whileTimePasses(rig.journal.wait(run, { reason: 'a person', wakeKey: 'k', data: null }));
      expect(await statusNow()).to.equal('waiting');
    });
  });

  it('are given up after their time, with the reason, and the run goes on from its last step', async () => {
    await rig.journal.advance(run, { intents: [intent] });
    rig.breakCommits(() => {
      throw storageErrors.full();
    });
    const error = await whileTimePasses(
      rig.journal.advance(run, { finish: { status: 'done' } }).then(
        () => undefined,
        (failure: { code: string; message: string }) => failure,
      ),
      5_000,
    );
    expect(error?.code).to.equal('journal_not_written');
    expect(error?.message).to.contain('disk is full');
    await rig.journal.release(run);
    rig.breakCommits(() => false);
    await rig.pass(30_000, 10_000);
    const [again] = await rig.journal.claim('agent', 1);
    expect([again?.id, again?.attempt, again?.steps.map(({ status }) => status)]).to.deep.equal([run.id, 2, ['intent']]);
  });

  it('are not tried again once somebody else holds the run', async () => {
    rig.breakCommits(() => {
      throw storageErrors.busy();
    });
    const advancing = codeOf(rig.journal.advance(run, { intents: [intent] }));
    await rig.spoil(`UPDATE journal__runs SET lease_owner = 'another', lease_token = lease_token + 1 WHERE id = '${run.id}'`);
    rig.breakCommits(() => false);
    expect(await whileTimePasses(advancing)).to.equal('journal_lease_lost');
    expect(await stepsNow()).to.deep.equal([]);
  });
});
