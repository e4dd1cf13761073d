/** What an extension is, and all it can see. */
import type { Actors } from './actor.js';
import type { Backups } from './backups.js';
import type { Disposable } from './disposable.js';
import type { ChildHandle, SandboxState, SpawnOptions } from './adapters/child.js';
import type { Pty } from './adapters/pty.js';
import type { Tcp } from './adapters/tcp.js';
import type { WebSocketConnection, WebSocketOptions } from './adapters/web-socket.js';
import type { Assets, Clock, Egress, ExecOptions, ExecResult, FetchInit, FetchResponse, Files, Ids, Logger, Secrets, Workers } from './adapters.js';
import type { CollectionView } from './declare/collection-view.js';
import type { CapabilityDecl } from './declare/capability.js';
import type { CommandDecl, CommandWordDecl, CompletionDecl } from './declare/command.js';
import type { Events } from './declare/event.js';
import type { ExtensionPlan, ExtensionStatus } from './extension-status.js';
import type { Installation } from './installation.js';
import type { Hooks } from './declare/hook.js';
import type { Plain } from './declare/plain.js';
import type { Services } from './declare/service.js';
import type { TableDecl } from './declare/table.js';
import type { ConfigDecl, WorkerDecl } from './declare/work.js';
import type { Connection, RouteDecl, SocketDecl } from './http/http.js';
import type { Journal } from './journal.js';
import type { Metric } from './kernel-hooks.js';
import type { Schemas } from './schema/check.js';
import type { TSchema } from './schema/schema.js';
import type { Db, Migration } from './storage.js';
import type { Purged, PurgeSubject } from './purge.js';
import type { Trash } from './trash.js';
import type { Streams } from './http/streams.js';
import type { SlashCommand } from './slash-command.js';
import type { AnyTool } from './tools.js';
import type { SettingsView } from './settings.js';
import type { PanelView } from './manifest/panel.js';

export interface ConfigHandle {
  /** The section as validated, with defaults filled; frozen. Ask each time: it may have changed. Only sections that this extension claims. */
  get<S extends TSchema>(config: ConfigDecl<S>): Plain<S>;
  onChange(config: ConfigDecl, fn: () => void): Disposable;
}

/** A hold for long work: a reload waits for its release, up to `drainMs`. */
export interface Hold {
  release(): void;
}

/** A line of the daemon's log, without the values of secrets. */
export interface LoggedLine {
  /** Grows by one with each line of this process. */
  readonly seq: number;
  readonly timestamp: string;
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  /** The area that speaks. */
  readonly target: string;
  readonly message: string;
  readonly request_id?: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LogView {
  /** The newest `count` lines, oldest first; 2,000 are kept. */
  recent(count: number): readonly LoggedLine[];
  /** Repeats until it is disposed; an exception ends it. */
  follow(fn: (line: LoggedLine) => void): Disposable;
}

/** What the grant `kernel:tools` shows of the kernel. */
export interface ToolsView {
  tools(): ReadonlyArray<{ readonly owner: string; readonly bundled: boolean; readonly tool: AnyTool }>;
}

/** The parts of an OpenAPI document that no version of it leaves out. */
export interface OpenApiParts {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly [more: string]: unknown };
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: Readonly<Record<string, unknown>>;
}

/** Beside these it has counters of the daemon, named `svc_…`. */
export interface KernelFacts {
  readonly home_dir: string;
  readonly data_dir: string;
  /** The file, or host and name of the server. */
  readonly database: string;
  readonly log_dir: string;
  readonly config_file: string;
  readonly config_exists: boolean;
  readonly log_level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly hostname: string;
  readonly api_listen: string;
  readonly runtime_version: string;
  readonly platform: string;
  readonly arch: string;
  readonly pid: number;
  readonly rss_bytes: number;
}

/** What the grant `kernel:slash-commands` shows of the kernel. */
export interface SlashCommandsView {
  slashCommands(): ReadonlyArray<{ readonly owner: string; readonly command: SlashCommand }>;
}

