/**
 * What one plain message costs, counted in the real daemon: one client, one session, the answer of a model at hand.
 * The numbers are fixed. Whoever moves one does it on purpose, here, and says in the commit what it bought.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { Counts } from './count-calls.program.js';

const ROOT = process.cwd();
const WARM_UP = 12;
const MESSAGES = 16;

const COSTS = {
  /** Trips of the writer to the disk: the message with its first step, the answer with the end of the run. */
  commits: 2,
  /** The run, its step and the entry; then the end of the run and of the step, the entry and the usage. */
  statements: 7,
  /** Where the session stands is known. */
  reads: 0,
  /** The body, and what the model said. */
  parsed: 5,
  serialised: 15,
  promises: 321,
} satisfies Partial<Counts>;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo; // listening, so it has an address
      server.close(() => resolve(port));
    });
  });

const firstLine = (child: ChildProcess): Promise<string> => new Promise((resolve) => child.stdout?.once('data', (data: Buffer) => resolve(data.toString().trim())));
const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('exit', resolve));

describe('a plain message', function () {
  this.timeout(60_000);
  let home: string;
  let provider: ChildProcess;
  let daemon: ChildProcess;
  let url: string;

  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-costs-'));
    provider = spawn(process.execPath, [join(ROOT, 'fixtures/providers/instant.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
    writeFileSync(
      join(home, 'config.toml'),
      `[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[api]\nrate_limit_per_second = 1000\n[provider_urls]\nopenai = "http://127.0.0.1:${await firstLine(provider)}/v1"\n`,
    );
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const counter = pathToFileURL(join(ROOT, 'dist/test/test/costs/count-calls.program.js')).href;
    daemon = spawn(process.execPath, ['--import', counter, join(ROOT, 'dist/daemon/main.js')], {
      env: { PATH: process.env.PATH, HOME: home, SVC_HOME: home, SVC_PORT: String(port), OPENAI_API_KEY: 'sk-costs', SVC_COUNTS: join(home, 'counts') },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    while (
      !(await fetch(`${url}/api/ready`).then(
        (answer) => answer.ok,
        () => false,
      ))
    )
      await new Promise((resolve) => setTimeout(resolve, 30));
  });
  after(async () => {
    for (const child of [daemon, provider]) {
      child.kill('SIGTERM');
      await ended(child);
    }
    rmSync(home, { recursive: true, force: true });
  });

  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    expect(answer.ok, path).to.equal(true);
    return (await answer.json()) as Record<string, unknown>;
  };
  /** Since the last time. */
  const counted = async (): Promise<Counts> => {
    const file = join(home, 'counts');
    rmSync(file, { force: true });
    daemon.kill('SIGUSR2');
    while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
    return JSON.parse(readFileSync(file, 'utf8')) as Counts;
  };

  it('costs these commits, statements, reads, JSON calls and promises, however long its talk is', async () => {
    const { agent_id } = await post('/api/agents', { name: 'counted' });
    const { session_id } = await post(`/api/agents/${agent_id}/sessions`, {});
    const say = () => post(`/api/agents/${agent_id}/message`, { message: 'How much is this?', session_id });
    for (let n = 0; n < WARM_UP; n++) await say();
    const each: Counts[] = [];
    for (let n = 0; n < MESSAGES; n++) {
      // What the message before leaves to be done, and what timers do, is not this one's.
      await new Promise((resolve) => setTimeout(resolve, 25));
      await counted();
      await say();
      each.push(await counted());
    }
    // Now and then a timer falls into a message, or an answer comes in two packets: what most of them cost is what one costs.
    const usual = (name: keyof Counts): number | undefined => {
      const times = new Map<number, number>();
      for (const one of each) times.set(one[name], (times.get(one[name]) ?? 0) + 1);
      return [...times].sort(([, a], [, b]) => b - a)[0]?.[0];
    };

    expect(Object.fromEntries(Object.keys(COSTS).map((name) => [name, usual(name as keyof Counts)]))).to.deep.equal(COSTS);
  });
});
