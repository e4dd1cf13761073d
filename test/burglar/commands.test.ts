/** Commands of agents try to get out of their sandbox: none gets what is planted around it, and the same texts get it where there is none. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttp } from 'node:http';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecResult } from '@svc/api';
import { systemClock } from '@svc/platform/clock/clock';
import { createExecAdapter, type ExecAdapter } from '@svc/platform/adapters/child/exec-adapter';
import { expect } from 'chai';
import { escapes } from '@svc/fixtures/escapes/index';

const FEWEST = 60;
const CANARY = `CANARY-${process.pid}-${Math.random().toString(36).slice(2)}`;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const MB = 1024 * 1024;

describe('a command of an agent', function () {
  this.timeout(60_000);
  let root: string;
  let home: string;
  let run: string;
  let daemon: ChildProcess;
  const servers: Server[] = [];
  let marks: Readonly<Record<string, string>>;
  let settings: Record<string, unknown> = { sandbox: 'required' };
  let adapter: ExecAdapter;
  let asked = 0;

  before(async function () {
    root = await realpath(await mkdtemp(join(tmpdir(), 'svc-escapes-')));
    home = join(root, 'home');
    run = existsSync('/run') && process.getuid?.() === 0 ? await mkdtemp('/run/svc-escapes-') : await mkdtemp(join(root, 'run-'));
    for (const folder of ['data/workspaces/own', 'data/workspaces/other', 'workspaces/other']) await mkdir(join(home, folder), { recursive: true });
    for (const file of [join(home, 'config.toml'), join(home, 'data/config.toml'), join(home, 'vault.enc'), join(home, 'data/workspaces/other/secret.txt'), join(run, 'canary')])
      await writeFile(file, CANARY);
    await writeFile(join(home, 'NAMED-CANARY'), '');
    const env = { PATH: process.env.PATH, SECRET: CANARY };
    daemon = spawn('/bin/bash', ['-c', `exec 9<config.toml; exec -a ${CANARY} sleep 600`], { cwd: home, env, detached: true, stdio: 'ignore' });
    const say = createServer((socket) => {
      asked += 1;
      socket.on('error', () => undefined).end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${CANARY.length}\r\n\r\n${CANARY}`);
    });
    const plain = createServer((socket) => void socket.on('error', () => undefined).end(CANARY));
    const other = createServer((socket) => void socket.on('error', () => undefined).end(`HTTP/1.1 200 OK\r\nContent-Length: ${CANARY.length}\r\n\r\n${CANARY}`));
    servers.push(say, plain, other);
    await new Promise<void>((done) => say.listen(0, '::', done));
    await new Promise<void>((done) => plain.listen(`\0${CANARY}`, done));
    await new Promise<void>((done) => other.listen(join(home, 's'), done));
    const lan = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    marks = {
      HOME: home,
      OTHER: join(home, 'data/workspaces/other'),
      PID: String(daemon.pid),
      PORT: String((say.address() as AddressInfo).port), // listening, so it has one
      LAN: lan ?? '127.0.0.1',
      SOCKET: join(home, 's'),
      ABSTRACT: CANARY,
      RUN: run,
      WS: join(home, 'data/workspaces/own'),
    };
    adapter = createExecAdapter({
      config: { get: (section) => (section === 'tools' ? settings : { mode: 'allowlist' }) },
      registerDir: join(home, 'data/children'),
      env: process.env,
      clock: systemClock(),
      log: { ...silent, child: () => silent } as never,
      home,
    });
    const sandbox = await adapter.sandbox();
    // Elsewhere `svc doctor` says why there is none, and kernel/sandbox tests that.
    if (!sandbox.isOn) this.skip();
  });
  after(async () => {
    await adapter?.close();
    for (const server of servers) server.close();
    daemon?.kill('SIGKILL');
    await Promise.all([root, run].map((folder) => folder && rm(folder, { recursive: true, force: true })));
  });
  beforeEach(() => {
    settings = { sandbox: 'required' };
  });

  const workspace = async (name = 'own'): Promise<string> => {
    const folder = join(home, 'data/workspaces', name);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    return folder;
  };
  const sh = (text: string, cwd: string, timeoutMs = 10_000): Promise<ExecResult> =>
    adapter.exec('/bin/sh', ['-c', text.replaceAll(/@([A-Z]+)/g, (all, name: string) => marks[name] ?? all)], { cwd, timeoutMs, agent: { hosts: [], mounts: [] } });
  /** What came of it: its output, and what it left in its workspace. */
  const gotten = async (text: string, cwd: string): Promise<string> => {
    const { stdout, stderr } = await sh(text, cwd);
    const left = await Promise.all((await readdir(cwd, { withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => readFile(join(cwd, entry.name), 'latin1')));
    // What the shell says of the words it was given is no loot.
    return [stdout, ...left].join('\n').slice(0, 100_000) + (stderr.includes(CANARY) && !text.includes('@ABSTRACT') ? stderr : '');
  };

  it(`tries at least ${FEWEST} ways out`, () => expect(Object.keys(escapes).length).to.be.at.least(FEWEST));

  for (const [name, { text }] of Object.entries(escapes)) {
    it(`gets nothing: ${name}`, async () => {
      const before = asked;
      expect(await gotten(text, await workspace())).to.not.match(/CANARY/);
      expect(asked).to.equal(before);
      expect([await readFile(join(home, 'config.toml'), 'utf8'), await readdir(join(home, 'data/workspaces/other'))]).to.deep.equal([CANARY, ['secret.txt']]);
      expect(daemon.exitCode ?? daemon.signalCode).to.equal(null);
    });
  }

  describe('without the sandbox', () => {
    const looted = Object.entries(escapes).filter(([, { bare }]) => bare === 'loot');
    it('gets what it looks for: the same texts, so that they prove something', async function () {
      this.timeout(120_000);
      if (process.getuid?.() !== 0 && !existsSync('/proc')) this.skip();
      settings = { sandbox: 'off' };
      const without: string[] = [];
      for (const [name, { text }] of looted) if (!/CANARY/.test(await gotten(text, await workspace()))) without.push(name);
      expect(looted.length).to.be.at.least(25);
      expect(without).to.deep.equal([]);
    });
  });

  describe('in the sandbox', () => {
    it('works as usual: its files, git, node, python, its temporary folder, pipes, its exit code', async () => {
      const cwd = await workspace();
      const text =
        'set -e; echo a > f; git init -q; git add f; git -c user.name=x -c user.email=x@x commit -qm m; git log --oneline | wc -l; node -p 1+1; python3 -c "print(6*7)"; mktemp; whoami; echo $HOME; touch $HOME/x /tmp/y; pwd; exit 3';
      const done = await sh(text, cwd);
      expect(done.stderr).to.equal('');
      expect(done.stdout).to.match(new RegExp(`^1\n2\n42\n/tmp/\\S+\nagent\n/tmp/home\n${cwd}\n$`));
      expect(done).to.include({ exitCode: 3, timedOut: false });
      expect(done.sandbox).to.deep.equal({ isOn: true });
      expect(await readFile(join(cwd, 'f'), 'utf8')).to.equal('a\n');
    });

    it('is told to end, may clean up, and takes all along', async () => {
      const cwd = await workspace();
      const done = await sh(`trap 'echo cleaned; exit 7' TERM; setsid sleep 987 & while :; do sleep 0.05; done`, cwd, 600);
      expect([done.timedOut, done.stdout, done.exitCode]).to.deep.equal([true, 'cleaned\n', 7]);
      expect(await sleepers('987')).to.equal(0);
    });

    it('leaves nothing running behind: what detached from it ends with it', async () => {
      const done = await sh('setsid nohup sh -c "exec sleep 986" >/dev/null 2>&1 & (env -i setsid sleep 986 &) ; sleep 0.1', await workspace());
      expect(done.exitCode).to.equal(0);
      expect(await sleepers('986')).to.equal(0);
    });

    it('is ended when it starts more processes than it may', async () => {
      settings = { sandbox: 'required', sandbox_processes: 40 };
      const done = await sh('i=0; while [ $i -lt 200 ]; do sleep 8 & i=$((i+1)); done; wait; echo all', await workspace());
      // Where the kernel refuses the processes, it ends by itself.
      expect(done.exceeded ?? done.stderr).to.match(/more than 40 processes|[Cc]annot fork|fork|Resource temporarily/);
      expect(done.stdout).to.equal('');
      expect(await sleepers('8')).to.equal(0);
    });

    it('is ended when all of it takes more memory than it may, and one process gets no more', async () => {
      settings = { sandbox: 'required', sandbox_memory_mb: 128 };
      const cwd = await workspace();
      const one = await sh('python3 -c "x=bytearray(300*1024*1024); print(len(x))"', cwd);
      expect(one.stdout + one.stderr).to.match(/MemoryError/);
      const all = await sh('for i in 1 2 3; do python3 -c "import time; x=bytearray(80*1024*1024); time.sleep(6)" & done; wait; echo through', cwd);
      expect([all.exceeded, all.stdout]).to.deep.equal(['more than 128 MB of memory ([tools] sandbox_memory_mb)', '']);
      const shared = await sh('python3 -c "import mmap,time; m=mmap.mmap(-1,300*1024*1024); [m.__setitem__(i,1) for i in range(0,len(m),4096)]; time.sleep(6)"', cwd);
      expect(shared.exceeded).to.match(/memory/);
    });

    it('fills neither the disk nor memory by files', async () => {
      settings = { sandbox: 'required', sandbox_disk_mb: 8, sandbox_tmp_mb: 4 };
      const cwd = await workspace('full');
      await sh('head -c 20000000 /dev/zero > one', cwd);
      expect((await readFile(join(cwd, 'one'))).length).to.be.at.most(8 * MB);
      for (const place of ['/tmp', '/dev/shm', '/tmp/home']) {
        const { stdout } = await sh(`head -c 9000000 /dev/zero > ${place}/x; wc -c < ${place}/x`, cwd);
        expect(Number(stdout), place).to.be.at.most(4 * MB);
      }
      for (const place of ['/', '/dev', '/etc', '/usr', '/proc']) expect((await sh(`echo x > ${place}/x && echo written`, cwd)).stdout, place).to.equal('');
      // In another one: a disk that others write to may put a file of 8 MB in so many pieces that it takes a block more, and is too much.
      const fuller = await workspace('fuller');
      const many = await sh('i=0; while [ $i -lt 40 ]; do head -c 4000000 /dev/zero > n$i || exit 1; i=$((i+1)); sleep 0.05; done; echo through', fuller);
      expect(many.exceeded).to.equal('more than 8 MB in the workspace ([tools] sandbox_disk_mb)');
      // Full, once it was measured: files can be removed, and not written, until there is room again.
      while ((await sh('echo x > small && echo written', fuller)).stdout !== '') await new Promise((resolve) => setTimeout(resolve, 50));
      expect((await sh('echo x > small && echo written; rm n* && echo removed', fuller)).stdout).to.equal('removed\n');
    });

    it('has its output cut, however much it says', async () => {
      const { stdout, truncated } = await sh('yes | head -c 50000000', await workspace());
      expect([truncated, stdout.length <= 102_400]).to.deep.equal([true, true]);
    });

    it('sees what is mounted, and writes where that was granted', async () => {
      const cwd = await workspace();
      const given = join(root, 'given');
      await mkdir(given, { recursive: true });
      await writeFile(join(given, 'f'), 'shown');
      await symlink(given, join(root, 'to-given')).catch(() => undefined);
      const run = (path: string, isWritable: boolean, text: string) => adapter.exec('/bin/sh', ['-c', text], { cwd, agent: { hosts: [], mounts: [{ path, isWritable }] } });
      const text = `cat ${given}/f; echo x > ${given}/w && echo written`;
      expect((await run(given, false, text)).stdout).to.equal('shown');
      expect((await run(given, true, text)).stdout).to.equal('shownwritten\n');
      expect((await run(join(root, 'to-given'), false, `cat ${given}/f`)).stdout).to.equal('shown');
    });

    it('is mounted neither the home of the daemon nor a folder of the system, by any name', async () => {
      const cwd = await workspace();
      await symlink(home, join(root, 'to-home')).catch(() => undefined);
      await symlink('/proc', join(root, 'to-proc')).catch(() => undefined);
      const places = [
        home,
        join(home, 'data/workspaces/other'),
        root,
        join(root, 'to-home'),
        join(root, 'to-home/data'),
        '/',
        '/run',
        '/var/run',
        '/run/docker.sock',
        '/proc',
        '/proc/self/root',
        join(root, 'to-proc'),
        '/sys',
        '/dev',
        '/etc',
        '/tmp',
        '/usr',
        '/var',
        'relative',
        join(root, 'missing'),
      ];
      for (const path of places) {
        const code = await adapter.exec('true', [], { cwd, agent: { hosts: [], mounts: [{ path, isWritable: false }] } }).then(
          () => 'started',
          (error) => error.code,
        );
        expect(code, path).to.equal('exec_bad_mount');
      }
    });

    it('whose folder was swapped for a link is not started', async () => {
      const cwd = await workspace('swapped');
      await rm(cwd, { recursive: true });
      await symlink(home, cwd);
      expect(
        await sh('cat config.toml', cwd).then(
          () => 'started',
          (error) => error.code,
        ),
      ).to.equal('exec_bad_cwd');
      await rm(cwd);
    });
  });

  /** Seen by the machine, not by the sandbox. */
  const sleepers = async (seconds: string): Promise<number> => {
    for (let tries = 0; tries < 50; tries++) {
      const found = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      const lines = await Promise.all(found.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
      const left = lines.filter((line) => line === `sleep\0${seconds}\0`).length;
      if (left === 0) return 0;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return 1;
  };
});

describe('the network of a command', function () {
  this.timeout(30_000);
  let ownPort: number | undefined;
  let home: string;
  let adapter: ExecAdapter;
  let web: ReturnType<typeof createHttp>;
  let port: number;
  const received: string[] = [];
  before(async function () {
    home = await realpath(await mkdtemp(join(tmpdir(), 'svc-network-')));
    web = createHttp((incoming, response) => {
      received.push(`${incoming.method} ${incoming.headers.host} ${incoming.url}`);
      response.end(incoming.url === '/large' ? Buffer.alloc(3 * MB) : 'from the web');
    });
    await new Promise<void>((done) => web.listen(0, '127.0.0.1', done));
    port = (web.address() as AddressInfo).port; // listening, so it has one
    const config = {
      get: (section: string) =>
        section === 'tools' ? { sandbox: 'required', sandbox_network_mb: 2 } : section === 'web' ? { fetch: { ssrf_allowed_hosts: ['granted.example'] } } : { mode: 'allowlist' },
    };
    // Names lead to this machine; one of them to where credentials of a cloud are served.
    const resolveHost = async (host: string) => [{ address: host === 'metadata.example' ? '169.254.169.254' : '127.0.0.1', family: 4 }];
    adapter = createExecAdapter({
      config,
      registerDir: join(home, 'children'),
      env: process.env,
      clock: systemClock(),
      log: { ...silent, child: () => silent } as never,
      resolveHost,
      ownPort: () => ownPort,
    });
    if (!(await adapter.sandbox()).isOn) this.skip();
  });
  after(async () => {
    await adapter?.close();
    web?.close();
    await rm(home, { recursive: true, force: true });
  });
  beforeEach(() => received.splice(0));
  const HOSTS = ['granted.example', 'private.example', 'metadata.example'];
  const sh = (text: string, hosts: readonly string[] = HOSTS) => adapter.exec('/bin/sh', ['-c', text], { cwd: home, agent: { hosts, mounts: [] }, timeoutMs: 15_000 });
  /** As any client does that speaks with a proxy. */
  const ask = (first: string, more = '') =>
    `node -e 'const s=require("net").connect(3128,"127.0.0.1",()=>s.write(process.argv[1].replaceAll("|","\\r\\n")));let t="",n=0;s.on("data",d=>{t+=d;if(process.argv[2]&&n++==0)s.write(process.argv[2].replaceAll("|","\\r\\n"))}).on("close",()=>console.log(t.length>300?t.length:t)).on("error",e=>console.log(e.code))' '${first}' '${more}'`;

  it('reaches the hosts that are granted, plainly and by a tunnel', async () => {
    const plain = await sh(ask(`GET http://granted.example:${port}/a HTTP/1.1|Host: other.example|Proxy-Authorization: x|Connection: close||`));
    expect(plain.stdout + plain.stderr).to.match(/^HTTP\/1.1 200 OK[\s\S]*from the web/);
    const through = await sh(ask(`CONNECT granted.example:${port} HTTP/1.1||`, `GET /b HTTP/1.1|Host: granted.example|Connection: close||`));
    expect(through.stdout).to.match(/^HTTP\/1.1 200 Connection established[\s\S]*from the web/);
    expect(received).to.deep.equal([`GET granted.example:${port} /a`, 'GET granted.example /b']);
    expect(await sh('echo "$HTTPS_PROXY $http_proxy"; exit 5')).to.include({ stdout: 'http://127.0.0.1:3128 http://127.0.0.1:3128\n', exitCode: 5 });
  });

  it('reaches nothing else: other hosts, addresses, private ones, clouds, this machine', async () => {
    for (const where of [
      `other.example:${port}`,
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      `2130706433:${port}`,
      `0x7f.1:${port}`,
      `localhost:${port}`,
      `private.example:${port}`,
      `metadata.example:80`,
      `granted.example@other.example:${port}`,
      `granted.example`,
    ]) {
      const plain = `GET http://${where}/x HTTP/1.1|Host: granted.example|Connection: close||`;
      for (const request of [`CONNECT ${where} HTTP/1.1||`, ...(/^(other|127|metadata)/.test(where) ? [plain] : [])]) {
        const { stdout } = await sh(ask(request));
        // Without a port, the address of the web means 80, where nobody answers here.
        expect(stdout, request).to.match(/^HTTP\/1.1 (403 Forbidden|400 Bad Request|502 Bad Gateway)/);
      }
    }
    for (const request of [
      'GET /x HTTP/1.1|Host: granted.example||',
      'GET https://granted.example/ HTTP/1.1|Host: x|Connection: close||',
      'GET file:///etc/passwd HTTP/1.1|Host: x|Connection: close||',
    ])
      expect((await sh(ask(request))).stdout, request).to.match(/^HTTP\/1.1 403/);
    expect(received).to.deep.equal([]);
  });

  it('does not reach the daemon, however literally its address is granted', async () => {
    ownPort = port;
    const granted = ['127.0.0.1:*', '127.0.0.0/8', '[::ffff:127.0.0.1]:*', 'granted.example'];
    for (const where of ['127.0.0.1', '127.0.0.2', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'granted.example'])
      for (const request of [`CONNECT ${where}:${port} HTTP/1.1||`, `GET http://${where}:${port}/x HTTP/1.1|Host: x|Connection: close||`]) {
        const { stdout } = await sh(ask(request), granted);
        expect(stdout, request).to.match(/^HTTP\/1.1 403 Forbidden/);
      }
    expect(received).to.deep.equal([]);
    ownPort = undefined;
    expect((await sh(ask(`GET http://127.0.0.1:${port}/x HTTP/1.1|Host: x|Connection: close||`), granted)).stdout).to.match(/^HTTP\/1.1 200 OK/);
  });

  it('is not there where no host is granted, and bounded where it is', async () => {
    expect((await sh(`${ask('GET http://granted.example/ HTTP/1.1||')}; ls -a /tmp | grep proxy; echo "[$HTTP_PROXY]"`, [])).stdout).to.equal('ECONNREFUSED\n\n[]\n');
    const large = await sh(ask(`GET http://granted.example:${port}/large HTTP/1.1|Host: x|Connection: close||`));
    expect(Number(large.stdout)).to.be.lessThan(2.5 * MB);
  });

  it('ends with its command: no socket is left', async () => {
    const left = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('svc-net-'));
    const before = await left();
    await sh('true');
    await sh('nosuchprogram');
    await adapter.exec('no-such-program-at-all', [], { cwd: home, agent: { hosts: HOSTS, mounts: [] } }).catch(() => undefined);
    expect(await left()).to.deep.equal(before);
  });
});

describe('where there is no sandbox', function () {
  this.timeout(20_000);
  it('a command is refused, or runs with a warning once the daemon agreed', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'svc-bare-'));
    let sandbox = 'required';
    const reported: string[] = [];
    const adapter = createExecAdapter({
      config: { get: (section) => (section === 'tools' ? { sandbox } : { mode: 'allowlist' }) },
      registerDir: join(cwd, 'data/children'),
      env: process.env,
      clock: systemClock(),
      log: { ...silent, child: () => silent } as never,
      findBubblewrap: async () => undefined,
      beforeUnsandboxed: async (what) => {
        reported.push(what);
        if (reported.length > 1) throw new Error('not now');
      },
    });
    const start = () => adapter.exec('true', [], { cwd, agent: { hosts: [], mounts: [] } });
    const refused = await start().catch((error: unknown) => error);
    expect([(refused as { code: string }).code, String(refused)]).to.satisfy(
      ([code, text]: string[]) => code === 'exec_no_sandbox' && /bubblewrap is not installed|no sandbox of commands/.test(text ?? ''),
    );
    expect(reported).to.deep.equal([]);
    sandbox = 'auto';
    const bare = await start();
    expect(bare.exitCode).to.equal(0);
    expect(bare.sandbox).to.include({ isOn: false });
    expect(reported).to.deep.equal(['true']);
    // What refuses is heard: nothing is started.
    expect(
      await start().then(
        () => 'started',
        (error) => error.message,
      ),
    ).to.equal('not now');
    // A process that no agent starts asks nobody.
    expect((await adapter.exec('true', [], { cwd })).exitCode).to.equal(0);
    expect(reported).to.have.lengthOf(2);
    await adapter.close();
    await rm(cwd, { recursive: true, force: true });
  });
});
