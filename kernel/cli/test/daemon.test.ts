/** The CLI with the real daemon: a whole day of an operator. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench, ended } from './program.js';

describe('svc with the real daemon', function () {
  this.timeout(60_000);
  let bench: Bench;

  beforeEach(async () => {
    bench = createBench(await freePort());
  });
  afterEach(async () => {
    await bench.stopStarted();
    bench.clean();
  });

  it('starts in the background with the options of its Node, answers, shows its state and stops', async () => {
    const started = await bench.run(['start'], { node: ['--stack-trace-limit=25'] });
    expect(started.code, started.stderr).to.equal(0);
    expect(started.stdout).to.contain('svc is running').and.contain('svc chat').and.contain(bench.home);
    const pid = () => (JSON.parse(readFileSync(path.join(bench.home, 'daemon.json'), 'utf8')) as { pid: number }).pid;
    if (process.platform === 'linux') expect(readFileSync(`/proc/${pid()}/cmdline`, 'utf8')).to.contain('--stack-trace-limit=25');
    const again = await bench.run(['start', '--json']);
    expect(again.code).to.equal(0);
    expect(JSON.parse(again.stdout)).to.include({ already_running: true });
    expect((await bench.run(['status'])).code).to.equal(0);
    // Another home has no daemon: what answers at the port is not taken for its own, by a flag or by the environment.
    const other = path.join(bench.home, '..', 'nobody-home');
    for (const [args, env] of [
      [['--home', other, 'status'], {}],
      [['--home', other, 'stop'], {}],
      [['--home', other, 'agent', 'list'], {}],
      [['status'], { SVC_HOME: other }],
    ] as const) {
      const refused = await bench.run(args, { env });
      expect([refused.code, refused.stdout], args.join(' ')).to.deep.equal([3, '']);
      expect(refused.stderr).to.contain(`has another home: ${bench.home}`).and.to.contain(other);
    }
    expect((await bench.run(['--home', other, '--port', String(bench.env.SVC_PORT), 'status'])).code).to.equal(0);
    const answer = await bench.run(['message', 'assistant', 'write hello to notes.txt then read it', '--json']);
    const { tools } = JSON.parse(answer.stdout) as { tools: Array<{ tool: string; is_error: boolean }> };
    expect(tools.map(({ tool, is_error: isError }) => [tool, isError])).to.deep.equal([
      ['file_write', false],
      ['file_read', false],
    ]);
    expect((await bench.run(['doctor'])).code).to.equal(0);
    expect((await bench.run(['logs'])).stdout).to.contain('ready');
    expect([(await bench.run(['health'])).code, (await bench.run(['version'])).stdout]).to.deep.equal([0, (await bench.run(['--version'])).stdout]);
    expect((await bench.run(['agents'])).stdout).to.contain('assistant');
    const before = pid();
    expect((await bench.run(['restart'])).code).to.equal(0);
    expect(pid()).to.not.equal(before);
    expect((await bench.run(['agent', 'rm', 'assistant', '--yes'])).code).to.equal(0);
    expect((await bench.run(['agent', 'list'])).stdout).to.not.contain('assistant');
    expect((await bench.run(['stop'])).stdout).to.contain('has stopped');
    expect((await bench.run(['status'])).code).to.equal(3);
    expect(existsSync(path.join(bench.home, 'daemon.json'))).to.equal(false);
  });

  it('leaves one daemon when two people start it at once', async () => {
    const both = await Promise.all([1, 2].map(() => ended(bench.start(['start', '--json']))));
    expect(
      both.map(({ code }) => code),
      both.map(({ stdout }) => stdout).join(),
    ).to.deep.equal([0, 0]);
    const [one, two] = both.map(({ stdout }) => (JSON.parse(stdout) as { pid: number }).pid);
    expect(one).to.equal(two);
  });

  it('says why it did not start', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(Number(bench.env.SVC_PORT), '127.0.0.1', resolve));
    const ran = await bench.run(['start']);
    await new Promise((resolve) => server.close(resolve));
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.contain('did not start').and.contain(String(bench.env.SVC_PORT));
  });

  it('switches an extension off and on, and shows the choice', async () => {
    await bench.run(['start']);
    expect((await bench.run(['ext', 'disable', 'webchat', '--yes'])).stdout).to.contain('webchat is inactive');
    expect((await bench.run(['ext', 'why', 'webchat'])).stdout).to.contain('svc ext reset webchat');
    expect((await bench.run(['ext', 'reset', 'webchat'])).stdout).to.contain('webchat is active');
  });

  it('switches on again what the API needs, beside the daemon that runs and with the daemon stopped', async () => {
    await bench.run(['start']);
    const shut = await bench.run(['ext', 'disable', 'auth', '--yes']);
    expect(shut.stdout, shut.stderr).to.contain('auth is inactive');
    expect(shut.stderr).to.contain('way back').and.contain('svc ext enable auth');
    expect((await bench.run(['agent', 'list'])).code).to.equal(1);
    const back = await bench.run(['ext', 'enable', 'auth']);
    expect(back.stdout, back.stderr).to.contain('auth is active');
    expect((await bench.run(['agent', 'list'])).code).to.equal(0);

    await bench.run(['ext', 'disable', 'extensions-admin', '--yes']);
    await bench.run(['stop']);
    const later = await bench.run(['ext', 'enable', 'extensions-admin', '--json']);
    expect(JSON.parse(later.stdout)).to.include({ wanted: true, from: 'next_start' });
    const asked = await bench.run(['ext', 'disable', 'ratelimit']);
    expect([asked.code, asked.stderr]).to.satisfy(([code, text]: [number, string]) => code === 2 && text.includes('answers 503'));
    expect((await bench.run(['ext', 'enable', 'ratelimti'])).stderr).to.contain('Did you mean ratelimit');
    await bench.run(['start']);
    expect((await bench.run(['ext', 'list'])).stdout)
      .to.match(/extensions-admin +active/)
      .and.match(/ratelimit +active/);
  });

  it('in the foreground prints where it is and ends in order at Ctrl-C', async () => {
    const child = bench.start(['start', '--foreground']);
    const end = ended(child);
    await new Promise<void>((resolve) => {
      let text = '';
      child.stdout.on('data', (chunk: string) => {
        text += chunk;
        if (text.includes(`:${bench.env.SVC_PORT}`)) resolve();
      });
    });
    child.kill('SIGTERM');
    expect((await end).code).to.equal(0);
    expect((await bench.run(['status'])).code).to.equal(3);
  });

  it('in the foreground is the daemon itself: its flags hold, a reader that leaves does not end it, and a refused start fails', async () => {
    const home = path.join(bench.home, 'other');
    const child = bench.start(['start', '--foreground', '--home', home]);
    const end = ended(child);
    while (!existsSync(path.join(home, 'daemon.json'))) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(JSON.parse(readFileSync(path.join(home, 'daemon.json'), 'utf8'))).to.include({ pid: child.pid });
    child.stdout.destroy();
    expect((await bench.run(['config', 'reload', '--home', home])).code).to.equal(0);
    expect((await bench.run(['start', '--foreground', '--home', home])).stdout).to.contain('already running');
    expect(await bench.run(['start', '--foreground'])).to.satisfy(({ code, stderr }: { code: number; stderr: string }) => code === 1 && stderr.includes('another program'));
    expect((await bench.run(['status', '--home', home])).code).to.equal(0);
    child.kill('SIGTERM');
    expect((await end).code).to.equal(0);
  });
});
