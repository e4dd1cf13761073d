/** The owner's command line goes on as before when the daemon has made a key of its own. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '@svc/testing/free-port';
import { type Bench, createBench, plain } from './program.js';

describe('the command line beside a daemon that made its own key', function () {
  this.timeout(90_000);
  let bench: Bench;
  let url: string;
  before(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    bench = createBench(port);
    mkdirSync(bench.home, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(bench.home, 'config.toml'), '[tools]\nsandbox = "off"\n[tool_invoke]\nenabled = true\nallowlist = ["*"]\n', { mode: 0o600 });
    const started = await bench.run(['start']);
    expect(started.code, started.stderr).to.equal(0);
  });
  after(async () => {
    await bench.run(['stop']);
    bench.clean();
  });
  const post = async (place: string, body: unknown, key?: string): Promise<Response> =>
    fetch(`${url}${place}`, { method: 'POST', headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) }, body: JSON.stringify(body) });
  const file = () => path.join(bench.home, 'owner.key');

  it('sends that key by itself: nobody is asked, nothing is to be set, and the page opens logged in', async () => {
    expect((await bench.run(['key', 'show'])).code, 'there is no key before it is needed').to.equal(1);
    expect((await bench.run(['open'])).stdout).to.equal(`${url}/\n`);
    const made = await post('/api/agents', { manifest: { name: 'runner', capabilities: { shell: ['*'] } } });
    const { agent_id } = (await made.json()) as { agent_id: string };
    expect(existsSync(file())).to.equal(false);

    const invoked = await post(`/api/tools/shell_exec/invoke?agent_id=${agent_id}`, { command: 'true' });
    expect(invoked.status).to.equal(200);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    const key = readFileSync(file(), 'utf8').trim();
    expect((await fetch(`${url}/api/agents`)).status, 'without the key').to.equal(401);

    for (const args of [['status'], ['agent', 'list'], ['ext', 'list'], ['agent', 'show', 'runner']]) {
      const ran = await bench.run(args);
      expect([ran.code, ran.stderr], args.join(' ')).to.deep.equal([0, '']);
    }
    const seen = await bench.onTerminal(['agent', 'list'], 100);
    expect([seen.code, plain(seen.stdout).includes('runner'), /key/i.test(seen.stdout)]).to.deep.equal([0, true, false]);
    expect((await bench.run(['key', 'show'])).stdout).to.equal(`${key}\n`);

    const [link = ''] = (await bench.run(['open'])).stdout.split('\n');
    expect(link).to.match(new RegExp(`^${url}/#/\\?login=[\\w-]{43}$`));
    const login = await post('/auth/session', { code: link.split('login=')[1] });
    expect([login.status, ((await login.json()) as { role: string }).role]).to.deep.equal([200, 'owner']);

    // Another user's command line, which cannot read the file, is refused and told what to send.
    const refused = await bench.run(['agent', 'list'], { env: { SVC_API_KEY: 'wrong' } });
    expect([refused.code, refused.stderr.includes('SVC_API_KEY')]).to.deep.equal([4, true]);
  });

  it('goes on after a restart, and stops the daemon', async () => {
    expect((await bench.run(['restart'])).code).to.equal(0);
    expect((await fetch(`${url}/api/agents`)).status).to.equal(401);
    expect((await bench.run(['agent', 'list'])).code).to.equal(0);
    expect((await bench.run(['stop'])).code).to.equal(0);
    expect((await bench.run(['status'])).code).to.equal(3);
  });
});
