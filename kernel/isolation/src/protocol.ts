/** What the daemon and the process of an extension say to each other, beside the calls themselves. */
import type { Actor, CapabilityDecl, Headers, Method, StopReason } from '@svc/api';
import type { SendingPage } from '@svc/api/internal';

/** All that the process is told before a line of the extension runs. */
export interface Init {
  readonly id: string;
  readonly version: string;
  readonly generation: number;
  /** Absolute path of the bundle. */
  readonly bundle: string;
  /** SHA-256 of the bundle as it was installed; what does not fit is not run. */
  readonly sha256?: string;
  /** By section, `/key` or `api.setting`: the settings that it claims. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly CapabilityDecl[];
  /** Environment variables that it was granted. */
  readonly env: Readonly<Record<string, string>>;
  /** `name@major` of the services that it may use and that somebody provides now. */
  readonly services: readonly string[];
  /** Absolute paths of its folders, for messages. */
  readonly folders: Readonly<Record<'data' | 'cache', string>>;
}

/** What `activate` has registered, by the names that contributions.json has. */
export interface Registered {
  readonly routes: readonly string[];
  readonly tools: readonly string[];
  readonly slashCommands: readonly string[];
  /** `hook.name@major`, in the order in which they were added. */
  readonly taps: readonly string[];
  /** `name@version` with its methods. */
  readonly services: ReadonlyArray<{ readonly name: string; readonly methods: readonly string[] }>;
  readonly listens: readonly string[];
  readonly timers: ReadonlyArray<{ readonly name: string; readonly everyMs?: number; readonly afterMs?: number }>;
  readonly hasStart: boolean;
}

/** A request on its way to a handler. */
export interface WireRequest {
  readonly route: string;
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** Of a route with `streamBody`. */
  readonly stream?: AsyncIterable<Uint8Array>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly actor: Actor;
  readonly ip: string;
  readonly network: string;
  readonly isSecure: boolean;
  readonly page: SendingPage;
}

/** Who reads: an actor that the process was handed, or nobody, with the reason. */
export type WireReader = readonly ['as', Actor] | readonly ['system', string];

/** A write as its maker asks for it: sealed by the daemon when it is committed. */
export type WireWrite =
  | { readonly make: 'insert' | 'update' | 'upsert' | 'remove' | 'sql'; readonly args: readonly unknown[] }
  | { readonly make: 'event'; readonly event: { readonly name: string; readonly version: string }; readonly data: unknown }
  | { readonly make: 'receipt'; readonly request: string; readonly answer: unknown; readonly about?: unknown };

export interface WireFetch {
  readonly status: number;
  readonly headers: Headers;
  readonly url: string;
  readonly body: AsyncIterable<Uint8Array>;
}

export const STOP_REASONS: readonly StopReason[] = ['reload', 'disable', 'shutdown', 'failed'];
