/** The process of an extension ends with the daemon, however that ends, and has its lower priority from its first instruction on. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type ThirdPartySpec } from '@svc/testing';
import { expect } from 'chai';
import { endDaemons, newHome, packaged, startDaemon, until } from './real-daemon.js';

const ID = 'acme-deaf';
const ROUTES = `ctx.routes.add(
  api.defineRoute({ id: 'loop', method: 'POST', path: '/api/acme-deaf/loop', summary: 'Never ends', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async () => { for (;;); } }),
  api.defineRoute({ id: 'calm', method: 'POST', path: '/api/acme-deaf/calm', summary: 'Answers', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async () => api.reply(200, {}) }),
);`;
const deaf: ThirdPartySpec = { id: ID, activate: ROUTES };

const statOf = async (pid: number): Promise<string[] | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
};
const isAlive = async (pid: number): Promise<boolean> => !['Z', undefined].includes((await statOf(pid))?.[0]);
/** The process and all that descend from it. */
const familyOf = async (pid: number): Promise<number[]> => {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')));
  const pids = children.join(' ').split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(pids.map(familyOf))).flat()];
};

describe('the process of an extension', function () {
  this.timeout(120_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });
  afterEach(async () => {
    await endDaemons();
    await stopTestKernels();
    await removeThirdParties();
  });

  for (const isolation of ['isolated', 'walled'] as const) {
    it(`${isolation}: is gone soon after the daemon was killed, although it loops and hears nothing`, async function () {
      if (isolation === 'walled' && (await wallFault()) !== undefined) this.skip();
      const home = await newHome(`[extensions]\nthird_party = "any"\nisolation = "${isolation}"\n`);
      const daemon = await startDaemon(home);
      await daemon.http().expect(200, 'POST', '/api/extensions/install', { path: await packaged(deaf), grants: 'all', enable: true });
      await daemon.http().expect(200, 'POST', '/api/acme-deaf/calm');
      const { body } = await daemon.http().expect(200, 'GET', `/api/extensions/${ID}`);
      const family = await familyOf(Number(body.process.pid));
      expect(await readdir(join(home, 'data/children')).catch(() => readdir(join(home, 'data'))), 'it is recorded for the next start').to.satisfy((names: string[]) =>
        names.some((name) => name.startsWith(`${body.process.pid}-`)),
      );
      const looping = daemon
        .http()
        .post('/api/acme-deaf/loop')
        .catch(() => undefined);
      await sleep(500);
      daemon.process.kill('SIGKILL');
      await daemon.gone;
      await looping;
      await until(async () => !(await Promise.all(family.map(isAlive))).includes(true), 10_000);
    });

    it(`${isolation}: it and all that belongs to it have the lower priority, each of ten times, and go first when memory is short`, async function () {
      if (isolation === 'walled' && (await wallFault()) !== undefined) this.skip();
      const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n`, thirdParties: [await thirdParty({ ...deaf, isolation })] });
      for (let times = 0; times < 10; times++) {
        await kernel.http.expect(200, 'POST', '/api/acme-deaf/calm');
        const pid = Number(kernel.daemon.kernel.extensions().find(({ id }) => id === ID)?.process?.pid);
        expect(pid, 'of the generation that serves').to.be.greaterThan(1);
        for (const one of await familyOf(pid)) {
          expect(Number((await statOf(one))?.[16]), `nice of ${one}`).to.be.at.least(10);
          expect(Number(await readFile(`/proc/${one}/oom_score_adj`, 'utf8'))).to.equal(1_000);
          // Where Linux shares its processors between sessions, that of a process alone says nothing.
          expect(await readFile(`/proc/${one}/autogroup`, 'utf8').catch(() => 'no sessions, nice 10'), `session of ${one}`).to.match(/nice 10$/m);
        }
        await kernel.daemon.kernel.reload(ID);
      }
    });
  }
});
