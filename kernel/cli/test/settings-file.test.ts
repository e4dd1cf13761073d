/** config.toml while a daemon lives with it: mistakes are told, the adapters of the operator stay open, and a good save is taken. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench, ended, MAIN } from './program.js';

const KEY = 'the-key-of-this-daemon-55';

describe('svc and config.toml', function () {
  this.timeout(60_000);
  let bench: Bench;

  beforeEach(async () => {
    bench = createBench(await freePort());
    mkdirSync(bench.home, { recursive: true, mode: 0o700 });
  });
  afterEach(async () => {
    await bench.stopStarted();
    bench.clean();
  });

  const file = (): string => path.join(bench.home, 'config.toml');
  const write = (text: string): void => writeFileSync(file(), text, { mode: 0o600 });
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const logged = async (text: string): Promise<boolean> => (await bench.run(['logs', '-n', '400'])).stdout.includes(text);

  it('with a mistake in its grammar and nothing known from before: start and status name the line and end with 5, stop stops', async () => {
    write(`api_key = "${KEY}"\n[llm\nmax_retries = 1\n`);
    const started = await bench.run(['start']);
    expect([started.code, started.stderr]).to.deep.equal([5, '']);
    expect(started.stdout).to.contain('closed').and.contain('config.toml:2').and.not.contain('svc chat');
    const shown = await bench.run(['status']);
    expect(shown.code).to.equal(5);
    expect(shown.stdout).to.contain('config.toml:2').and.contain('reloads it when you save it');
    expect((await bench.run(['doctor'])).stdout).to.contain('config.toml:2');

    // It opens again as soon as it is fixed and saved, and the log says what was applied.
    write(`api_key = "${KEY}"\n[llm]\nmax_retries = 1\n`);
    await until(async () => (await bench.run(['status'])).code === 0);
    expect((await bench.run(['agent', 'list'])).stdout).to.contain('assistant');
    expect(await logged('config.toml was saved')).to.equal(true);
    expect((await bench.run(['stop'])).stdout).to.contain('has stopped');
  });

  it('a bad save is shown and the last good values stay; a save by rename is seen', async () => {
    write('[llm]\nmax_retries = 1\n');
    await bench.run(['start']);
    writeFileSync(`${file()}.new`, '[llm]\nmax_retries = "many"\n', { mode: 0o600 });
    renameSync(`${file()}.new`, file());
    await until(async () => (await bench.run(['status'])).code === 5);
    const { stdout } = await bench.run(['status']);
    expect(stdout).to.contain('config.toml:2').and.contain('many');
    expect((await bench.run(['message', 'assistant', 'hello'])).code).to.equal(0);
  });

  it('status and stop work for whoever owns the process, without the key', async () => {
    write(`api_key = "${KEY}"\n`);
    await bench.run(['start']);
    // As after a change that no reload has seen, or a key that only the environment of the daemon has.
    const env = { SVC_API_KEY: 'not-the-key-of-this-daemon' };
    const shown = await bench.run(['status'], { env });
    expect(shown.code).to.equal(4);
    expect(shown.stdout).to.contain('is running').and.contain(`:${bench.env.SVC_PORT}`).and.contain('SVC_API_KEY');
    const stopped = await bench.run(['stop'], { env });
    expect([stopped.code, stopped.stdout]).to.deep.equal([0, 'The daemon has stopped.\n']);
    expect(existsSync(path.join(bench.home, 'daemon.json'))).to.equal(false);
  });

  it('that begins with a byte order mark is read as it is meant', async () => {
    write('\uFEFF[log]\nlevel = "warn"\n');
    expect((await bench.run(['config', 'check'])).code).to.equal(0);
    expect((await bench.run(['start'])).code).to.equal(0);
  });

  it('that is a named pipe or a folder stops nobody from starting, and is told', async () => {
    execFileSync('mkfifo', [file()]);
    const checked = await bench.run(['config', 'check']);
    expect(checked.code).to.equal(1);
    expect(checked.stdout).to.contain('a named pipe');
    const started = await bench.run(['start']);
    expect(started.code).to.equal(5);
    expect(started.stdout).to.contain('a named pipe');
  });

  describe('svc config', () => {
    it('path says where it is', async () => {
      expect((await bench.run(['config', 'path'])).stdout).to.equal(`${file()}\n`);
    });

    it('check ends with 0 without a file and with a good one, with 1 and the lines with a bad one', async () => {
      expect((await bench.run(['config', 'check'])).code).to.equal(0);
      write('[log]\nlevel = "info"\n');
      expect((await bench.run(['config', 'check'])).stdout).to.contain('is valid');
      write('[log]\nlevel = "lound"\n[api]\nrate_limit = 5\n');
      const bad = await bench.run(['config', 'check']);
      expect(bad.code).to.equal(1);
      expect(bad.stdout).to.contain('config.toml:2').and.contain('config.toml:4').and.contain('rate_limit_per_second');
      const { value } = { value: JSON.parse((await bench.run(['config', 'check', '--json'])).stdout) as { ok: boolean; problems: Array<{ line: number }> } };
      expect([value.ok, value.problems.map(({ line }) => line)]).to.deep.equal([false, [2, 4]]);
    });

    it('reload needs a running daemon, and has it read the file', async () => {
      expect((await bench.run(['config', 'reload'])).code).to.equal(3);
      await bench.run(['start']);
      expect((await bench.run(['config', 'reload'])).code).to.equal(0);
      await until(() => logged('SIGHUP'));
    });
  });

  it('in the foreground it ends in order when its terminal is closed', async () => {
    const terminal = spawn('script', ['-qec', `'${process.execPath}' '${MAIN}' start --foreground`, '/dev/null'], { env: bench.env });
    const end = ended(terminal);
    await until(async () => (await bench.run(['status'])).code === 0);
    terminal.kill('SIGKILL');
    await end;
    await until(async () => (await bench.run(['status'])).code === 3);
    // It answers nobody any more a moment before it has put everything away.
    await until(async () => !existsSync(path.join(bench.home, 'daemon.json')));
    expect(await logged('its terminal was closed')).to.equal(true);
  });
});
