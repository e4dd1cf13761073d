/** A whole daemon inside a test of somebody else: the released one, with extensions from folders, each in a process of its own. */
import type { TestHttp } from '../test-http.js';
import * as inside from '../test-kernel.js';
import { thirdPartyIn } from './installed-folder.js';

export interface TestKernelOptions {
  /** Folders of built extensions: each with package.json, extension.json, contributions.json and dist/index.js. They are switched on. */
  readonly extensions?: readonly string[];
  /** Text of config.toml. */
  readonly config?: string;
  /** What the daemon finds in its environment, beside PATH and HOME, and settings that open its rates. */
  readonly env?: Readonly<Record<string, string>>;
  /** A folder to use, and to keep; by default a fresh one that is removed. */
  readonly home?: string;
  /** Bearer key that `http` sends. */
  readonly key?: string;
}

export interface TestKernel {
  readonly url: string;
  readonly home: string;
  readonly http: TestHttp;
  /** The same daemon as somebody else sees it. */
  as(key: string): TestHttp;
  /** The state of one extension, and why it is in it. */
  stateOf(id: string): { readonly state: string; readonly reason: string | null };
  reload(id: string): Promise<void>;
  enable(id: string): Promise<void>;
  disable(id: string): Promise<void>;
  stop(): Promise<void>;
}

/** No test meets a limit of rates by accident. */
const OPEN_RATES = { SVC__API__RATE_LIMIT_PER_SECOND: '100000', SVC__RATE_LIMIT__MAX_WS_PER_IP: '10000' };

/** Rejects with the reason of the first extension that does not start. */
export async function bootTestKernel({ extensions = [], env, ...rest }: TestKernelOptions = {}): Promise<TestKernel> {
  const thirdParties = await Promise.all(extensions.map(thirdPartyIn));
  const booted = await inside.bootTestKernel({ ...rest, env: { ...OPEN_RATES, ...env }, thirdParties });
  const { kernel } = booted.daemon;
  const stateOf: TestKernel['stateOf'] = (id) => {
    const status = kernel.extensions().find((one) => one.id === id);
    if (!status) throw new Error(`there is no extension ${id}`);
    return { state: status.state, reason: status.reason };
  };
  const change = (action: 'reload' | 'enable' | 'disable') => async (id: string) => {
    await kernel[action](id);
    const { state, reason } = stateOf(id);
    if (state === 'failed' || state === 'quarantined') throw new Error(`${id} is ${state}: ${reason}`);
  };
  const enable = change('enable');
  for (const { id } of thirdParties) {
    if (stateOf(id).state !== 'active') await enable(id);
    const { state, reason } = stateOf(id);
    if (state !== 'active') throw new Error(`${id} is ${state}: ${reason}`);
  }
  const { url, home, http, as, stop } = booted;
  return { url, home, http, as, stateOf, reload: change('reload'), enable, disable: change('disable'), stop };
}

/** For afterEach: stops what a test booted. Throws what was left open. */
export const stopTestKernels = (): Promise<void> => inside.stopTestKernels();
