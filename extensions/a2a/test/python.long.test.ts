/** The SDK from PyPI, both ways: its client asks this daemon, and this daemon asks its server. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

const KEY = 'a2a-python-key';
const NAME = 'echo-of-python';
const program = (name: string): string => resolve(`extensions/a2a/test/${name}.py`);

describe('a2a-sdk from PyPI', function () {
  this.timeout(60_000);
  // A Python that has a2a-sdk[http-server] and uvicorn.
  const python = process.env.A2A_PYTHON;
  let world: ModelKernel;
  before(async function () {
    if (python === undefined) {
      for (const test of this.test?.parent?.tests ?? []) Object.assign(test, { skipReason: 'no Python with a2a-sdk here (A2A_PYTHON names it)' });
      this.skip();
    }
    world = await bootWithModel(undefined, { config: `api_key = "${KEY}"\n${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n`, key: KEY });
  });
  after(stopModelKernels);

  it('asks, follows a stream, reads the task, and is refused the cancel of what has ended', async () => {
    world.model.beginAnew([{ text: 'Good day' }, { text: 'Good night' }]);
    const { stdout } = await promisify(execFile)(python ?? '', [program('python_client'), world.kernel.url, KEY]);
    const { whole, stream, got, cancel } = JSON.parse(stdout);
    expect(whole).to.deep.include({ state: 'TASK_STATE_COMPLETED', said: 'Good day' });
    expect(stream).to.deep.include({ state: 'TASK_STATE_COMPLETED', said: 'Good night' });
    expect([got, cancel]).to.deep.equal(['TASK_STATE_COMPLETED', 'TaskNotCancelableError']);
  });

  it('is found by its card, and answers', async () => {
    const child = spawn(python ?? '', [program('python_server'), NAME], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [piece] = await once(child.stdout, 'data');
      const url = `http://127.0.0.1:${String(piece).trim()}`;
      // It prints its port before it accepts.
      for (let tries = 0; tries < 50 && !(await fetch(url).catch(() => undefined)); tries += 1) await new Promise((done) => setTimeout(done, 100));
      const { body: found } = await world.http.expect(200, 'POST', '/api/a2a/discover', { url });
      expect(found).to.include({ name: NAME });
      const { body: task } = await world.http.expect(200, 'POST', '/api/a2a/send', { agent_id: found.id, message: 'anybody there?' });
      expect(task.status).to.equal('completed');
      expect(task.result.parts[0].text).to.equal('you said: anybody there?');
    } finally {
      child.kill();
      await once(child, 'close');
    }
  });
});
