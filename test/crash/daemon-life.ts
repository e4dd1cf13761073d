/** One life of the daemon in a process of its own, from its start to whatever ends it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { databaseOfHome, OPEN_RATE, releaseFile, TestHttp } from '@svc/testing';
import { COUNTABLE } from './countable-tools.js';
import type { Watch } from './crash-points.js';
import { TIMERS } from '../reliability/durable-timers.js';
import type { Database } from './account/ledger.js';

/** The program of a daemon that a folder of tests starts: each folder is built by itself. */
export const programOf = (area: string): string => join(dirname(releaseFile()), `test/test/${area}/daemon.program.js`);

/** What outlives the daemon: its home, and beside it the effects and the names of the points it reached. */
export interface Place {
  readonly home: string;
  readonly effects: string;
  readonly program: string;
  readonly database: Database;
  /** What a daemon needs in its environment to use that database. */
  readonly env: Readonly<Record<string, string>>;
  points(life: number): string;
  clean(): void;
}

/** Of daemons that share a database: the URL that this one uses, and where the effects of all are. */
export interface Shared {
  readonly url: string;
  /** The database as a third party reads it, past whatever stands between a daemon and it. */
  readonly directUrl: string;
  readonly effects: string;
  /** How long a daemon may be silent before others take its runs. */
  readonly leaseMs: number;
  readonly program: string;
  /** Of a NATS server, where the daemons hear each other over one. */
  readonly bus?: string;
}

/** `settings`: tables of config.toml beside the usual ones. */
export const createPlace = async (providerUrl: string, settings = '', shared?: Shared): Promise<Place> => {
  const root = mkdtempSync(join(tmpdir(), 'svc-crash-'));
  const [home, effects] = [join(root, 'home'), shared?.effects ?? join(root, 'effects')];
  mkdirSync(home);
  mkdirSync(effects, { recursive: true });
  writeFileSync(join(home, 'config.toml'), `${configFor(providerUrl, shared ? [COUNTABLE, TIMERS] : [COUNTABLE])}${settings}`);
  const env = shared ? { SVC__STORAGE__URL: shared.url, CRASH_LEASE_MS: String(shared.leaseMs), ...(shared.bus === undefined ? {} : { SVC__CLUSTER__BUS: shared.bus }) } : await databaseOfHome(home);
  return {
    home,
    effects,
    program: shared?.program ?? programOf('crash'),
    env,
    database: { file: join(home, 'data', 'svc.db'), url: shared?.directUrl ?? env.SVC__STORAGE__URL },
    points: (life) => join(root, `points-${life}.txt`),
    clean: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
};

const configFor = (providerUrl: string, enabled: readonly string[]): string =>
  [
    OPEN_RATE,
    '[extensions]',
    `enable = ${JSON.stringify(enabled)}`,
    // After a death nobody watches, on any channel; every message must be answered all the same.
    '[runs]',
    'on_disconnect = "finish"',
    '[default_model]',
    'provider = "openai"',
    'model = "gpt-4o"',
    '[provider_urls]',
    `openai = "${providerUrl}/v1"`,
    '[web.fetch]',
    'ssrf_allowed_hosts = ["127.0.0.1"]',
    '[tool_invoke]',
    'enabled = true',
    'allowlist = ["process_*"]',
    '',
  ].join('\n');

export interface Life {
  readonly pid: number;
  /** The address, or undefined when it died before it was ready. */
  readonly url: Promise<string | undefined>;
  readonly gone: Promise<{ readonly code: number | null; readonly signal: string | null; readonly errors: string }>;
  isOver(): boolean;
  kill(): void;
  signal(name: 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Points are counted anew from here on. */
  watch(next: Watch): Promise<void>;
}

const alive = new Set<ChildProcess>();
const homes = new Map<string, string>();

/** With the key that the daemon makes before it starts a command without a sandbox, as svc sends it. */
export const httpOf = (url: string): TestHttp =>
  new TestHttp(url, () => {
    const file = join(homes.get(url) ?? '', 'owner.key');
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  });

export const beginLife = (place: Place, life: number, crashAt?: string): Life => {
  const child = spawn(process.execPath, [...process.execArgv, place.program], {
    env: {
      PATH: process.env.PATH,
      HOME: place.home,
      SVC_HOME: place.home,
      ...place.env,
      OPENAI_API_KEY: 'sk-crash-test',
      CRASH_POINTS: place.points(life),
      CRASH_EFFECTS: place.effects,
      CRASH_RELEASE: releaseFile(),
      ...(crashAt === undefined ? {} : { CRASH_AT: crashAt }),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  alive.add(child);
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  const gone = once(child, 'close').then(([code, signal]) => {
    alive.delete(child);
    return { code: code as number | null, signal: signal as string | null, errors };
  });
  let isOver = false;
  void gone.then(() => {
    isOver = true;
  });
  const ready = readyUrl(child).then((url) => {
    homes.set(url, place.home);
    return url;
  });
  return {
    pid: child.pid ?? 0,
    url: Promise.race([ready, gone.then(() => undefined)]),
    gone,
    isOver: () => isOver,
    kill: () => void child.kill('SIGKILL'),
    signal: (name) => void child.kill(name),
    watch: async (next) => {
      const watching = once(child, 'message').then(() => true);
      child.send(next);
      if (!(await Promise.race([watching, gone.then(() => false)]))) throw new Error(`the daemon ended before it was to be killed: ${errors}`);
    },
  };
};

const readyUrl = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const ready = /^ready (\S+)$/m.exec(said);
      if (ready?.[1]) resolve(ready[1]);
    });
  });

/** For afterEach: no daemon outlives the test that started it. */
export const endLives = async (): Promise<void> => {
  const ended = [...alive].map((child) => once(child, 'close'));
  for (const child of alive) child.kill('SIGKILL');
  await Promise.all(ended);
};

/** Polls until `done`; false when it is not by then. */
export const until = async (done: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> => {
  const end = Date.now() + timeoutMs;
  while (!(await done())) {
    if (Date.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
};
