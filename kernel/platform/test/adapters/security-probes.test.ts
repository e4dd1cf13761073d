/** Each probe of the adapters sees the real adapter hold, and says so of one that does not. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dir, ExecResult } from '@svc/api';
import { expect } from 'chai';
import { createExecAdapter, type ExecAdapter } from '../../src/adapters/child/exec-adapter.js';
import { lookAtSandbox } from '../../src/adapters/child/sandbox-probe.js';
import { lookAtAddresses } from '../../src/adapters/fetch/address-probe.js';
import { createFetchAdapter } from '../../src/adapters/fetch/fetch-adapter.js';
import { openDir } from '../../src/adapters/files/files-adapter.js';
import { lookAtPaths } from '../../src/adapters/files/path-probe.js';
import { systemClock } from '../../src/clock/clock.js';
import { createLog } from '../../src/log/log.js';

const clock = systemClock();
const OWN_PORT = 4_545;

describe('probes of the adapters', function () {
  this.timeout(20_000);
  const log = createLog({ dir: null, level: 'info', clock, terminal: false });
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-probes-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  describe('of addresses', () => {
    const lookAllowing = async (...terms: Array<string | Readonly<Record<string, string>>>) => {
      const allowed = terms.filter((one) => typeof one === 'string');
      const env = Object.assign({}, ...terms.filter((one) => typeof one !== 'string')) as Readonly<Record<string, string>>;
      const adapter = createFetchAdapter({
        config: { get: (section) => (section === 'web' ? { fetch: { ssrf_allowed_hosts: allowed } } : undefined) },
        env,
        secrets: { resolve: async () => undefined },
        clock,
        log: log.logger('fetch'),
        isModelUrl: () => false,
        ownPort: () => OWN_PORT,
      });
      return lookAtAddresses(adapter, `http://127.0.0.1:${OWN_PORT}/`);
    };

    it('see that nothing private can be fetched', async () => {
      expect(await lookAllowing()).to.deep.equal({
        state: 'active',
        detail: '31 addresses of this machine, private networks and cloud metadata were refused in all their forms; a public one was not.',
      });
    });

    it('say that a proxy looks up names, and still see that literal addresses are refused', async () => {
      const { state, detail } = await lookAllowing({ http_proxy: 'http://proxy.test:3128' });
      expect(state).to.equal('degraded');
      expect(detail).to.contain('Requests leave through the proxy http://proxy.test:3128 (http_proxy), which looks up names');
    });

    it('name what a setting opens, and that metadata and the daemon itself stay closed', async () => {
      const { state, detail } = await lookAllowing('0.0.0.0/0', '::/0', '*.probe.invalid', 'localhost', 'metadata.google.internal', '169.254.169.254');
      expect([state, detail]).to.deep.equal([
        'degraded',
        'A tool can fetch http://127.0.0.1/, http://2130706433/, http://0x7f000001/ and 16 more: [web.fetch] ssrf_allowed_hosts opens 19 of 19 private addresses. Cloud metadata stays refused.',
      ]);
    });

    it('fail where metadata can be fetched, and where nothing can', async () => {
      const broken = await lookAtAddresses({ proxyOf: () => undefined, refusal: async (url) => (url.includes('169.254') ? undefined : 'no') }, 'http://127.0.0.1:1/');
      expect(broken).to.deep.include({ state: 'failed', detail: 'A tool could fetch http://169.254.169.254/latest/meta-data/, http://[::ffff:169.254.169.254]/, which no setting may open.' });
      expect(await lookAtAddresses({ proxyOf: () => undefined, refusal: async () => 'the policy is not loaded' }, 'http://127.0.0.1:1/')).to.deep.include({
        state: 'failed',
        detail: 'A public address was refused: the policy is not loaded',
      });
    });
  });

  describe('of paths', () => {
    it('see that nothing leaves a folder, and leave nothing behind', async () => {
      const { state, detail } = await lookAtPaths(openDir, folder);
      expect([state, detail.split(' ')[0], await readdir(folder)]).to.deep.equal(['active', '10', []]);
    });

    it('name each way that leads out, and leave nothing behind', async () => {
      // Reads what a link or a path leads to.
      const naive = (root: string): Dir => ({ ...openDir(root), readText: (path) => readFile(path.startsWith('/') || path.includes('\0') ? path : join(root, path), 'utf8') });
      const look = await lookAtPaths(naive, folder).catch((error: Error) => error.message);
      // The NUL is refused by Node, not by us: an error of the platform is no refusal.
      expect(look).to.be.a('string').and.contain('null bytes');
      const linked = (root: string): Dir => ({
        ...openDir(root),
        readText: (path) => (path.includes('\0') ? openDir(root).readText(path) : readFile(path.startsWith('/') ? path : join(root, path), 'utf8')),
      });
      expect(await lookAtPaths(linked, folder)).to.deep.equal({
        state: 'failed',
        detail: 'These left the folder: reading with "..", reading with ".." further down, an absolute path, reading through a link, a linked folder.',
      });
      expect(await readdir(folder)).to.deep.equal([]);
    });
  });

  describe('of commands', () => {
    const env = { ...process.env, PROBE_SECRET: 'a secret of the daemon' };
    const adapterWith = (settings: Readonly<Record<string, unknown>>, more: { unsandboxed?: string[]; noBubblewrap?: boolean } = {}): ExecAdapter =>
      createExecAdapter({
        config: { get: (section) => settings[section] },
        registerDir: join(folder, 'data', 'children'),
        home: folder,
        env,
        clock,
        log: log.logger('exec'),
        beforeUnsandboxed: async (what) => void more.unsandboxed?.push(what),
        ...(more.noBubblewrap ? { findBubblewrap: async () => undefined } : {}),
      });
    const look = async (adapter: Pick<ExecAdapter, 'exec' | 'sandbox'>, allowed: readonly string[] = []) => lookAtSandbox({ adapter, env, allowed, folder });

    it('see that a command gets neither a file outside, nor a network, nor the environment', async function () {
      const adapter = adapterWith({});
      if (!(await adapter.sandbox()).isOn) {
        await adapter.close();
        Object.assign(this.test ?? {}, { skipReason: 'no sandbox here; the next test says what is seen without one' });
        return this.skip();
      }
      const { state, detail } = await look(adapter);
      expect([state, detail.replace(/\d+/, 'N')]).to.deep.equal([
        'active',
        "A command in the sandbox could not read or change a file outside of its workspace, and had no network. Its environment had N variables, none of the daemon's own.",
      ]);
      await adapter.close();
    });

    it('say degraded without bubblewrap, and begin nothing that an agent would begin', async () => {
      const unsandboxed: string[] = [];
      const adapter = adapterWith({}, { noBubblewrap: true, unsandboxed });
      const { state, detail } = await look(adapter);
      expect([state, unsandboxed]).to.deep.equal(['degraded', []]);
      expect(detail).to.match(/^Its environment had \d+ variables, none of the daemon's own\. But commands of agents run without a sandbox/);
      await adapter.close();
    });

    it('say active where nobody may start anything', async () => {
      const adapter = adapterWith({ exec_policy: { mode: 'deny' } });
      expect(await look(adapter)).to.deep.equal({ state: 'active', detail: 'No program can be started: [exec_policy] mode is "deny".' });
      await adapter.close();
    });

    it('fail where the command sees a file outside, a network, or a variable of the daemon', async () => {
      const got = (stdout: string) => look({ sandbox: async () => ({ isOn: true }), exec: async () => ({ exitCode: 0, stdout, stderr: '' }) as ExecResult });
      expect((await got('a file outside of the workspace\n')).detail).to.contain('the text of a file outside of its workspace');
      expect((await got("  eth0: 1 2 3\n    lo: 0 0\nexport PROBE_SECRET='a secret of the daemon'\nexport LD_PRELOAD='/x'\n")).detail).to.equal(
        'A command got what it may not have: the variable PROBE_SECRET, the variable LD_PRELOAD, the network eth0.',
      );
      const allowed = await look({ sandbox: async () => ({ isOn: true }), exec: async () => ({ exitCode: 0, stdout: "export PROBE_SECRET='a secret of the daemon'\n", stderr: '' }) as ExecResult }, [
        'PROBE_*',
      ]);
      expect(allowed.state).to.equal('active');
      const late = await look({ sandbox: async () => ({ isOn: true }), exec: async () => ({ exitCode: null, timedOut: true, stdout: '', stderr: '' }) as unknown as ExecResult });
      expect(late).to.deep.equal({ state: 'failed', detail: 'The command of the check did not run (too slow): ' });
    });
  });
});
