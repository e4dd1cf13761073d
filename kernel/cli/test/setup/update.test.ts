/** `svc update`: a checkout that moves forward with its remote, or stays as it was. The checkout is a small one with a remote of its own. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '@svc/testing/free-port';
import { expect } from 'chai';
import type { Cli } from '../../src/cli.js';
import { updateHere } from '../../src/commands/update.js';
import { createDaemonClient } from '../../src/daemon/daemon-client.js';
import type { Failure } from '../../src/failure.js';
import { createSettings } from '../../src/settings.js';
import { createTerminal } from '../../src/terminal/terminal.js';
import { isCheckout, type Newer, openCheckout } from '../../src/update/checkout.js';
import { type Bench, createBench, ROOT } from '../program.js';

const LOCK = { name: 'svc', version: '0.1.0', lockfileVersion: 3, requires: true, packages: { '': { name: 'svc', version: '0.1.0' } } };

describe('svc update', function () {
  this.timeout(120_000);
  let dir: string;
  let remote: string;
  let root: string;
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b.c', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b.c' };
  const git = (folder: string, ...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { env: { ...env, HOME: dir }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

  /** A commit of the remote whose build writes its version into dist, or fails. */
  const release = (version: string, build = `node -e "require('fs').mkdirSync('dist',{recursive:true});require('fs').writeFileSync('dist/version','${version}')"`): void => {
    writeFileSync(path.join(remote, 'package.json'), JSON.stringify({ name: 'svc', version, scripts: { build } }));
    writeFileSync(path.join(remote, 'package-lock.json'), JSON.stringify({ ...LOCK, version, packages: { '': { name: 'svc', version } } }));
    writeFileSync(path.join(remote, '.gitignore'), 'dist\nnode_modules*\n');
    git(remote, 'add', '-A');
    git(remote, 'commit', '-q', '-m', `version ${version}`);
  };
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'svc-update-'));
    [remote, root] = [path.join(dir, 'remote'), path.join(dir, 'checkout')];
    mkdirSync(remote);
    git(remote, 'init', '-q', '-b', 'main');
    release('0.1.0');
    git(dir, 'clone', '-q', remote, root);
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const checkout = () => openCheckout(root, { ...env, HOME: dir });
  const failureOf = (work: Promise<unknown>): Promise<Failure> =>
    work.then(
      () => expect.fail('it did not fail'),
      (error: Failure) => error,
    );
  const installed = async (verify: () => Promise<void> = async () => undefined): Promise<{ newer: Newer; steps: string[] }> => {
    const [newer, steps] = [await checkout().look(), [] as string[]];
    await checkout().install(newer, { onStep: (step) => steps.push(step), verify });
    return { newer, steps };
  };

  it('says that nothing is newer, and how far and by what it is behind', async () => {
    expect(await checkout().look()).to.deep.include({ behind: 0, changes: [], blocked: null });
    release('0.2.0');
    release('0.3.0');
    const newer = await checkout().look();
    expect([newer.behind, newer.current.version, newer.latest.version]).to.deep.equal([2, '0.1.0', '0.3.0']);
    expect(newer.changes).to.deep.equal(['version 0.3.0', 'version 0.2.0']);
    expect(git(root, 'rev-parse', 'HEAD'), 'a look moves nothing').to.equal(newer.current.commit);
  });

  it('moves forward, builds, and verifies what it built', async () => {
    release('0.2.0');
    let seen = '';
    const { steps } = await installed(async () => {
      seen = readFileSync(path.join(root, 'dist/version'), 'utf8');
    });
    expect([seen, steps]).to.deep.equal(['0.2.0', ['updating the checkout', 'installing packages', 'building', 'verifying']]);
    expect(git(root, 'rev-parse', 'HEAD')).to.equal(git(remote, 'rev-parse', 'HEAD'));
  });

  it('goes back, built as it was, when the new version cannot be built or does not work with the data', async () => {
    const before = git(root, 'rev-parse', 'HEAD');
    release('0.2.0', 'exit 7');
    expect((await failureOf(installed())).code).to.equal('cli_update_failed');
    release('0.3.0');
    const failure = await failureOf(installed(() => Promise.reject(new Error('the migration fails'))));
    expect([failure.code, failure.why]).to.deep.equal(['cli_update_failed', 'the migration fails']);
    expect([git(root, 'rev-parse', 'HEAD'), readFileSync(path.join(root, 'dist/version'), 'utf8')]).to.deep.equal([before, '0.1.0']);
  });

  it('is blocked by files that were changed, and by commits of its own, and says what to do', async () => {
    release('0.2.0');
    writeFileSync(path.join(root, '.gitignore'), 'mine');
    expect((await checkout().look()).blocked?.why).to.contain('.gitignore');
    git(root, 'commit', '-q', '-a', '-m', 'mine');
    expect((await checkout().look()).blocked).to.deep.equal({ why: 'the checkout has 1 commits that origin/main does not have', fix: `git -C ${root} rebase origin/main` });
  });

  it('says so when the remote cannot be reached, and when there is none', async () => {
    rmSync(remote, { recursive: true });
    expect((await failureOf(checkout().look())).code).to.equal('cli_update_offline');
    git(root, 'branch', '--unset-upstream');
    expect((await failureOf(checkout().look())).code).to.equal('cli_update_no_remote');
    expect([isCheckout(root), isCheckout(dir), existsSync(root)]).to.deep.equal([true, false, true]);
  });

  describe('beside a daemon that runs', () => {
    let bench: Bench;
    let said: Array<{ status: string; backup: string | null; steps?: string[] }>;
    beforeEach(async () => {
      bench = createBench(await freePort());
      said = [];
      // The program is the real one; what the remote changes is beside it.
      symlinkSync(path.join(ROOT, 'dist'), path.join(root, 'dist'));
    });
    afterEach(async () => {
      await bench.stopStarted();
      bench.clean();
    });
    const built = (version: string): string => `node -e "require('fs').writeFileSync('node_modules.built','${version}')"`;
    const cli = (): Cli => {
      const settings = createSettings({}, { ...bench.env, ...env });
      const out = { ...createTerminal(true), json: (value: unknown) => void said.push(value as (typeof said)[number]), note: () => undefined };
      return { settings, out, json: true, yes: true, distDir: path.join(root, 'dist'), daemon: async () => createDaemonClient({ url: await settings.url(), apiKey: settings.apiKey }) };
    };
    const pid = (): number => (JSON.parse(readFileSync(path.join(bench.home, 'daemon.json'), 'utf8')) as { pid: number }).pid;

    it('changes nothing without --restart; with it backs up, tries the new version on the backup, and starts the daemon again, also after a failure', async () => {
      expect((await bench.run(['start'])).code).to.equal(0);
      const before = pid();
      release('0.2.0', built('0.2.0'));
      expect(await updateHere(cli(), { dryRun: true })).to.equal(0);
      expect(said.at(-1)?.steps?.[0]).to.equal('stop the daemon (needs --restart)');
      expect((await failureOf(updateHere(cli(), {}))).code).to.equal('cli_update_daemon_runs');
      expect([pid(), existsSync(path.join(bench.home, 'backups'))]).to.deep.equal([before, false]);

      expect(await updateHere(cli(), { restart: true })).to.equal(0);
      expect(said.at(-1)?.status).to.equal('updated');
      expect(existsSync(said.at(-1)?.backup ?? '')).to.equal(true);
      expect(readFileSync(path.join(root, 'node_modules.built'), 'utf8')).to.equal('0.2.0');
      const after = pid();
      expect([after === before, (await bench.run(['status'])).code]).to.deep.equal([false, 0]);

      release('0.3.0', 'exit 1');
      expect((await failureOf(updateHere(cli(), { restart: true }))).code).to.equal('cli_update_failed');
      expect([pid() === after, (await bench.run(['status'])).code]).to.deep.equal([false, 0]);
    });
  });
});
