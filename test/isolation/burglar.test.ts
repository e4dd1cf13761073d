/** The burglar in a process of its own: it tries what Node and the system offer, and gets nothing. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { wallFault } from '@svc/isolation';
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { disturbances, escapes, sockets } from '@svc/fixtures/burglar/escapes';

const LOOT = 'a secret of the daemon';

describe('the proof of the isolations', function () {
  this.timeout(30_000);
  afterEach(stopTestKernels);

  it('tries to get out of each, and tells what it saw: nothing open, and no certainty about the network without walls', async () => {
    const kernel = await bootTestKernel();
    const [isolated, walled] = await kernel.daemon.kernel.installation.prove();
    expect(isolated).to.include({ isolation: 'isolated', fault: null });
    expect(isolated?.proofs.map(({ what, outcome }) => `${outcome}: ${what}`)).to.deep.equal([
      'kept: read a file of yours',
      'kept: read a file of the system',
      'kept: see whether a file is there',
      'kept: write a file',
      'kept: start a program',
      'kept: start a thread',
      'kept: load native code',
      'kept: load modules that it may not have',
      'not sure: signal the daemon',
      "not sure: open the daemon's inspector",
      "kept: see the daemon's environment",
      'not sure: open a connection',
      'not sure: ask for the address of a name',
    ]);
    expect(walled?.fault).to.equal((await wallFault()) ?? null);
    if (walled?.fault === null) expect([...new Set(walled.proofs.map(({ outcome }) => outcome))]).to.deep.equal(['kept']);
  });
});

describe('what the burglar tries', () => {
  it('is worth something where nothing keeps it: the same text gets its loot in a process of its own without walls', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-house-')));
    await writeFile(join(folder, 'secret.txt'), LOOT);
    const names = [
      'readsASecret',
      'readsASecretByPromise',
      'readsAsBytes',
      'readsByAStream',
      'readsByADescriptor',
      'readsByAFileUrl',
      'readsByADirectory',
      'readsTheEnvironmentOfTheDaemon',
      'seesWhetherAFileIsThere',
      'statsAFile',
    ];
    const more = [
      'startsAProgram',
      'loadsAModuleByTheLoader',
      'importsAModule',
      'asksForABuiltIn',
      'looksWhetherTheDaemonLives',
      'killsByAnotherName',
      'killsByTheRealOne',
      'seesTheEnvironment',
      'seesTheHandles',
      'takesABinding',
      'writesAFile',
    ];
    const program = [...names, ...more].map((name) => `['${name}', async (require, process, ctx, scene) => { ${escapes[name]} }]`);
    const scene = JSON.stringify({ secretFile: join(folder, 'secret.txt'), folder, daemonPid: process.pid, port: 0 });
    const code = `(async () => { for (const [name, attempt] of [${program.join(',')}]) console.log(name, (await attempt(require, process, {}, ${scene}).catch((error) => error)) instanceof Error ? 'nothing' : 'loot'); })()`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '-e', code]);
    expect(stdout.trim().split('\n')).to.deep.equal([...names, ...more].map((name) => `${name} loot`));
    await rm(folder, { recursive: true });
  });
});

for (const isolation of ['isolated', 'walled'] as const) {
  describe(`the burglar, ${isolation}`, function () {
    this.timeout(30_000);
    let kernel: TestKernel;
    let folder: string;
    let server: Server;
    let scene: Record<string, unknown>;

    before(async function () {
      const fault = isolation === 'walled' ? await wallFault() : undefined;
      if (fault !== undefined) {
        console.log(`  (not tried: ${fault})`);
        this.skip();
      }
      folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-house-')));
      server = createServer((_req, res) => res.end('welcome'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      await writeFile(join(folder, 'secret.txt'), LOOT);
      const table = Object.entries({ ...escapes, ...sockets, ...disturbances }).map(([name, body]) => `${name}: async (require, process, ctx, scene) => { ${body} },`);
      const one = await thirdParty({
        id: 'acme-burglar',
        isolation,
        before: `const attempts = { ${table.join('\n')} };`,
        activate: `ctx.routes.add(api.defineRoute({ id: 'tryIt', method: 'POST', path: '/api/acme/try', summary: 'Tries', auth: 'bearer', permission: 'acme.write', cost: 1, body: api.Type.Object({ name: api.Type.String(), scene: api.Type.Any() }), responses: { 200: api.Type.Any(), 400: api.ErrorBody },
          handler: async ({ body: { name, scene } }) => {
            try { return api.reply(200, { got: await attempts[name](require, process, ctx, scene) ?? null }); }
            catch (error) { return api.reply(200, { error: String(error.code ?? error.name) + ': ' + error.message }); }
          } }));`,
      });
      kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["acme-burglar"]`, thirdParties: [one], env: { SECRET_OF_THE_DAEMON: LOOT } });
      scene = { secretFile: join(folder, 'secret.txt'), folder, daemonPid: process.pid, port: (server.address() as AddressInfo).port, own: join(one.folder, 'dist/index.js') };
    });
    after(async () => {
      server?.close();
      await stopTestKernels();
      await removeThirdParties();
      if (folder) await rm(folder, { recursive: true, force: true });
    });

    const attempt = async (name: string): Promise<{ got?: unknown; error?: string }> => (await kernel.http.expect(200, 'POST', '/api/acme/try', { name, scene })).body;

    it('runs, and says so', async () => {
      expect(kernel.daemon.kernel.extensions().find(({ id }) => id === 'acme-burglar')?.state).to.equal('active');
    });

    for (const name of Object.keys(escapes)) {
      it(`gets nothing: ${name}`, async () => {
        const { got, error } = await attempt(name);
        expect(got ?? null, error).to.equal(null);
      });
    }

    for (const name of Object.keys(sockets)) {
      it(`finds no socket in plain sight: ${name}`, async () => {
        const { got, error } = await attempt(name);
        expect(got ?? null, error).to.equal(null);
      });
    }

    it('finds the daemon as it was, when it speaks past the channel: its process alone is ended', async () => {
      const { body, status } = await kernel.http.send('POST', '/api/acme/try', JSON.stringify({ name: 'speaksPastTheChannel', scene }));
      expect([status, body.code]).to.deep.equal([503, 'isolation_frame_size']);
    });

    it('leaves nothing behind, and the daemon alive', async () => {
      expect(await readdir(folder)).to.deep.equal(['secret.txt']);
      expect((await kernel.http.get('/api/health')).status).to.equal(200);
    });
  });
}
