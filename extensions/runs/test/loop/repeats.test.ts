/** Which run answers a request that was sent before. */
import type { JournalRun, RunError } from '@svc/api';
import { expect } from 'chai';
import { alice, bob, type JournalRig, openJournalRig } from '../../../../kernel/platform/test/journal/journal-rig.js';
import { createRepeats, type Repeats } from '../../src/loop/repeats.js';

const LANE = 'session';
const SAME = 'the same request';
const FINAL: RunError = { code: 'llm_provider_rejected', message: 'no', status: 500, retry: false };

describe('the same request again', () => {
  let rig: JournalRig;
  let repeats: Repeats;

  beforeEach(async () => {
    rig = await openJournalRig();
    repeats = createRepeats({ journal: rig.journal, clock: rig.clock });
  });
  afterEach(() => rig.close());

  const begin = (fingerprint = SAME, lane = LANE) => rig.journal.open({ kind: 'agent', actor: alice, lane, fingerprint, input: {} });
  const ended = async (error: RunError | undefined, fingerprint = SAME, lane = LANE): Promise<string> => {
    const { run, leased } = await begin(fingerprint, lane);
    if (!leased) throw new Error('the lane is taken');
    await rig.journal.advance(leased, { finish: error ? { status: 'failed', error } : { status: 'done', result: {} } });
    return run.id;
  };
  const ask = async (isResend = false, actor = alice, sessionId = LANE): Promise<string | undefined> => {
    const found: JournalRun | undefined = await repeats.find(actor, { among: { lane: sessionId }, fingerprint: SAME, isResend });
    return found?.id;
  };

  describe('of a client that says so', () => {
    it('is answered by the newest run it began, whether that goes on, is done or has failed', async () => {
      const first = await ended(undefined);
      expect(await ask(true)).to.equal(first);
      await rig.clock.advance(1);
      const second = await ended({ ...FINAL, retry: true });
      expect(await ask(true)).to.equal(second);
      await rig.clock.advance(1);
      const third = (await begin()).run.id;
      expect(await ask(true)).to.equal(third);
    });

    it('is a new one a quarter of an hour later', async () => {
      const first = await ended(undefined);
      await rig.clock.advance(900_000);
      expect(await ask(true)).to.equal(first);
      await rig.clock.advance(1);
      expect(await ask(true)).to.equal(undefined);
    });

    it('is a new one when the run ended because the client was gone', async () => {
      await ended({ code: 'run_unwatched', message: 'gone', status: 499, retry: true });
      expect(await ask(true)).to.equal(undefined);
    });

    it('is not answered with another request, another session or another person', async () => {
      await ended(undefined, 'another request');
      await ended(undefined, SAME, 'another session');
      expect(await ask(true)).to.equal(undefined);
      expect(await ask(true, alice, 'another session')).to.be.a('string');
      expect(await ask(true, bob, 'another session')).to.equal(undefined);
    });
  });

  describe('of a client that does not say so', () => {
    it('is answered by a failure that a repeat cannot fix, and by nothing else', async () => {
      await ended(undefined);
      await ended({ ...FINAL, retry: true });
      await ended(FINAL, 'another request');
      await ended(FINAL, SAME, 'another session');
      expect(await ask()).to.equal(undefined);
      const failed = await ended(FINAL);
      expect(await ask()).to.equal(failed);
      expect(await ask(false, bob)).to.equal(undefined);
    });

    it('is answered until 65 s after the failure', async () => {
      const failed = await ended(FINAL);
      await rig.clock.advance(64_999);
      expect(await ask()).to.equal(failed);
    });

    it('is asked anew 65 s after a failure that was not repeated meanwhile', async () => {
      await ended(FINAL);
      await rig.clock.advance(65_000);
      expect(await ask()).to.equal(undefined);
    });

    it('is answered for 65 s more by each repetition, and for 130 s at most', async () => {
      const failed = await ended(FINAL);
      for (const ms of [64_000, 64_000, 1_999]) {
        await rig.clock.advance(ms);
        expect(await ask()).to.equal(failed);
      }
      await rig.clock.advance(1);
      expect(await ask()).to.equal(undefined);
    });

    it('is asked anew once somebody has changed something', async () => {
      await ended(FINAL);
      await rig.clock.advance(1);
      repeats.forget();
      expect(await ask()).to.equal(undefined);
      const failed = await ended(FINAL);
      expect(await ask()).to.equal(failed);
    });

    it('is asked anew after a failure of an earlier life of the daemon: who knows what was changed', async () => {
      await ended(FINAL);
      await rig.clock.advance(1);
      repeats = createRepeats({ journal: rig.journal, clock: rig.clock });
      expect(await ask()).to.equal(undefined);
    });
  });

  it('is not told from memory for more than 500 failures: the oldest ends with its 65 s', async function () {
    this.timeout(20_000);
    const ask = (n: number) => repeats.find(alice, { among: { lane: `s${n}` }, fingerprint: SAME, isResend: false });
    for (let n = 0; n <= 500; n++) await ended(FINAL, SAME, `s${n}`);
    await rig.clock.advance(60_000);
    for (let n = 0; n <= 500; n++) await ask(n);
    await rig.clock.advance(6_000);
    expect(await ask(0)).to.equal(undefined);
    expect(await ask(1)).to.not.equal(undefined);
    expect(await ask(500)).to.not.equal(undefined);
  });
});
