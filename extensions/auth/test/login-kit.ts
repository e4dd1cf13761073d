/** A daemon with keys, and browsers that log in to it. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, type TestAnswer, TestHttp, type TestKernel, type TestKernelOptions } from '@svc/testing';
import { systemClock, type TimerClock } from '@svc/platform/clock/clock';

export const KEYS = { owner: 'root-key-0', alice: 'alice-key-1', vera: 'vera-key-2' } as const;

export const person = (name: 'alice' | 'vera', role: string, key: string = KEYS[name]): string =>
  `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(key).digest('hex')}"\n`;

export const PEOPLE = person('alice', 'user') + person('vera', 'viewer');
/** Keys of the top level stand in front of the sections. */
export const configWith = (people: string, top = ''): string => `api_key = "${KEYS.owner}"\n${top}${OPEN_RATE}${people}`;

export const bootWithKeys = (options: TestKernelOptions = {}): Promise<TestKernel> => bootTestKernel({ config: configWith(PEOPLE), ...options });

/** Writes other settings, and waits until they hold. */
export const settle = async (kernel: TestKernel, config: string): Promise<void> => {
  await writeFile(join(kernel.home, 'config.toml'), config);
  await kernel.daemon.reloadConfig();
};

/** What a browser sends for a page of the daemon. */
export const ownPage = (url: string): Record<string, string> => ({ origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' });

export interface Browser {
  /** `name=value`, as it goes along with each request. */
  readonly cookie: string;
  /** The header that gave it. */
  readonly given: string;
  readonly answer: TestAnswer;
  get(path: string, headers?: Record<string, string>): Promise<TestAnswer>;
  /** As a page of the daemon does. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
}

/** A request to log in, as a page of the daemon sends it. */
export const tryKey = (url: string, key: string, headers: Record<string, string> = {}, remember?: boolean): Promise<TestAnswer> =>
  new TestHttp(url).post('/auth/session', { key, ...(remember === undefined ? {} : { remember }) }, { ...ownPage(url), ...headers });

export const logIn = async (url: string, key: string, options: { remember?: boolean; headers?: Record<string, string> } = {}): Promise<Browser> => {
  const answer = await tryKey(url, key, options.headers, options.remember);
  if (answer.status !== 200) throw new Error(`the login was answered ${answer.status}: ${answer.text}`);
  const given = answer.headers.get('set-cookie') ?? '';
  const [cookie = ''] = given.split(';');
  const http = new TestHttp(url);
  return {
    cookie,
    given,
    answer,
    get: (path, headers = {}) => http.get(path, { ...options.headers, cookie, ...headers }),
    post: (path, body, headers = {}) => http.post(path, body, { ...ownPage(url), ...options.headers, cookie, ...headers }),
  };
};

/** The machine's clock, which can be put forward: what waits by it waits as before. */
export const clockToPutForward = (): TimerClock & { putForward(ms: number): void } => {
  const real = systemClock();
  let ahead = 0;
  return {
    ...real,
    now: () => real.now() + ahead,
    iso: () => new Date(real.now() + ahead).toISOString(),
    mono: () => real.mono() + ahead,
    putForward: (ms) => {
      ahead += ms;
    },
  };
};
