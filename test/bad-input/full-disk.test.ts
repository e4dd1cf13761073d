/** A disk that is full: what cannot be kept is not acknowledged, and nothing that was kept is lost. */
import { expect } from 'chai';
import { filesErrors } from '@svc/platform/adapters/errors';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { mountSmall, OPEN_RATE } from '@svc/testing';
import { until } from '../crash/daemon-life.js';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';
import { expectClear, expectGoesOn } from './aftermath.js';

type Step = Parameters<ModelKernel['kernel']['daemon']['parts']['storage']['migrate']>[1][number];

/**
 * SQLite refuses to grow beyond so many pages, as it does when the disk has none; 1 means "as large as now".
 * Areas cannot send such a statement; a migration of the platform's own can.
 */
const limitPages = (name: string, pages: number): Step => ({ name, up: (m) => m.sql(`PRAGMA max_page_count = ${pages}`) });
const FULL = limitPages('0001_full', 1);
const ROOM = limitPages('0002_room', 1_000_000);

const fillDisk = (svc: ModelKernel) => svc.kernel.daemon.parts.storage.migrate({ id: 'disk', tables: [], isPlatform: true }, [FULL]);
const makeRoom = (svc: ModelKernel) => svc.kernel.daemon.parts.storage.migrate({ id: 'disk', tables: [], isPlatform: true }, [FULL, ROOM]);

describe('with the disk full', () => {
  afterEach(stopModelKernels);

  it('a message is refused as long as it cannot be kept, and the session goes on when there is room again', async () => {
    const svc = await bootWithModel({ text: 'noted '.repeat(2_000) });
    const message = `/api/agents/${svc.agent.id}/message`;
    await svc.http.expect(200, 'POST', message, { message: 'kept before' });
    await fillDisk(svc);
    let refused = await svc.http.post(message, { message: `lost ${'x'.repeat(50_000)}` });
    for (let tries = 0; refused.status === 200 && tries < 20; tries++) refused = await svc.http.post(message, { message: `lost ${'x'.repeat(50_000)}` });
    expectClear(refused, 507, /disk is full.*nothing was written|Free some space/);
    expect((await svc.http.get('/api/health')).status).to.equal(200);
    const spawned = await svc.http.post('/api/agents', { manifest_toml: `name = "big"\ndescription = "${'d'.repeat(20_000)}"\n` });
    expect(spawned.status, spawned.text.slice(0, 200)).to.be.oneOf([400, 507]);
    await makeRoom(svc);
    await expectGoesOn(svc, ['kept before']);
  });

  it('a run that was under way says in its stream that it cannot be saved, and goes on to its answer when there is room again', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answer = 'an answer too large to keep '.repeat(8_000);
    const svc = await bootWithModel(
      async () => {
        await held;
        return { text: answer };
      },
      { config: `${OPEN_RATE}\n[journal]\nsave_patience_secs = 1\n` },
    );
    const reading = svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: 'kept before' }, {}, (event) => event.event === 'error' || event.event === 'done');
    while (svc.model.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await fillDisk(svc);
    release();
    const last = (await reading).at(-1);
    expect(last?.event).to.equal('error');
    expect(last?.data).to.include({ code: 'journal_not_written', status: 503 });
    expect(last?.data.error).to.contain('disk is full');
    await makeRoom(svc);
    expect(await until(async () => (await svc.http.get(`/api/agents/${svc.agent.id}/session`)).text.includes('too large to keep'), 20_000)).to.equal(true);
    await expectGoesOn(svc, ['kept before', answer]);
  });

  it('a key that cannot be kept is refused clearly, and the vault is not blamed for it', async function () {
    // A real file system of a few hundred kilobytes: only root may make one.
    const small = await mountSmall();
    if (!small) {
      Object.assign(this.test ?? {}, { skipReason: 'no tmpfs can be mounted here' });
      return this.skip();
    }
    const { kernel } = await bootWithModel({ text: 'x' }, { home: small.dir });
    try {
      await small.fill();
      for (let time = 0; time < 25; time++) expectClear(await kernel.http.post('/api/providers/openai/key', { api_key: 'sk-0123456789' }), 507, /disk is full[\s\S]*space/);
      expect(kernel.daemon.kernel.extensions().find((one) => one.id === 'vault')).to.include({ state: 'active' });
      await small.empty();
      await kernel.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: 'sk-0123456789' });
    } finally {
      await kernel.stop();
      await small.unmount();
    }
  });

  it('a file the agent writes fails as a tool error that the model reads, and the run goes on', async () => {
    let isFull = true;
    const full = async (path: string): Promise<void> => {
      throw filesErrors.disk_full(path);
    };
    const svc = await bootWithModel([{ toolCalls: [{ name: 'file_write', args: { path: 'a.txt', content: 'hello' } }] }, { text: 'it could not be written' }], {
      factories: {
        openDir: (root) => {
          const wrap = (dir: ReturnType<typeof openDir>): ReturnType<typeof openDir> => ({
            ...dir,
            write: (...args) => (isFull ? full(args[0]) : dir.write(...args)),
            dir: (path) => wrap(dir.dir(path)),
          });
          return wrap(openDir(root));
        },
      },
    });
    const { body } = await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'write it' });
    expect(body.response).to.equal('it could not be written');
    const reported = JSON.stringify(svc.model.requests[1]?.body.messages.at(-1));
    expect(reported).to.contain('disk is full');
    expect(reported).to.not.contain('node:').and.not.contain(svc.kernel.home);
    isFull = false;
    await expectGoesOn(svc, ['write it']);
  });
});
