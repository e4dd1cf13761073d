import { type ChildProcess, fork } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecOptions } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { createExecAdapter, type ExecAdapter } from '../../src/adapters/child/exec-adapter.js';
import { startTimeOf } from '../../src/adapters/child/process-identity.js';
import { createLog } from '../../src/log/log.js';

const clock = systemClock();

describe('adapters: exec', function () {
  this.timeout(20_000);
  const log = createLog({ dir: null, level: 'info', clock, terminal: false });
  const ownEnv = { ...process.env, OPENAI_API_KEY: 'sk-secret', GITHUB_TOKEN: 'gh-secret', LD_PRELOAD: '/x.so', MY_FLAG: 'yes', MY_TOKEN: 'no' };
  let home: string;
  let policy: Record<string, unknown>;
  let adapter: ExecAdapter;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-exec-'));
    policy = { mode: 'allowlist', allowed_env_vars: [] };
    adapter = createExecAdapter({ config: { get: () => policy }, registerDir: join(home, 'children'), env: ownEnv, clock, log: log.logger('exec') });
  });
  afterEach(async () => {
    await adapter.close();
    await rm(home, { recursive: true, force: true });
  });

  const guardedAdapter = (own: string): ExecAdapter =>
    createExecAdapter({ config: { get: () => policy }, registerDir: join(home, 'children'), env: ownEnv, clock, log: log.logger('exec'), home: own });
  const sh = (script: string, options: Partial<ExecOptions> = {}) => adapter.exec('sh', ['-c', script], { cwd: home, ...options });
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error) => error.code,
    );
  // A process that only waits to be reaped by its new parent has ended.
  const isAlive = async (pid: number): Promise<boolean> => (await startTimeOf(pid)) !== undefined;
  const until = async (fact: () => boolean | Promise<boolean>): Promise<void> => {
    for (let tries = 0; tries < 500 && !(await fact()); tries++) await clock.sleep(10);
    expect(await fact()).to.equal(true);
  };
  const pidIn = async (name: string): Promise<number> => {
    await until(async () => Number(await readFile(join(home, name), 'utf8').catch(() => '')) > 0);
    return Number(await readFile(join(home, name), 'utf8'));
  };

  it('gives status, both outputs and stdin to the program', async () => {
    const result = await sh('cat; echo err >&2; exit 3', { stdin: 'hello' });
    expect(result).to.include({ exitCode: 3, signal: null, stdout: 'hello', stderr: 'err\n', truncated: false, timedOut: false });
  });

  it('hands arguments over as they are', async () => {
    expect((await adapter.exec('printf', ['%s|', '$HOME', 'a b', '*', '"', ';exit'], { cwd: home })).stdout).to.equal('$HOME|a b|*|"|;exit|');
  });

  it('shows a child nothing of our environment but the basics and what is allowed by name', async () => {
    policy.allowed_env_vars = ['MY_*', 'GITHUB_TOKEN'];
    const { stdout } = await adapter.exec('env', [], { cwd: home, env: { ADDED: '1', LD_PRELOAD: '/y.so', SVC_VAULT_KEY: 'k' } });
    const names = stdout.split('\n').map((line) => line.split('=')[0]);
    expect(names).to.include.members(['PATH', 'MY_FLAG', 'ADDED']);
    for (const name of ['OPENAI_API_KEY', 'GITHUB_TOKEN', 'LD_PRELOAD', 'MY_TOKEN', 'SVC_VAULT_KEY']) expect(names).not.to.include(name);
  });

  it('hands the keys of the daemon itself on to nobody, not even by name', async () => {
    policy.allowed_env_vars = ['SVC_*', 'SVC_API_KEY', 'SVC_VAULT_KEY', 'SVC__API_KEY', 'MY_TOKEN'];
    const { stdout } = await adapter.exec('env', [], { cwd: home, env: { SVC_API_KEY: 'k', SVC_RUN: '1' } });
    const names = stdout.split('\n').map((line) => line.split('=')[0]);
    expect(names).to.include.members(['MY_TOKEN', 'SVC_RUN']);
    for (const name of ['SVC_API_KEY', 'SVC_VAULT_KEY', 'SVC__API_KEY']) expect(names).not.to.include(name);
  });

  it('narrows what is allowed by name to what the caller lists', async () => {
    policy.allowed_env_vars = ['MY_FLAG', 'LANGUAGE'];
    const names = async (envNames?: string[]) => (await adapter.exec('env', [], { cwd: home, ...(envNames ? { envNames } : {}) })).stdout;
    expect(await names()).to.include('MY_FLAG=yes');
    expect(await names(['MY_*'])).to.include('MY_FLAG=yes');
    for (const only of [[], ['LANGUAGE'], ['MY_TOKEN']]) expect(await names(only), only.join()).not.to.include('MY_');
  });

  it('X3 lets a caller ask for less time and output than [exec_policy] allows, never for more', async () => {
    policy.timeout_secs = 1;
    policy.max_output_bytes = 10;
    const slow = await sh('printf 123456789012345; sleep 30', { timeoutMs: 60_000, maxOutputBytes: 1_000 });
    expect(slow).to.include({ timedOut: true, stdout: '1234567890', truncated: true });
    policy.timeout_secs = 60;
    expect(await sh('printf 123456789012345; sleep 30', { timeoutMs: 1_000, maxOutputBytes: 5 })).to.include({ timedOut: true, stdout: '12345' });
  });

  it('ends a program that says nothing for too long, and none that goes on talking', async () => {
    expect(await sh('echo on; sleep 30', { idleTimeoutMs: 300 })).to.include({ timedOut: true, stdout: 'on\n' });
    expect(await sh('for i in 1 2 3 4; do sleep 0.2; echo $i >&2; done', { idleTimeoutMs: 1_500 })).to.include({ timedOut: false, exitCode: 0 });
  });

  it('refuses a guarded command that names our own files, another folder of ours or another process, in any spelling', async () => {
    const agent = join(home, 'workspaces', 'a');
    await mkdir(agent, { recursive: true });
    await mkdir(join(home, 'workspaces', 'b'));
    await writeFile(join(home, 'vault.key'), 'k');
    await writeFile(join(agent, 'mine.txt'), 'mine');
    await symlink(join(home, 'vault.key'), join(agent, 'link'));
    await symlink(home, join(agent, 'up'));
    const guarded = guardedAdapter(home);
    const run = (...args: string[]) => codeOf(guarded.exec('cat', args, { cwd: agent, guardsOwnFiles: true }));
    const named = [
      './x/../../../vault.key',
      join(home, 'vault.key'),
      'link',
      'up/vault.key',
      './x/../../../vault.key',
      home,
      '..',
      '../b/x',
      `--file=${home}/vault.key`,
      '--file=../../vault.key',
      `-f${home}/vault.key`,
      '-qF../../vault.key',
      '@../../vault.key',
      `-d=@${home}/vault.key`,
      `file://${home}/vault.key`,
      '../../missing',
      '/proc/1/environ',
      '/proc/self/root/x',
      `/proc/${process.pid}/mem`,
      '/proc/../proc/1/fd',
    ];
    const passed: string[] = [];
    for (const word of named) if ((await run(word)) !== 'exec_own_files') passed.push(word);
    expect(passed).to.deep.equal([]);
    for (const word of ['mine.txt', './mine.txt', join(agent, 'mine.txt'), 'missing.txt', '-n', 'a=b', '/etc/hostname', 'x'.repeat(9_000)]) expect(await run(word), word).to.equal('none');
    await guarded.close();
  });

  it('caps output without stopping the program', async () => {
    const result = await sh('head -c 300000 /dev/zero | tr "\\0" x; echo done >&2', { maxOutputBytes: 1_000 });
    expect(result).to.include({ exitCode: 0, truncated: true, stderr: 'done\n' });
    expect(result.stdout).to.have.length(1_000);
  });

  it('ends the whole tree when time is up, by force where asking does not help', async () => {
    const result = await sh('trap "" TERM; (trap "" TERM; echo $$ > pid; exec sleep 60) & sh -c \'echo $$ > pid2; exec sleep 60\' & wait; wait; sleep 60', { timeoutMs: 300 });
    expect(result).to.include({ timedOut: true, exitCode: null, signal: 'SIGKILL' });
    await until(async () => !(await isAlive(await pidIn('pid'))) && !(await isAlive(await pidIn('pid2'))));
  });

  it('ends what a program leaves behind when it exits', async () => {
    const startMs = clock.mono();
    await sh("sh -c 'echo $$ > pid; exec sleep 60' & while [ ! -s pid ]; do :; done");
    await until(async () => !(await isAlive(await pidIn('pid'))));
    expect(clock.mono() - startMs).to.be.below(5_000);
  });

  it('ends the program when its caller goes away, and all of them at close', async () => {
    const controller = new AbortController();
    const one = codeOf(sh('echo $$ > pid; exec sleep 60', { signal: controller.signal }));
    const pid = await pidIn('pid');
    controller.abort();
    expect(await one).to.equal('exec_cancelled');
    expect(await isAlive(pid)).to.equal(false);
    const two = codeOf(sh('echo $$ > pid2; exec sleep 60'));
    const second = await pidIn('pid2');
    await adapter.close();
    expect([await two, await isAlive(second), await codeOf(sh('true'))]).to.deep.equal(['exec_cancelled', false, 'exec_denied']);
  });

  it('refuses what cannot or may not be started', async () => {
    expect(await codeOf(adapter.exec('no-such-program', [], { cwd: home }))).to.equal('exec_not_found');
    expect(await codeOf(adapter.exec('true', [], { cwd: join(home, 'nowhere') }))).to.equal('exec_bad_cwd');
    expect(await codeOf(adapter.exec('echo', ['a\0b'], { cwd: home }))).to.equal('exec_bad_command');
    policy.mode = 'deny';
    expect(await codeOf(sh('true'))).to.equal('exec_denied');
  });

  it('records a child before it acts and forgets it when it is gone', async () => {
    const seen = await sh('ls children; cat children/*.json', { ownerKey: 'run-7' });
    expect(JSON.parse(seen.stdout.split('\n').slice(1).join('\n'))).to.include({ ownerKey: 'run-7', command: 'sh' });
    expect(await readdir(join(home, 'children'))).to.deep.equal([]);
  });

  it('starts nothing that it could not record', async () => {
    await writeFile(join(home, 'children'), 'a file where the folder should be');
    expect(await codeOf(sh('echo ran > proof'))).to.equal('exec_failed');
    expect(await codeOf(access(join(home, 'proof')))).to.equal('ENOENT');
  });

  it('ends the child of a daemon that was killed, of the asked owner only', async () => {
    const bundle = new URL(import.meta.url);
    const script = join(home, 'daemon.mjs');
    await writeFile(script, `process.env.SVC_EXEC_TEST_HOME = ${JSON.stringify(home)};\nawait import(${JSON.stringify(bundle.href)});`);
    const parent: ChildProcess = fork(script, [], { execArgv: ['--import', `data:text/javascript,globalThis.describe=()=>{}`], env: { ...process.env, SVC_EXEC_TEST_HOME: home } });
    const pid = await pidIn('survivor');
    const gone = new Promise((done) => parent.once('exit', done));
    parent.kill('SIGKILL');
    await gone;
    expect(await isAlive(pid)).to.equal(true);
    expect(await adapter.endSurvivors('another-run')).to.equal(0);
    expect(await isAlive(pid)).to.equal(true);
    expect(await adapter.endSurvivors('run-9')).to.equal(1);
    expect(await isAlive(pid)).to.equal(false);
    expect(await readdir(join(home, 'children'))).to.deep.equal([]);
  });

  it('never ends a process that only has the same number', async () => {
    const running = codeOf(sh('echo $$ > pid; exec sleep 60'));
    const pid = await pidIn('pid');
    const [name = ''] = await readdir(join(home, 'children'));
    // The marks of its tree are its own: a record of another process has others.
    const record = { ...JSON.parse(await readFile(join(home, 'children', name), 'utf8')), mark: '', cgroup: '' };
    await writeFile(join(home, 'children/1.json'), JSON.stringify({ ...record, life: 'earlier', startedAt: '1' }));
    await writeFile(join(home, 'children/2.json'), JSON.stringify({ ...record, life: 'earlier', bootId: 'another boot' }));
    expect(await adapter.endSurvivors()).to.equal(0);
    expect(await isAlive(pid)).to.equal(true);
    expect(await readdir(join(home, 'children'))).to.deep.equal([name]);
    await adapter.close();
    await running;
  });
});

// This file is also the program of the daemon that is killed above: started apart, it runs one child and waits.
if (process.env.SVC_EXEC_TEST_HOME) {
  const home = process.env.SVC_EXEC_TEST_HOME;
  const log = createLog({ dir: null, level: 'error', clock, terminal: false });
  const adapter = createExecAdapter({ config: { get: () => ({ mode: 'full' }) }, registerDir: join(home, 'children'), env: process.env, clock, log: log.logger('exec') });
  await adapter.exec('sh', ['-c', 'echo $$ > survivor; exec sleep 60'], { cwd: home, ownerKey: 'run-9', timeoutMs: 60_000 });
}
