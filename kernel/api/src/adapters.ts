/** The adapters: the only ways to cause an effect, and the clock and ids that make time testable. */
import type { Plain } from './declare/plain.js';
import type { WorkerDecl } from './declare/work.js';
import type { TSchema } from './schema/schema.js';
import type { Disposable } from './disposable.js';
import type { AgentReach, SandboxState } from './adapters/child.js';
import type { SecretRef } from './adapters/secret-ref.js';

export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** ISO 8601, UTC. */
  iso(): string;
  /** Milliseconds that only grow; for durations. */
  mono(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  uuid(): string;
  /** Lower-case hex of `bytes` random bytes. */
  hex(bytes: number): string;
  bytes(count: number): Uint8Array;
  /** A number in [0, 1). */
  random(): number;
}

/** `server`: a server that an operator configured at run time, allowed by `egress.allow` before. */
export type FetchPurpose = 'model' | 'tool' | 'webhook' | 'server';

export interface FetchInit {
  purpose: FetchPurpose;
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** What comes piece by piece is sent with back pressure, once: an answer that would have it sent again elsewhere (307, 308) is an error. */
  body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  signal?: AbortSignal;
  /** Whole exchange; at most, and by default, `[web.fetch] timeout_secs`. `model` and `server` calls set their own. */
  timeoutMs?: number;
  /** No byte for this long ends the exchange; 5 minutes by default for `model` and `server`. */
  idleTimeoutMs?: number;
  /** Body bytes at most; never more than `[web.fetch] max_response_bytes`, which is the default. None for `model` and `server`. */
  maxBytes?: number;
  /** For `tool`: patterns of hosts the agent may reach (host-pattern.ts). Checked again at each redirect. */
  allowHosts?: readonly string[];
  /** Adds headers from secrets that only this adapter resolves, e.g. `{ authorization: { secret: 'provider.openai', env: 'OPENAI_API_KEY', prefix: 'Bearer ' } }`. */
  secretHeaders?: Readonly<Record<string, SecretRef & { prefix?: string }>>;
  /** Adds fields from secrets to a form: `body` is text in the form of application/x-www-form-urlencoded, or left out. It is never sent to another origin. */
  secretForm?: Readonly<Record<string, SecretRef>>;
  /** Puts secrets into the path: `{token}` in the URL becomes the value of `token`. Redirects are the answer then, and no message shows the path. Not for `model`. */
  secretPath?: Readonly<Record<string, SecretRef>>;
  /** `manual`: a redirect is the answer. By default it is followed, for `server` only to what is allowed. */
  redirect?: 'follow' | 'manual';
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The address that answered, after redirects. */
  readonly url: string;
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * The body by calls instead of a loop: `take` is given each piece in the turn in which it comes, which costs no promise.
   * Resolves at the end of the body. What `take` throws ends the exchange, and rejects.
   */
  each(take: (piece: Uint8Array) => void): Promise<void>;
  text(): Promise<string>;
  json(): Promise<unknown>;
  /** Drops the rest of the body. */
  cancel(): void;
}

export interface ExecOptions {
  cwd: string;
  /** Values added to a scrubbed environment. */
  env?: Readonly<Record<string, string>>;
  /** Of the variables that `[exec_policy] allowed_env_vars` lets through, only these. */
  envNames?: readonly string[];
  stdin?: string;
  /** Default 30 s; never more than `[exec_policy] timeout_secs` where that is set. */
  timeoutMs?: number;
  /** Nothing written for this long ends the process. */
  idleTimeoutMs?: number;
  /** Default 100 KiB; never more than `[exec_policy] max_output_bytes` where that is set. */
  maxOutputBytes?: number;
  /** Refuses arguments that name the daemon's own files: for commands that a model wrote. */
  guardsOwnFiles?: boolean;
  signal?: AbortSignal;
  /** Names the effect in the child register, so that a process that survives a crash is stopped before its run continues. */
  ownerKey?: string;
  /** Set for what an agent starts: it runs in the sandbox of commands where `[tools] sandbox` says so and one works, and sees `cwd` and this. */
  agent?: AgentReach;
}

export interface ExecResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** Which bound of the sandbox it went beyond, and was ended for. */
  readonly exceeded?: string;
  /** Of a command of an agent: what kept it apart. */
  readonly sandbox?: SandboxState;
}

export interface DirEntry {
  readonly name: string;
  readonly kind: 'file' | 'dir' | 'other';
  readonly sizeBytes: number;
  readonly modifiedAt: string;
  /** When it was last written, renamed or given other rights. No program can set it, unlike `modifiedAt`. */
  readonly changedAt: string;
}

/** A folder by handle. Paths are relative, never leave it, and never follow a link out of it. */
export interface Dir {
  /** Absolute path, for messages and for `exec`. */
  readonly path: string;
  read(path: string, options?: { maxBytes?: number }): Promise<Uint8Array>;
  readText(path: string, options?: { maxBytes?: number }): Promise<string>;
  /** Temp file, fsync, rename, directory fsync; mode kept, or `mode` (e.g. 0o600). Makes missing folders. `noLinks`: refuses a path through a linked folder, also one that stays inside, for whoever validated the path by its name. */
  write(path: string, data: string | Uint8Array, options?: { mode?: number; noLinks?: boolean }): Promise<void>;
  /** Piece by piece: bytes from `start` up to, not including, `end`. `maxBytes` limits what is given, and has no default. Nothing is opened before the first piece is requested; leaving the loop closes it. */
  readStream(path: string, options?: { start?: number; end?: number; maxBytes?: number }): AsyncIterable<Uint8Array>;
  /** As `write`, from a source as it comes; resolves with the number of bytes. More than `maxBytes`, or a source that throws: nothing is left. */
  writeStream(path: string, source: AsyncIterable<Uint8Array>, options: { maxBytes: number; mode?: number; noLinks?: boolean }): Promise<number>;
  list(path?: string, options?: { recursive?: boolean; limit?: number }): Promise<DirEntry[]>;
  stat(path: string): Promise<DirEntry | undefined>;
  remove(path: string, options?: { noLinks?: boolean }): Promise<boolean>;
  /** A folder below this one. */
  dir(path: string): Dir;
}

