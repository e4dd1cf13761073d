/** What works without a daemon: doctor, logs, start's refusals; and how fast the program is. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPERATIONS } from '@svc/client/generated/operations';
import { expect } from 'chai';
import { type FakeDaemon, startFakeDaemon } from './fake-daemon.js';
import { type Bench, createBench, MAIN, ROOT } from './program.js';

interface Checks {
  readonly all_ok: boolean;
  readonly checks: ReadonlyArray<{ check: string; status: string; summary: string; hint?: string }>;
}

describe('svc without a daemon', function () {
  this.timeout(20_000);
  let bench: Bench;
  let daemon: FakeDaemon | undefined;

  beforeEach(() => {
    bench = createBench(45_999);
    mkdirSync(path.join(bench.home, 'logs'), { recursive: true, mode: 0o700 });
  });
  afterEach(async () => {
    bench.clean();
    await daemon?.close();
    daemon = undefined;
  });

  const doctor = async (env: Record<string, string> = {}): Promise<{ code: number | null; find: (name: string) => Checks['checks'][number] | undefined } & Checks> => {
    const ran = await bench.run(['doctor', '--json'], { env });
    const found = JSON.parse(ran.stdout) as Checks;
    return { ...found, code: ran.code, find: (name) => found.checks.find((check) => check.check === name) };
  };
  const config = (text: string): void => writeFileSync(path.join(bench.home, 'config.toml'), text, { mode: 0o600 });

  describe('doctor', () => {
    it('finds nothing wrong with a fresh home, and names every check', async () => {
      const found = await doctor();
      expect(found).to.include({ all_ok: true, code: 0 });
      for (const name of ['home', 'config_file', 'ConfigTomlSchemaCheck', 'ApiListenAddrCheck', 'VaultKeyCheck', 'provider_keys', 'database', 'daemon', 'port', 'node', 'npm', 'git'])
        expect(found.find(name)?.status, name).to.be.oneOf(['pass', 'warn']);
    });

    it('--accept-database takes away what a daemon compares the database with', async () => {
      const file = path.join(bench.home, 'data', 'svc.db-identity.json');
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, '{"id":"another","mark":7}');

      const ran = await bench.run(['doctor', '--accept-database']);

      expect(ran.code).to.equal(0);
      expect(existsSync(file)).to.equal(false);
      expect((await bench.run(['doctor', '--accept-database'])).stdout).to.contain('There is nothing to accept');
    });

    it('fails on a value that does not fit, with its line', async () => {
      config('[api]\nrate_limit_per_second = "fast"\n');
      const found = await doctor();
      expect(found.code).to.equal(1);
      expect(found.find('ConfigTomlSchemaCheck')).to.include({ status: 'fail' });
      expect(found.find('ConfigTomlSchemaCheck')?.summary).to.contain('config.toml:2');
    });

    it('fails on TOML that cannot be read', async () => {
      config('[api\n');
      expect((await doctor()).find('ConfigTomlSchemaCheck')?.status).to.equal('fail');
    });

    it('warns of a key that nobody knows', async () => {
      config('[api]\nlisten_adr = "127.0.0.1:1"\n');
      const check = (await doctor()).find('ConfigTomlSchemaCheck');
      expect(check?.status).to.be.oneOf(['warn', 'fail']);
      expect(check?.summary).to.contain('listen_adr');
    });

    it('fails on an open address without a key, and passes with one', async () => {
      config('[api]\nlisten_addr = "0.0.0.0:4600"\n');
      expect((await doctor()).find('ApiListenAddrCheck')?.status).to.equal('fail');
      expect((await doctor({ SVC_API_KEY: 'a-long-enough-key' })).find('ApiListenAddrCheck')?.status).to.equal('pass');
    });

    const keys: ReadonlyArray<readonly [string, string, string]> = [
      ['32 bytes', Buffer.alloc(32, 7).toString('base64'), 'pass'],
      ['31 bytes', Buffer.alloc(31, 7).toString('base64'), 'fail'],
      ['32 letters that are no key', 'abcdefghijklmnopqrstuvwxyz012345', 'fail'],
      ['32 bytes and a space', `${Buffer.alloc(32, 7).toString('base64')} `, 'fail'],
    ];
    for (const [name, key, status] of keys) {
      it(`validates a vault key of ${name}: ${status}`, async () => {
        expect((await doctor({ SVC_VAULT_KEY: key })).find('VaultKeyCheck')?.status).to.equal(status);
      });
    }

    it('fails when the database file is something else', async () => {
      mkdirSync(path.join(bench.home, 'data'));
      writeFileSync(path.join(bench.home, 'data', 'svc.db'), 'this is not a database');
      expect((await doctor()).find('database')).to.include({ status: 'fail', summary: 'svc.db is not a SQLite database' });
    });

    it('fails when another program holds the port', async () => {
      daemon = await startFakeDaemon();
      daemon.answers.clear();
      const found = await doctor({ SVC_PORT: String(daemon.port) });
      expect(found.checks.some((check) => check.status === 'fail')).to.equal(true);
    });

    it("takes the running daemon's findings over its own guess", async () => {
      daemon = await startFakeDaemon();
      const found = await doctor({ SVC_PORT: String(daemon.port) });
      expect(found.find('VaultKeyCheck')).to.include({ status: 'fail', summary: 'The vault is locked.', hint: 'set SVC_VAULT_KEY and start again' });
      expect(found.find('daemon')?.status).to.equal('pass');
    });
  });

  describe('logs', () => {
    const line = (message: string, more: Record<string, unknown> = {}): string =>
      `${JSON.stringify({ seq: 1, timestamp: '2026-01-02T03:04:05.678Z', level: 'info', target: 'runs', message, fields: {}, ...more })}\n`;
    const file = (day: string): string => path.join(bench.home, 'logs', `daemon-2026-01-${day}.log`);

    it('shows the newest lines over the days, for a person', async () => {
      writeFileSync(file('01'), line('one') + line('two'));
      writeFileSync(file('02'), line('three', { level: 'warn', fields: { count: 3 }, request_id: 'r-9' }));
      const ran = await bench.run(['logs', '--lines', '2']);
      expect(ran.stdout).to.equal('01-02 03:04:05 info  runs       two\n01-02 03:04:05 warn  runs       three count=3 request=r-9\n');
    });

    it('finds a request in every kept day, and fails when there is none', async () => {
      writeFileSync(file('01'), line('old', { request_id: 'r-1' }) + line('other'));
      expect((await bench.run(['logs', '--request', 'r-1'])).stdout)
        .to.contain('old')
        .and.not.contain('other');
      expect((await bench.run(['logs', '--request', 'r-2'])).code).to.equal(1);
    });

    it("gives the daemon's own lines under --json", async () => {
      writeFileSync(file('01'), line('one'));
      expect((await bench.run(['logs', '--json'])).stdout).to.equal(line('one'));
    });

    it('follows into a new day and ends at Ctrl-C', async () => {
      writeFileSync(file('01'), line('one'));
      const child = bench.start(['logs', '-f', '--lines', '1']);
      let text = '';
      const shows = (wanted: string): Promise<void> =>
        new Promise((resolve) => {
          const look = (): void => void (text.includes(wanted) && resolve());
          child.stdout.on('data', look);
          look();
        });
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await shows('one');
      appendFileSync(file('01'), line('later'));
      await shows('later');
      writeFileSync(file('02'), line('next day'));
      await shows('next day');
      child.kill('SIGINT');
      expect(await new Promise((resolve) => child.on('close', resolve))).to.equal(0);
    });

    it('says what to do when there are none', async () => {
      const ran = await bench.run(['logs']);
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.contain('svc start');
    });
  });

  it('stop is content when nothing runs', async () => {
    const ran = await bench.run(['stop', '--json']);
    expect(ran.code).to.equal(0);
    expect(JSON.parse(ran.stdout)).to.deep.equal({ status: 'not_running', pid: null });
  });

  it('status loads little more than its own few kilobytes: no parser of arguments, of TOML or of schemas', async () => {
    daemon = await startFakeDaemon();
    const coverage = path.join(bench.home, 'coverage');
    await bench.run(['status'], { env: { SVC_PORT: String(daemon.port), NODE_V8_COVERAGE: coverage } });
    const loaded = readdirSync(coverage)
      .flatMap((name) => (JSON.parse(readFileSync(path.join(coverage, name), 'utf8')) as { result: Array<{ url: string }> }).result) // written by V8
      .filter(({ url }) => url.startsWith('file:'))
      .map(({ url }) => fileURLToPath(url));
    expect(loaded).to.include(MAIN);
    // Beside it stands the table of operations, which grows with each that the daemon serves.
    expect(loaded.reduce((bytes, file) => bytes + statSync(file).size, 0) - JSON.stringify(OPERATIONS).length).to.be.below(62_500);
  });

  it('is started by its launcher, which npm links as svc', () => {
    const launcher = path.join(ROOT, 'kernel/cli/bin/svc.mjs');
    expect(execFileSync(launcher, ['--version'], { encoding: 'utf8' })).to.match(/^\d+\.\d+\.\d+\n$/);
  });
});
