/** A process that was silent for too long has lost its run to another one: whatever it still brings must change nothing. */
import { createJournal } from '@svc/platform/journal/journal';
import { journalOwner } from '@svc/platform/journal/rows/journal-migrations';
import { OWNER, OPEN_RATE, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';
import type { ScriptedAnswer } from '@svc/fixtures/providers/scripted-server';

describe('a run whose lease was lost', () => {
  let model: HeldServer;

  beforeEach(async () => {
    model = await startHeldServer();
  });

  afterEach(async () => {
    await stopTestKernels();
    await model.close();
  });

  /** Another process on the same database, as the journal of the second replica would be. */
  const otherJournal = ({ daemon: { parts } }: TestKernel) =>
    createJournal({
      db: parts.storage.dbFor(journalOwner),
      nowSql: parts.storage.nowSql,
      clock: parts.clock,
      ids: parts.ids,
      log: parts.log.logger('other'),
      instanceId: 'the-other-one',
      soleWriter: true,
    });

  /** Resolves when the daemon drives nothing any more. */
  const idle = async (kernel: TestKernel): Promise<void> => {
    for (let tries = 0; tries < 500; tries++) {
      if ((await kernel.http.get('/api/metrics')).text.match(/^svc_runs_active\S* (\d+)/m)?.[1] === '0') return;
    }
    throw new Error('the daemon went on driving a run that is not its own');
  };

  const loseWhileAsking = async (answer: ScriptedAnswer) => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}${model.config}`, env: model.env });
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    const said: string[] = [];
    const stream = kernel.http.events('POST', `/api/agents/${agent}/message/stream`, { message: 'hello' }, {}, (event) => said.push(event.event) > 0 && event.event === 'done').catch(() => undefined);
    const asked = await model.asked();
    const journal = otherJournal(kernel);
    const [taken] = await journal.claim('agent', 1);
    if (!taken) throw new Error('the other process found no run');

    asked.answer(answer);
    await idle(kernel);

    const { body: session } = await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`);
    return { kernel, journal, taken, session, said, stream };
  };

  for (const [what, answer] of [
    ['its answer', { text: 'too late' }],
    ['its failure', { status: 400, message: 'no such thing' }],
  ] as const) {
    it(`stores nothing of ${what}, tells nobody that it ended, and lets the other process end it`, async () => {
      const { kernel, journal, taken, session, said, stream } = await loseWhileAsking(answer);

      expect((await journal.get(OWNER, taken.id))?.status).to.equal('running');
      expect(JSON.stringify(session)).to.not.contain('too late').and.not.contain('failed');
      expect(kernel.daemon.parts.streams.here(taken.id)?.ended).to.equal(false);
      expect(said).to.not.include.members(['error']);

      await journal.advance(taken, { finish: { status: 'done', result: null } });
      expect((await journal.get(OWNER, taken.id))?.status).to.equal('done');
      await journal.close();
      await kernel.stop();
      await stream;
    });
  }
});