export interface ReplicasView {
  /** False on a file, which one daemon has to itself. */
  readonly isShared: boolean;
  readonly bus: {
    readonly carrier: 'process' | 'postgres' | 'nats' | 'none';
    readonly isConnected: boolean;
    readonly problem: string | null;
    /** How long it has not been connected; null while it is. */
    readonly lostMs: number | null;
  };
  /** Oldest first. */
  readonly daemons: ReadonlyArray<{
    /** New at each start. */
    readonly id: string;
    readonly name: string;
    readonly host: string;
    readonly pid: number;
    readonly version: string;
    readonly startedAt: string;
    readonly address: string;
    /** The daemon that is asked. */
    readonly isSelf: boolean;
    /** Since its last heartbeat, by the database's clock; there is one in five seconds. */
    readonly silentMs: number;
    /** Whether its messages reach the daemon that is asked. */
    readonly isReached: boolean;
    /** It numbers and delivers durable events. */
    readonly isRelaying: boolean;
    /** Runs that it holds, by kind. */
    readonly runs: ReadonlyArray<{ readonly kind: string; readonly count: number }>;
  }>;
  /** Runs that could go on and that no daemon has taken. */
  readonly waiting: { readonly runs: number; readonly oldest: string | null };
  /** Durable events that each listener has not had yet. */
  readonly listeners: ReadonlyArray<{ readonly listener: string; readonly behind: number }>;
}

export interface KernelView extends ToolsView, SlashCommandsView {
  /** Also with the grant `kernel:settings` alone. */
  readonly settings: SettingsView;
  readonly version: string;
  readonly startedAt: string;
  readonly preset: string;
  ready(): boolean;
  /** Also with the grant `kernel:extensions` alone. */
  extensions(): ExtensionStatus[];
  plan(action: ExtensionPlan['action'], id: string): ExtensionPlan;
  enable(id: string): Promise<ExtensionStatus>;
  disable(id: string, options?: { force?: boolean }): Promise<ExtensionStatus>;
  reset(id: string): Promise<ExtensionStatus>;
  reload(id: string): Promise<ExtensionStatus>;
  /** Of active extensions that came with the daemon. Also with the grant `kernel:panels` alone, as `panelFiles`. */
  panels(): readonly PanelView[];
  /** The files that the panels of one extension are made of; undefined where it has none, or is not active. */
  panelFiles(extension: string): Assets | undefined;
  graph(): ReadonlyArray<{ readonly id: string; readonly state: ExtensionStatus['state']; readonly needs: readonly string[]; readonly uses: readonly string[]; readonly waitsFor: readonly string[] }>;
  openapi(): { readonly etag: string; readonly document: OpenApiParts };
  /** What GET `path` answers to a caller without a key on another machine. It goes the way of every request, over no network. */
  anonymousGet(path: string): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }>;
  /** Active routes and sockets, for metrics and the conformance oracle. */
  routes(): ReadonlyArray<{ readonly id: string; readonly method: string; readonly path: string; readonly owner: string; readonly auth: string; readonly socket: boolean }>;
  configProblems(): ReadonlyArray<{ readonly file: string; readonly line: number | null; readonly key: string; readonly message: string; readonly severity: 'error' | 'warning' | 'notice' }>;
  facts(): KernelFacts;
  /** What the kernel counts of itself. */
  metrics(): readonly Metric[];
  /** The daemons on this database, who is at work on what, and how far behind. Also with the grant `kernel:replicas` alone. */
  replicas(): Promise<ReplicasView>;
  readonly log: LogView;
  readonly installation: Installation;
  /** Also with the grant `kernel:backups` alone. */
  readonly backups: Backups;
  shutdown(reason: string): void;
}

/** Timers of one extension. Two that wait at the same time may not have one name; names are kebab-case, shown in `svc ext info`. */
export interface Timers {
  /** A call that takes longer than `ms` is never overlapped: the beats it misses are skipped. */
  every(name: string, ms: number, fn: () => void | Promise<void>): Disposable;
  /** Once. Its name is free again when it fires, or is disposed. */
  after(name: string, ms: number, fn: () => void | Promise<void>): Disposable;
  /**
   * When a cron expression of five fields is due next, behind `after`; in milliseconds. A fixed local time that a change of the clock leaves out is
   * due at that change, one that occurs twice at the first; where minute or hour begin with `*`, each time that clocks show counts. Settings have the formats `cron` and `time-zone`. Rejects with `clock_cron` and `clock_time_zone`.
   */
  nextAt(cron: string, timeZone: string, after: number): Promise<number>;
}

/** Capabilities for agents in addition to the interface's own. */
export interface DeclaredCapabilities {
  /** Of every installed area, on or off; one name, one declaration. Frozen, and the same list until an installation changes it. */
  declared(): readonly CapabilityDecl[];
}

export type StopReason = 'reload' | 'disable' | 'shutdown' | 'failed';

