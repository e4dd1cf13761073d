/** A daemon of its own, the built one, whose costs are counted from inside: one client, requests one after the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '@svc/testing/free-port';
import { expect } from 'chai';
import type { Counts } from './count-calls.program.js';

const ROOT = process.cwd();
const WARM_UP = 12;
const TIMES = 16;

export interface CountedDaemon {
  readonly pid: number | undefined;
  send(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  /** What most of many such requests cost. */
  costsOf<K extends keyof Counts>(request: () => Promise<unknown>, names: readonly K[]): Promise<Record<K, number | undefined>>;
  /** Bytes that it has handed to the system to write since its start: the database with its checkpoints, logs, answers. Linux alone counts them. */
  written(): number;
  /** Pages that stand in the -wal: each commit adds those that it changed, whole. Fewer than before after a checkpoint. */
  walPages(): number;
  stop(): Promise<void>;
}

const firstLine = (child: ChildProcess): Promise<string> => new Promise((resolve) => child.stdout?.once('data', (data: Buffer) => resolve(data.toString().trim())));
const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('exit', resolve));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** With an `apiKey` every request has to bring it, and does. One that is not counted from inside holds no more than any other. */
export const startCounted = async (apiKey = '', { isCounted = true } = {}): Promise<CountedDaemon> => {
  const home = mkdtempSync(join(tmpdir(), 'svc-costs-'));
  const provider = spawn(process.execPath, [join(ROOT, 'fixtures/providers/instant.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  writeFileSync(
    join(home, 'config.toml'),
    `[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[api]\nrate_limit_per_second = 1000\n[provider_urls]\nopenai = "http://127.0.0.1:${await firstLine(provider)}/v1"\n`,
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const counter = pathToFileURL(join(ROOT, 'dist/test/test/costs/count-calls.program.js')).href;
  const file = join(home, 'counts');
  const daemon = spawn(process.execPath, [...(isCounted ? ['--import', counter] : []), join(ROOT, 'dist/daemon/main.js')], {
    env: { PATH: process.env.PATH, HOME: home, SVC_HOME: home, SVC_PORT: String(port), SVC_API_KEY: apiKey, OPENAI_API_KEY: 'sk-costs', SVC_COUNTS: file },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/api/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  while (!(await isReady())) await pause(30);
  /** Since the last time. */
  const counted = async (): Promise<Counts> => {
    rmSync(file, { force: true });
    daemon.kill('SIGUSR2');
    while (!existsSync(file)) await pause(5);
    return JSON.parse(readFileSync(file, 'utf8')) as Counts;
  };
  return {
    pid: daemon.pid,
    send: async (method, path, body) => {
      const headers = { 'content-type': 'application/json', ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }) };
      const answer = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
      expect(answer.ok, path).to.equal(true);
      return (await answer.json()) as Record<string, unknown>;
    },
    costsOf: async (request, names) => {
      for (let n = 0; n < WARM_UP; n++) await request();
      const each: Counts[] = [];
      for (let n = 0; n < TIMES; n++) {
        // What the request before leaves to be done, and what timers do, is not this one's.
        await pause(25);
        await counted();
        await request();
        each.push(await counted());
      }
      const pairs = names.map((name) => [name, mostFrequent(each.map((one) => one[name]))] as const);
      return Object.fromEntries(pairs) as Record<(typeof names)[number], number | undefined>; // one for each name
    },
    written: () => Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${String(daemon.pid)}/io`, 'utf8'))?.[1]),
    walPages: () => readFileSync(join(home, 'data/svc.db-shm')).readUInt32LE(16),
    stop: async () => {
      for (const child of [daemon, provider]) {
        child.kill('SIGTERM');
        await ended(child);
      }
      rmSync(home, { recursive: true, force: true });
    },
  };
};

/** Now and then a timer falls into a request, or an answer comes in two packets: what most of them cost is what one costs. */
const mostFrequent = (values: readonly number[]): number | undefined => {
  const times = new Map<number, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  return [...times].sort(([, a], [, b]) => b - a)[0]?.[0];
};
