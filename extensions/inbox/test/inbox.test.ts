/** The inbox folder and what waits, over HTTP. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { keyOf, person } from '@svc/test/page/callers';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

describe('inbox', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let folder = '';
  before(async () => {
    world = await bootWithModel(undefined, { config: `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('alice', 'user')}[inbox]\nenabled = true\npoll_interval_secs = 1\n`, key: keyOf('root') });
    folder = (await status()).directory;
    await mkdir(folder, { recursive: true });
  });
  after(() => stopModelKernels());
  const status = async (http = world.http) => (await http.expect(200, 'GET', '/api/inbox/status')).body;
  const asked = (words: string): number => world.model.requests.filter(({ body }) => JSON.stringify(body).includes(words)).length;

  it('I1 I2 I4 makes one message of a file, and moves it', async () => {
    await writeFile(join(folder, 'note.txt'), `agent:${world.agent.name}\n/new is no command here`);
    await until(async () => (await status()).processed_count === 1);
    await until(async () => asked('/new is no command here') > 0);
    await until(async () => (await readdir(folder)).join() === 'processed');
    expect(await readdir(join(folder, 'processed'))).to.deep.equal(['note.txt']);
    expect(asked('/new is no command here')).to.equal(1);
    const [run] = (await world.http.expect(200, 'GET', '/api/tasks/list')).body.tasks;
    expect(run).to.deep.include({ channel: 'inbox', title: '/new is no command here' });
  });

  it('I3 leaves what is no text, too large, or for nobody, and says why', async () => {
    await writeFile(join(folder, 'picture.png'), Buffer.from([0x89, 0x50, 0xff, 0x00]));
    await writeFile(join(folder, 'big.txt'), 'x'.repeat(1_048_577));
    await writeFile(join(folder, 'lost.txt'), 'agent:nobody-here\nhello');
    await until(async () => (await status()).skipped.length === 3);
    const { skipped, pending_count: pending, sources, total } = await status();
    expect(Object.fromEntries(skipped.map(({ name, reason }: { name: string; reason: string }) => [name, reason]))).to.deep.equal({
      'picture.png': 'it is no text in UTF-8',
      'big.txt': 'it has 1048577 bytes; 1048576 at most',
      'lost.txt': 'There is no agent "nobody-here".',
    });
    expect([pending, sources.files]).to.deep.equal([0, 0]);
    expect(total).to.equal(sources.files + sources.approvals + sources.tasks);
  });

  it('counts the files for the owner of the daemon alone, and tasks for each person', async () => {
    const alice = world.kernel.as(keyOf('alice'));
    await alice.expect(200, 'POST', '/api/comms/task', { title: 'hers' });
    expect(await status(alice)).to.deep.include({ directory: '', pending_count: 0, processed_count: 0, skipped: [], sources: { files: 0, approvals: 0, tasks: 1 }, total: 1 });
  });
});