export interface ExtensionContext {
  readonly id: string;
  readonly version: string;
  readonly generation: number;
  /** Aborted when this generation stops. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly config: ConfigHandle;
  readonly routes: { add(...decls: readonly RouteDecl[]): Disposable };
  readonly sockets: {
    add(...decls: readonly SocketDecl[]): Disposable;
    /** Open connections of one of this extension's sockets, those accepted by earlier generations included. */
    connections(id: string): readonly Connection[];
  };
  readonly tools: { add(...decls: readonly AnyTool[]): Disposable };
  readonly slashCommands: { add(...commands: readonly SlashCommand[]): Disposable };
  readonly capabilities: DeclaredCapabilities;
  readonly hooks: Hooks;
  readonly services: Services;
  readonly events: Events;
  readonly journal: Journal;
  readonly streams: Streams;
  readonly timers: Timers;
  readonly db: Db;
  /** Erases a person, agent or session everywhere: rows of every extension, and data stored elsewhere. Needs the grant `purge`. */
  purge(subject: PurgeSubject): Promise<Purged>;
  /** What was deleted and can come back. Needs the grant `purge`. */
  readonly trash: Trash;
  /** Needs the grant `egress:<purpose>`. */
  fetch(url: string, init: FetchInit): Promise<FetchResponse>;
  readonly egress: Egress;
  /** Needs the grant `exec`, or `exec:<command>`. */
  exec(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /** A child process with interactive input and output. It needs the same grants and follows the rules of [exec_policy], except for the output limit; the time limit applies only if `timeoutMs` is set. */
  spawn(command: string, args: readonly string[], options: SpawnOptions): Promise<ChildHandle>;
  /** Programs in a terminal of their own. Needs the grant `pty`. */
  readonly pty: Pty;
  /** Whether commands of agents run in a sandbox here, and why not; the same grants. */
  sandbox(): Promise<SandboxState>;
  readonly tcp: Tcp;
  /** Opens a WebSocket to a server. It needs what `tcp.dial` needs: the grant `net:dial:<host>[:port]`, or what `egress.allow` was given as `wss://host`. */
  webSocket(url: string, options?: WebSocketOptions): Promise<WebSocketConnection>;
  /** Ends children that an earlier life of the daemon left behind under this key. Resolves when they are gone. Needs the grant `survivors`, or `exec`. */
  endSurvivors(ownerKey: string): Promise<number>;
  readonly files: Files;
  readonly secrets: Secrets;
  /** An environment variable that the manifest asks for with the grant `env:<NAME>`; others are refused. */
  env(name: string): string | undefined;
  readonly workers: Workers;
  /** Validates values against schemas, as routes are validated. */
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Throws `daemon_no_actors` for a third-party extension: it acts for those who call it. */
  readonly actors: Actors;
  /** Only for extensions whose manifest asks for the grant `kernel`; with a narrow one such as `kernel:tools` only that member answers. */
  readonly kernel: KernelView;
  hold(label: string): Hold | null;
  onDispose(label: string, fn: () => void | Promise<void>): Disposable;
}

export interface ExtensionDefinition {
  /** The exports of contract.ts, as `import * as contract`: the build records them so that others can use and validate them without the extension's code. */
  readonly contract?: Readonly<Record<string, unknown>>;
  /** The worker functions that the manifest names. */
  readonly workers?: readonly WorkerDecl[];
  /** The tables that extension.json names. */
  readonly tables?: readonly TableDecl[];
  readonly migrations?: readonly Migration[];
  /** The capabilities of agents that extension.json names. */
  readonly capabilities?: readonly CapabilityDecl[];
  /** The config sections that extension.json claims. */
  readonly config?: readonly ConfigDecl[];
  /** Its collections as the page draws them. */
  readonly views?: readonly CollectionView[];
  /** What it adds to the command line. */
  readonly commands?: readonly CommandDecl[];
  /** First words of its commands, in addition to its id. */
  readonly commandWords?: readonly CommandWordDecl[];
  /** What Tab offers of its rows. */
  readonly completions?: readonly CompletionDecl[];
  /** Registers only: no I/O, no waiting on others. */
  activate(ctx: ExtensionContext): void | Promise<void>;
  /** After migrations and registration: open listeners, warm caches. May throw `notReady`. */
  start?(ctx: ExtensionContext): void | Promise<void>;
  /** Flush; disposal follows anyway. */
  stop?(why: StopReason): void | Promise<void>;
}

/** Thrown by `start`: try again later (1 s to 60 s); the extension is `pending`, not broken. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}