/** What a column of a database of another program holds. */
export type ForeignValue = string | number | null | Uint8Array;

/** A copy of a database of another program. */
export interface ForeignDatabase {
  /** One SELECT of at most 64 MiB. Throws `file_not_a_database`. */
  all<T extends object = Record<string, ForeignValue>>(sql: string, args?: readonly (string | number)[]): Promise<T[]>;
  /** Closes and deletes the copy. */
  close(): Promise<void>;
}

/** A folder of another program: it is read, and never written. Paths are relative, never leave it, and never follow a link out of it. */
export interface ForeignDir extends Pick<Dir, 'path' | 'read' | 'readText' | 'readStream' | 'stat' | 'list'> {
  /** Copies a SQLite database with its WAL, and opens the copy: the original is not even locked. Throws `file_changing` when it is written meanwhile. */
  database(path: string): Promise<ForeignDatabase>;
  /** Ids of processes that hold locks on the file; empty where nobody does, and where the system does not say. */
  heldBy(path: string): Promise<readonly number[]>;
  /** Whether a process of this id runs. */
  isRunning(pid: number): boolean;
}

/** Static files built with an extension, read-only. */
export type Assets = Pick<Dir, 'read' | 'readText' | 'readStream' | 'stat'>;

/** Shared folders. What people put into `inbox` is taken from there; the others hold what an area installed. */
export const FILE_ROOTS = ['workspaces', 'uploads', 'templates', 'checkpoints', 'skills', 'hands', 'plugins', 'registry', 'inbox', 'mcp'] as const;
export type FileRoot = (typeof FILE_ROOTS)[number];

export interface Files {
  /** What the build put there: `assets` of package.json. Empty where it names none. */
  readonly assets: Assets;
  /** This extension's own data, kept. */
  readonly data: Dir;
  /** This extension's own cache, may vanish. */
  readonly cache: Dir;
  /** A shared root by name, with the grant `files:<name>`. */
  root(name: FileRoot): Dir;
  /** A folder of another program at an absolute path, links followed, that is one of `roots` or below one. Needs the grant `files:migrate`. Throws `file_outside_roots`, `file_missing`. */
  foreign(path: string, roots: readonly string[]): Promise<ForeignDir>;
}

/** Which addresses are reached beside public ones: those that an operator configured. */
export interface Egress {
  /**
   * From now on everything below this base URL, until it is disposed of or this generation stops. Throws `fetch_bad_url`.
   * `model`, the default, needs the grant `egress:origins`. `server` needs `egress:server` and holds for this extension alone: `fetch` with that purpose
   * reaches it on private networks too, `webSocket` what is allowed as `wss://host`, and `tcp.dial` what is allowed as `tcp://host:port`. Cloud metadata and the daemon's own port are never reached by it.
   * `proxy`: calls of models there leave through it (http, https or socks5), whatever [proxy] and the environment say.
   */
  allow(baseUrl: string, purpose?: 'model' | 'server', options?: { readonly proxy?: string | undefined }): Disposable;
  /**
   * Why a request with the purpose `webhook` to this address would be refused now: its scheme, or an address that is not public.
   * Undefined where it would be sent, and where the name cannot be resolved: each request is checked again. Needs what `fetch` needs.
   */
  refusal(url: string): Promise<string | undefined>;
}

export interface Secrets {
  /** Where the secret has a value: kept in the vault, in the environment, or nowhere. */
  where(ref: SecretRef): Promise<'stored' | 'environment' | undefined>;
  /** The value itself, for a login that is no HTTP request: of a broker, of a mail server. Needs the grant `secrets-login`. The log hides it from then on. */
  login(ref: SecretRef): Promise<string | undefined>;
  put(name: string, value: string): Promise<void>;
  delete(name: string): Promise<boolean>;
  list(prefix: string): Promise<string[]>;
  /** Signs with the Ed25519 key that is stored under this name, and makes it when there is none. The key never leaves the adapter. */
  sign(name: string, data: Uint8Array): Promise<Signature>;
  /** The HMAC of `data` under a stored secret, which stays in the adapter: one-time codes and signatures. Undefined where there is no such secret. */
  hmac(name: string, data: Uint8Array, options: HmacOptions): Promise<Uint8Array | undefined>;
}

export interface HmacOptions {
  readonly algorithm: 'sha1' | 'sha256';
  /** How the secret was written when it was stored. `whsec`: as Standard Webhooks has it, base64 after `whsec_`; any other text is the key itself. */
  readonly key: 'utf8' | 'hex' | 'base64' | 'whsec';
}

/** Ed25519 (RFC 8032): 64 bytes, and the raw 32 bytes of the public key that verifies them. */
export interface Signature {
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array;
}

export interface Workers {
  /** Runs a pure worker function of this extension in the pool. Input and output are structured-cloneable. */
  run<I extends TSchema, O extends TSchema>(worker: WorkerDecl<I, O>, input: Plain<I>, options?: { signal?: AbortSignal }): Promise<Plain<O>>;
}
