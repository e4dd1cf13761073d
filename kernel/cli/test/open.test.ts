/** `svc open` and `svc key show`, and when the command line sends the key that the daemon made. */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { type FakeDaemon, startFakeDaemon } from './fake-daemon.js';
import { type Bench, createBench } from './program.js';

const KEY = `svc_${'k'.repeat(43)}`;
const CODE = 'c'.repeat(43);

describe('svc open', function () {
  this.timeout(20_000);
  let daemon: FakeDaemon;
  let bench: Bench;
  beforeEach(async () => {
    daemon = await startFakeDaemon();
    bench = createBench(daemon.port);
    mkdirSync(bench.home, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(bench.home, 'daemon.json'), JSON.stringify({ pid: process.pid, url: daemon.url }));
    daemon.answers.set('POST /auth/links', [200, { code: CODE, expires_in: 120 }]);
  });
  afterEach(async () => {
    bench.clean();
    await daemon.close();
  });

  const ownerKey = (mode = 0o600): string => {
    const file = path.join(bench.home, 'owner.key');
    writeFileSync(file, `${KEY}\n`, { mode });
    chmodSync(file, mode);
    return file;
  };
  /** A browser that writes down what it is to open. */
  const browser = (exitCode: number): { env: Record<string, string>; opened: () => string } => {
    const folder = path.join(bench.home, 'bin');
    const seen = path.join(bench.home, 'opened');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > '${seen}'\nexit ${exitCode}\n`, { mode: 0o755 });
    return { env: { DISPLAY: ':0', PATH: `${folder}:${process.env.PATH}` }, opened: () => readFileSync(seen, 'utf8') };
  };
  const linked = () => daemon.seen.filter(({ path: asked }) => asked === '/auth/links');
  const link = () => `${daemon.url}/#/?login=${CODE}`;

  it('prints a link that logs in where no browser can be opened, made with the key that the daemon made', async () => {
    ownerKey();
    const ran = await bench.run(['open']);
    expect([ran.code, ran.stdout]).to.deep.equal([0, `${link()}\n`]);
    expect(ran.stderr).to.contain('once, within two minutes').and.contain('Could not open a browser');
    expect(linked().map(({ headers, method }) => [method, headers.authorization])).to.deep.equal([['POST', `Bearer ${KEY}`]]);
    expect(JSON.parse((await bench.run(['open', '--json'])).stdout)).to.deep.equal({ url: `${daemon.url}/`, opened: false, login_url: link() });
  });

  it('gives the link to the browser, and prints the address alone', async () => {
    ownerKey();
    const { env, opened } = browser(0);
    const ran = await bench.run(['open'], { env });
    expect([ran.code, ran.stdout, ran.stderr, opened()]).to.deep.equal([0, `${daemon.url}/\n`, '', link()]);
    expect(JSON.parse((await bench.run(['open', '--json'], { env })).stdout)).to.deep.equal({ url: `${daemon.url}/`, opened: true });
  });

  it('prints the link where the browser does not start', async () => {
    ownerKey();
    const { env } = browser(3);
    expect((await bench.run(['open'], { env })).stdout).to.equal(`${link()}\n`);
  });

  it('prints the plain address where there is no key, and asks for no link', async () => {
    const ran = await bench.run(['open']);
    expect([ran.code, ran.stdout, linked()]).to.deep.equal([0, `${daemon.url}/\n`, []]);
    expect(ran.stderr).to.contain('Open the address yourself').and.not.contain('logs in one browser');
  });

  it('prints the plain address where the daemon needs no login or takes another key', async () => {
    ownerKey();
    for (const [status, code] of [
      [409, 'auth_login_not_needed'],
      [401, 'auth_key_invalid'],
    ] as const) {
      daemon.answers.set('POST /auth/links', [status, { error: 'No.', code, request_id: 'req-1' }]);
      expect((await bench.run(['open'])).stdout, code).to.equal(`${daemon.url}/\n`);
    }
    daemon.answers.set('POST /auth/links', [500, { error: 'A fault.', code: 'internal_error', request_id: 'req-1' }]);
    const ran = await bench.run(['open']);
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr).to.contain('A fault.');
  });

  it('ends with 3 where no daemon runs', async () => {
    ownerKey();
    await daemon.close();
    expect((await bench.run(['open'])).code).to.equal(3);
  });

  describe('and every other command', () => {
    const sent = async (args: readonly string[] = [], env: Record<string, string> = {}): Promise<string | undefined> => {
      daemon.seen.length = 0;
      expect((await bench.run(['agent', 'list', ...args], { env })).code).to.equal(0);
      return daemon.seen.at(-1)?.headers.authorization;
    };

    it('send the key that the daemon made to the daemon of this home alone, after a key that was set', async () => {
      ownerKey();
      expect(await sent()).to.equal(`Bearer ${KEY}`);
      expect(await sent([], { SVC_API_KEY: 'mine' })).to.equal('Bearer mine');
      writeFileSync(path.join(bench.home, 'config.toml'), 'api_key = "of-the-file"\n', { mode: 0o600 });
      expect(await sent()).to.equal('Bearer of-the-file');
    });

    it('send it to nobody else who listens at the port that is named', async () => {
      ownerKey();
      writeFileSync(path.join(bench.home, 'daemon.json'), JSON.stringify({ pid: process.pid, url: 'http://127.0.0.1:1' }));
      expect(await sent(['--port', String(daemon.port)])).to.equal(undefined);
      writeFileSync(path.join(bench.home, 'daemon.json'), JSON.stringify({ pid: 2 ** 22 + 1, url: daemon.url }));
      expect(await sent(), 'the daemon is gone; whoever has its port now is somebody else').to.equal(undefined);
    });

    it('send none from a file that others can read', async () => {
      ownerKey(0o644);
      expect(await sent()).to.equal(undefined);
    });
  });
});

describe('svc key show', function () {
  this.timeout(20_000);
  let bench: Bench;
  beforeEach(() => {
    bench = createBench(1);
    mkdirSync(bench.home, { recursive: true, mode: 0o700 });
  });
  afterEach(() => bench.clean());
  const file = () => path.join(bench.home, 'owner.key');

  it('prints the key and nothing else, without a daemon', async () => {
    writeFileSync(file(), `${KEY}\n`, { mode: 0o600 });
    const ran = await bench.run(['key', 'show']);
    expect([ran.code, ran.stdout]).to.deep.equal([0, `${KEY}\n`]);
    expect(ran.stderr).to.contain('while no other key is set');
    expect(JSON.parse((await bench.run(['key', 'show', '--json'])).stdout)).to.deep.equal({ key: KEY, file: file() });
  });

  it('says that there is none, and makes none', async () => {
    const ran = await bench.run(['key', 'show']);
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr).to.contain('has not created a key in this home').and.contain('svc key new');
    expect(existsSync(file())).to.equal(false);
  });

  it('prints nothing of a file that cannot be trusted, and says why', async () => {
    const elsewhere = path.join(bench.home, 'elsewhere');
    writeFileSync(elsewhere, `${KEY}\n`, { mode: 0o600 });
    symlinkSync(elsewhere, file());
    const ran = await bench.run(['key', 'show', '--json']);
    expect([ran.code, JSON.parse(ran.stdout).code, ran.stdout.includes(KEY)]).to.deep.equal([1, 'cli_owner_key_unusable', false]);
    expect(ran.stdout).to.contain('it is a link');
  });
});
