import { fork } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ChildHandle, SpawnOptions } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { createExecAdapter, type ExecAdapter } from '../../src/adapters/child/exec-adapter.js';
import { startTimeOf } from '../../src/adapters/child/process-identity.js';
import { createLog } from '../../src/log/log.js';

const clock = systemClock();
const MIB = 1_048_576;

describe('adapters: children that live on', function () {
  this.timeout(30_000);
  const log = createLog({ dir: null, level: 'info', clock, terminal: false });
  let home: string;
  let policy: Record<string, unknown>;
  let adapter: ExecAdapter;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-spawn-'));
    policy = { mode: 'allowlist', allowed_env_vars: [] };
    adapter = adapterOf();
  });
  afterEach(async () => {
    await adapter.close();
    await rm(home, { recursive: true, force: true });
  });

  const adapterOf = (): ExecAdapter =>
    createExecAdapter({
      config: { get: () => policy },
      registerDir: join(home, 'children'),
      env: { ...process.env, GITHUB_TOKEN: 'gh-secret', SVC_VAULT_KEY: 'k' },
      clock,
      log: log.logger('exec'),
      home,
    });
  const sh = (script: string, options: Partial<SpawnOptions> = {}, owner = 'mcp') => adapter.spawn(owner, 'sh', ['-c', script], { cwd: home, ...options });
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error: { code: string }) => error.code,
    );
  const textOf = async (source: AsyncIterable<Uint8Array>): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of source) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  const nextLine = async (lines: AsyncIterator<Uint8Array>): Promise<string> => {
    const { value } = await lines.next();
    return Buffer.from(value ?? '')
      .toString()
      .trim();
  };
  const until = async (fact: () => boolean | Promise<boolean>, what: string): Promise<void> => {
    for (let tries = 0; tries < 1_000 && !(await fact()); tries++) await clock.sleep(10);
    expect(await fact(), what).to.equal(true);
  };
  const isAlive = async (pid: number): Promise<boolean> => (await startTimeOf(pid)) !== undefined;

  it('Y1 are spoken to over their pipes for as long as they live', async () => {
    const child = await sh('while read line; do echo "got $line"; echo "saw $line" >&2; done; exit 7');
    const lines = child.stdout[Symbol.asyncIterator]();
    for (const word of ['one', 'two']) {
      await child.stdin.write(`${word}\n`);
      expect(await nextLine(lines)).to.equal(`got ${word}`);
    }
    child.stdin.end();
    expect(await child.exit).to.deep.equal({ exitCode: 7, signal: null, why: 'exit' });
    expect(await textOf(child.stderr)).to.equal('saw one\nsaw two\n');
    expect(await codeOf(child.stdin.write('three'))).to.equal('exec_stdin_closed');
  });

  it('Y3 can be read to their last byte after they are gone, and close their pipes though nobody reads', async () => {
    const child = await sh('echo out; echo err >&2');
    await child.exit;
    expect(await textOf(child.stdout)).to.equal('out\n');
    expect(await textOf(child.stderr)).to.equal('err\n');
  });

  it('Y2 wait while nobody reads, and lose nothing', async () => {
    const child = await sh(`head -c ${8 * MIB} /dev/zero; echo done > ready`);
    await until(async () => (await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => '')).includes(' S '), 'the child sleeps in its write');
    expect(await readdir(home)).not.to.include('ready');
    let bytes = 0;
    for await (const piece of child.stdout) bytes += piece.byteLength;
    expect(bytes).to.equal(8 * MIB);
    expect((await child.exit).exitCode).to.equal(0);
  });

  it('Y2 are not held up by a reader that leaves the loop, nor by an output that is dropped', async () => {
    const left = await sh(`head -c ${4 * MIB} /dev/zero`);
    for await (const piece of left.stdout) if (piece.byteLength > 0) break;
    expect((await left.exit).exitCode).to.equal(0);
    const dropped = await sh(`head -c ${4 * MIB} /dev/zero >&2`, { stderr: 'drop' });
    expect((await dropped.exit).exitCode).to.equal(0);
    expect(await textOf(dropped.stderr)).to.equal('');
  });

  it('Y2 refuse input beyond what may wait', async () => {
    const child = await sh('sleep 60');
    const writes = Array.from({ length: 12 }, () => codeOf(child.stdin.write(Buffer.alloc(MIB / 4))));
    await child.kill();
    const codes = await Promise.all(writes);
    expect(codes).to.include('exec_stdin_closed');
    expect(codes.at(-1)).to.equal('exec_stdin_full');
  });

  it('Y1 end with their whole tree, by TERM and then by KILL, and leave no record', async () => {
    const child = await sh('trap "" TERM; sh -c \'trap "" TERM; echo $$; sleep 60\' & wait; sleep 60');
    const grandchild = Number(await nextLine(child.stdout[Symbol.asyncIterator]()));
    expect(await isAlive(grandchild)).to.equal(true);
    expect((await readdir(join(home, 'children'))).length).to.equal(1);
    expect(await child.kill()).to.deep.equal({ exitCode: null, signal: 'SIGKILL', why: 'ended' });
    await until(async () => !(await isAlive(grandchild)), 'the grandchild is gone');
    expect(await readdir(join(home, 'children'))).to.deep.equal([]);
  });

  it('end when their signal aborts, when they are silent too long, and with the adapter', async () => {
    const controller = new AbortController();
    const aborted = await sh('sleep 60', { signal: controller.signal });
    controller.abort();
    expect(await aborted.exit).to.include({ why: 'ended' });
    const silent = await sh('echo once; sleep 60', { idleTimeoutMs: 200 });
    expect(await textOf(silent.stdout)).to.equal('once\n');
    expect(await silent.exit).to.include({ why: 'idle' });
    const last = await sh('sleep 60');
    await adapter.close();
    expect(await last.exit).to.include({ why: 'ended' });
    expect(await codeOf(sh('true'))).to.equal('exec_denied');
  });

  it('end when their time is over, or the operator’s, which holds for those that have a time at all', async () => {
    expect(await (await sh('sleep 60', { timeoutMs: 100 })).exit).to.include({ why: 'timeout' });
    policy = { ...policy, timeout_secs: 1 };
    const limited = await sh('sleep 60', { timeoutMs: 60_000 });
    const endless = await sh('sleep 60');
    expect(await limited.exit).to.include({ why: 'timeout' });
    expect(await isAlive(endless.pid)).to.equal(true);
    // One that heeds no signal is silent while it is ended: that is not why.
    const deaf = await sh('trap "" TERM; while :; do sleep 0.2; done', { timeoutMs: 100, idleTimeoutMs: 2_000 });
    expect(await deaf.exit).to.include({ why: 'timeout' });
  });

  it('see nothing of our environment but the basics, and obey [exec_policy] and the rail around own files', async () => {
    const child = await adapter.spawn('mcp', 'env', [], { cwd: home, env: { ADDED: '1', LD_PRELOAD: '/y.so' } });
    const names = (await textOf(child.stdout)).split('\n').map((line) => line.split('=')[0]);
    expect(names).to.include.members(['PATH', 'ADDED']);
    for (const name of ['GITHUB_TOKEN', 'SVC_VAULT_KEY', 'LD_PRELOAD']) expect(names).not.to.include(name);
    expect(await codeOf(adapter.spawn('mcp', 'cat', [join(home, 'config.toml')], { cwd: '/usr', guardsOwnFiles: true }))).to.equal('exec_own_files');
    expect(await codeOf(adapter.spawn('mcp', 'no-such-program', [], { cwd: home }))).to.equal('exec_not_found');
    expect(await codeOf(adapter.spawn('mcp', 'sh', [], { cwd: join(home, 'none') }))).to.equal('exec_bad_cwd');
    policy.mode = 'deny';
    expect(await codeOf(sh('true'))).to.equal('exec_denied');
  });

  it('Y1 are limited in number, of one extension', async () => {
    const children: ChildHandle[] = [];
    for (let count = 0; count < 16; count++) children.push(await sh('sleep 60'));
    expect(await codeOf(sh('sleep 60'))).to.equal('exec_busy');
    const other = await sh('true', {}, 'other');
    await other.exit;
    await children[0]?.kill();
    expect(await codeOf(sh('true'))).to.equal('none');
  });

  it('that outlived a killed daemon are ended by the next one', async () => {
    const daemon = fork(fileURLToPath(import.meta.url), [], {
      execArgv: ['--import', 'data:text/javascript,globalThis.describe=()=>{}'],
      env: { ...process.env, SVC_SPAWN_TEST_HOME: home },
      silent: true,
    });
    await until(async () => Number(await readFile(join(home, 'survivor'), 'utf8').catch(() => '')) > 0, 'the child runs');
    const pid = Number(await readFile(join(home, 'survivor'), 'utf8'));
    daemon.kill('SIGKILL');
    await until(() => daemon.signalCode === 'SIGKILL', 'the daemon is gone');
    expect(await isAlive(pid)).to.equal(true);
    expect(await adapter.endSurvivors('mcp')).to.equal(1);
    expect(await isAlive(pid)).to.equal(false);
  });
});

// This file is also the program of the daemon that is killed above: started apart, it keeps one child and waits.
if (process.env.SVC_SPAWN_TEST_HOME) {
  const home = process.env.SVC_SPAWN_TEST_HOME;
  const log = createLog({ dir: null, level: 'error', clock, terminal: false });
  const adapter = createExecAdapter({ config: { get: () => ({ mode: 'full' }) }, registerDir: join(home, 'children'), env: process.env, clock, log: log.logger('exec') });
  const child = await adapter.spawn('mcp', 'sh', ['-c', 'echo $$ > survivor; exec sleep 60'], { cwd: home });
  // Its pipes alone keep no process alive.
  setInterval(() => child.pid, 1_000);
}
