/** What runs is what was installed: a file that was changed on this machine is refused by name each time it would be loaded, and an older version does not come by accident. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSvcError } from '@svc/api';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, type ThirdPartySpec, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { packaged, until } from './real-daemon.js';

const ID = 'acme-honest';
const honest = (version: string): ThirdPartySpec => ({
  id: ID,
  version,
  activate: `ctx.routes.add(api.defineRoute({ id: 'say', method: 'GET', path: '/api/acme-honest/say', summary: 'Says', auth: 'bearer', permission: 'acme.read', cost: 1, responses: { 200: api.Type.Any() }, handler: async () => api.reply(200, { says: 'honest' }) }));`,
});
const refusal = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => ({ code: 'nothing', message: '' }),
    (error: unknown) =>
      isSvcError(error) ? { code: error.code, message: error.message } : { code: error instanceof Error && isSvcError(error.cause) ? error.cause.code : 'another', message: String(error) },
  );

describe('an installed extension', function () {
  this.timeout(60_000);
  afterEach(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });
  const boot = async (isolation: string): Promise<TestKernel> => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nthird_party = "any"\nisolation = "${isolation}"\n` });
    await kernel.daemon.kernel.installation.install({ source: await packaged(honest('1.0.0')), enable: true });
    return kernel;
  };
  const alter = async (kernel: TestKernel): Promise<void> => {
    const [record] = JSON.parse(await readFile(join(kernel.home, 'data/extensions/installed.json'), 'utf8')).extensions;
    const bundle = join(kernel.home, 'data/extensions', record.folder, 'dist/index.js');
    const text = await readFile(bundle, 'utf8');
    await chmod(bundle, 0o644);
    await writeFile(bundle, text.replace("says: 'honest'", "says: 'altered'"));
  };
  const says = async (kernel: TestKernel) => (await kernel.http.get('/api/acme-honest/say')).body;
  const statusOf = (kernel: TestKernel) => kernel.daemon.kernel.extensions().find(({ id }) => id === ID);

  for (const isolation of ['isolated', 'walled'])
    it(`${isolation}: whose file was changed on the disk does not run by a reload, nor when its process begins again`, async function () {
      if (isolation === 'walled' && (await wallFault()) !== undefined) this.skip();
      const kernel = await boot(isolation);
      expect(await says(kernel)).to.deep.equal({ says: 'honest' });
      await alter(kernel);
      expect((await refusal(kernel.daemon.kernel.reload(ID))).message).to.contain(`${ID} was modified after it was signed or installed`);
      expect(await says(kernel), 'what ran goes on').to.deep.equal({ says: 'honest' });

      const pid = Number(statusOf(kernel)?.process?.pid);
      process.kill(pid, 'SIGKILL');
      await until(async () => (await says(kernel)).code === 'isolation_modified');
      await kernel.daemon.kernel.disable(ID);
      const { reason, state } = await kernel.daemon.kernel.enable(ID);
      expect([state, reason?.includes('was modified after it was signed or installed')]).to.deep.equal(['failed', true]);
    });

  it('is not replaced by an older version, unless somebody says that they mean it', async () => {
    const kernel = await boot('isolated');
    const { installation } = kernel.daemon.kernel;
    await installation.upgrade(ID, { source: await packaged(honest('1.1.0')) });
    const older = await packaged(honest('1.0.5'));
    const { code, message } = await refusal(installation.upgrade(ID, { source: older }));
    expect([code, message.includes('1.1.0'), message.includes('1.0.5 is older')]).to.deep.equal(['install_downgrade', true, true]);
    expect(statusOf(kernel)?.version).to.equal('1.1.0');
    expect((await installation.upgrade(ID, { source: older, downgrade: true })).extension.version).to.equal('1.0.5');
  });

  it('in a folder that is changed while it is looked at is not taken', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nthird_party = "any"\n` });
    const folder = await packaged(honest('1.0.0'));
    let isOver = false;
    const writing = (async () => {
      for (let n = 0; !isOver; n++) await writeFile(join(folder, 'dist/more.js'), `// ${n}`);
    })();
    const codes = new Set<string>();
    for (let tries = 0; tries < 50 && !codes.has('install_changing'); tries++) {
      codes.add((await refusal(kernel.daemon.kernel.installation.install({ source: folder, link: true }))).code);
      await kernel.daemon.kernel.installation.uninstall(ID, { purge: false }).catch(() => undefined);
    }
    isOver = true;
    await writing;
    expect([...codes]).to.contain('install_changing');
  });
});
