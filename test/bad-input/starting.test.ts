/** A start that cannot succeed: one message that says what, why and what to do; no stack, and nothing is left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../conformance/operations.js';

const DAEMON = join(ROOT, 'dist', 'daemon', 'main.js');
const NOBODY_ID = 65_534;

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly ready: Promise<string>;
  readonly ended: Promise<Ended>;
}

/** Runs the daemon as a person would; `ready` gives its address, `ended` what it said in the end. */
const start = (env: Record<string, string>, user: { uid?: number; gid?: number } = {}): Started => {
  const child = spawn(process.execPath, [...process.execArgv, DAEMON, '--foreground'], { env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), NO_COLOR: '1', ...env }, ...user });
  let said = '';
  let notifyReady: (url: string) => void = () => undefined;
  const ready = new Promise<string>((resolve) => {
    notifyReady = resolve;
  });
  const receive = (data: Buffer) => {
    said += data.toString();
    const url = /address\s+(http:\S+)/.exec(said)?.[1];
    if (url) notifyReady(url);
  };
  child.stdout.on('data', receive);
  child.stderr.on('data', receive);
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, said })));
  return { child, ready, ended };
};

describe('a start', function () {
  this.timeout(20_000);
  let home: string;
  let taken: Server;
  let port: number;
  const children: ChildProcess[] = [];

  const run = (env: Record<string, string>, user: { uid?: number; gid?: number } = {}): Started => {
    const started = start({ SVC_HOME: home, ...env }, user);
    children.push(started.child);
    return started;
  };
  const refused = async (env: Record<string, string>, says: RegExp, user: { uid?: number; gid?: number } = {}): Promise<void> => {
    const { code, said } = await run(env, user).ended;
    expect(code, said).to.equal(1);
    expect(said).to.match(says);
    expect(said, 'a stack or internals').to.not.match(/\bat \S+ \(|\.js:\d+|node:internal|SQLITE_|Error:/);
    // What happened, and what to do about it.
    expect(
      said
        .trim()
        .split('\n')
        .filter((line) => !/ info | warn /.test(line)).length,
      said,
    ).to.be.at.least(2);
  };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-start-'));
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    ({ port } = taken.address() as AddressInfo);
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await new Promise((resolve) => taken.close(resolve));
    await chmod(home, 0o700);
    await rm(home, { recursive: true, force: true });
  });

  const freePort = async (): Promise<string> => {
    await new Promise((resolve) => taken.close(resolve));
    return String(port);
  };

  it('on a port in use names the port and how to choose another, and leaves no lock', async () => {
    await refused({ SVC_PORT: String(port) }, new RegExp(`Port ${port} .*in use[\\s\\S]*SVC_PORT`));
    expect(await readdir(home)).to.not.include.members(['daemon.lock']);
    const { child, ready } = run({ SVC_PORT: await freePort() });
    expect(await ready).to.contain(String(port));
    child.kill('SIGTERM');
  });

  for (const value of ['0', '99999', 'abc', '-1', '80.5', '65536']) it(`with SVC_PORT=${value} says which ports there are`, () => refused({ SVC_PORT: value }, /SVC_PORT must be .*1.*65535.*got/));

  it('in a home that another daemon uses names that daemon; the first goes on', async () => {
    const first = run({ SVC_PORT: await freePort() });
    const url = await first.ready;
    await refused({ SVC_PORT: '4699' }, new RegExp(`process ${first.child.pid}.*${url}[\\s\\S]*svc stop`));
    expect((await fetch(`${url}/api/health`)).status).to.equal(200);
    first.child.kill('SIGTERM');
    expect((await first.ended).code).to.equal(0);
  });

  it('in a home that cannot be written says which, and what to do', async () => {
    const asNobody = process.getuid?.() === 0 ? { uid: NOBODY_ID, gid: NOBODY_ID } : {};
    await chmod(home, 0o555);
    await refused({ SVC_PORT: await freePort() }, /home folder .* cannot be written[\s\S]*SVC_HOME/, asNobody);
    await chmod(home, 0o777);
    await mkdir(join(home, 'data'));
    await chmod(join(home, 'data'), 0o555);
    await refused({ SVC_PORT: String(port) }, /cannot be (opened|written)[\s\S]*(write|writable)/, asNobody);
  });

  it('with a stale lock in a home that cannot be written says that it is stale and what to do', async () => {
    const asNobody = process.getuid?.() === 0 ? { uid: NOBODY_ID, gid: NOBODY_ID } : {};
    await writeFile(join(home, 'daemon.lock'), JSON.stringify({ pid: 999_999_999, startedAt: '1', bootId: 'x' }));
    await chmod(home, 0o555);
    await refused({ SVC_PORT: await freePort() }, /daemon\.lock is left over from an earlier daemon[\s\S]*writable/, asNobody);
  });

  it('with a folder where its lock should be says so, and leaves the folder', async () => {
    await mkdir(join(home, 'daemon.lock'));
    await refused({ SVC_PORT: await freePort() }, /daemon\.lock is a folder[\s\S]*Move it away/);
    expect(await readdir(home)).to.include('daemon.lock');
  });

  it('in a home whose name is longer than a name can be says so', async () => {
    await refused({ SVC_HOME: join(home, 'n'.repeat(300)), SVC_PORT: await freePort() }, /has \d+ characters[\s\S]*shorter/);
  });

  it('in a home that is a file says so', async () => {
    const file = join(home, 'a-file');
    await writeFile(file, 'x');
    await refused({ SVC_HOME: file, SVC_PORT: await freePort() }, /home folder .*a-file/);
  });

  it('with a database that is none names the file and the reason, and does not touch it', async () => {
    await mkdir(join(home, 'data'));
    await writeFile(join(home, 'data', 'svc.db'), 'this is a shopping list, not a database. '.repeat(100));
    await refused({ SVC_PORT: await freePort() }, /svc\.db cannot be opened: the file is not a database/);
  });

  it('open to the network without a key is refused', async () => {
    await writeFile(join(home, 'config.toml'), '[api]\nlisten_addr = "0.0.0.0:4545"\n');
    await refused({ SVC_PORT: await freePort() }, /can be reached from other machines, and no API key[\s\S]*api_key/);
  });

  it('with a config full of mistakes succeeds, and shows each with its line', async () => {
    await writeFile(join(home, 'config.toml'), '[api]\nrate_limit_per_secnd = 5\n[llm]\nmax_retries = "many"\n');
    const { child, ready, ended } = run({ SVC_PORT: await freePort() });
    await ready;
    child.kill('SIGTERM');
    const { said, code } = await ended;
    expect(code).to.equal(0);
    expect(said).to.match(/config\.toml:2:.*Did you mean "rate_limit_per_second"/);
    expect(said).to.match(/config\.toml:4:.*max_retries/);
  });
});
