/** Another process that locks the database file: for some seconds, and for as long as it likes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';
import { until } from '../crash/daemon-life.js';
import { expectClear, expectGoesOn } from './aftermath.js';

/** SQLite itself waits for 5 s. */
const LOCKED_MS = 7_000;
const SETTLED_MS = 30_000;

describe('a database file that another process has locked', function () {
  this.timeout(120_000);
  let other: ChildProcess | undefined;

  afterEach(async () => {
    await unlock();
    await stopModelKernels();
  });

  const lock = async ({ kernel }: ModelKernel): Promise<void> => {
    other = spawn(process.execPath, [join(import.meta.dirname, 'locking.program.js'), join(kernel.home, 'data', 'svc.db')], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [said] = await once(other.stdout ?? other, 'data');
    expect(String(said)).to.equal('locked\n');
  };
  const unlock = async (): Promise<void> => {
    if (!other) return;
    const ended = once(other, 'exit');
    other.stdin?.end();
    other = undefined;
    await ended;
  };
  /** A message whose answer comes when it is let. */
  const asked = async (config = OPEN_RATE) => {
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const svc = await bootWithModel(
      async () => {
        await held;
        return { text: 'the answer' };
      },
      { config },
    );
    const sent = svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'said before' });
    await until(() => svc.model.requests.length > 0, SETTLED_MS);
    return { svc, sent, answer };
  };

  it('delays a run by these seconds and changes nothing else', async () => {
    const { svc, sent, answer } = await asked();
    await lock(svc);
    answer();
    await new Promise((resolve) => setTimeout(resolve, LOCKED_MS));
    await unlock();
    const { status, body } = await sent;
    expect([status, body.response]).to.deep.equal([200, 'the answer']);
    expect(svc.model.requests).to.have.length(1);
    await expectGoesOn(svc, ['said before', 'the answer']);
  });

  it('refuses messages and tells who waits for a run, and the run is answered once the file is free', async () => {
    const { svc, sent, answer } = await asked(`${OPEN_RATE}\n[journal]\nsave_patience_secs = 1\n`);
    await lock(svc);
    answer();
    expectClear(await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'not accepted' }), 503, /Another program has locked/);
    expectClear(await sent, 503, /cannot be saved at the moment.*locked/);
    expect((await svc.http.expect(200, 'GET', '/api/agents')).body.agents).to.have.length(1);
    await unlock();
    expect(await until(async () => (await svc.http.get(`/api/agents/${svc.agent.id}/session`)).text.includes('the answer'), SETTLED_MS)).to.equal(true);
    await expectGoesOn(svc, ['said before', 'the answer']);
    expect((await svc.http.get(`/api/agents/${svc.agent.id}/session`)).text).to.not.contain('not accepted');
  });
});
