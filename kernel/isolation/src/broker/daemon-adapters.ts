/**
 * What the process of an extension may ask of the daemon. Each question goes to the context that the daemon made for this
 * extension, and so is validated where those of every other extension are.
 *
 * D1  Nothing is reached but by that context: no grant, table, secret or host is validated here, and none is passed by.
 * D2  What one process opened or holds ends with it.
 */
import {
  type Actor,
  type CommitResult,
  type Dir,
  type Disposable,
  type EventDecl,
  type ExtensionContext,
  type FetchInit,
  FILE_ROOTS,
  type HookDecl,
  type Hold,
  type Reader,
  type Reply,
  type Req,
  type ServiceDecl,
  type TSchema,
  type Write,
  Type,
} from '@svc/api';
import type { AnyMethodDecl } from '@svc/api/internal';
import { holdsBytes, isAsyncIterable } from '../channel/packed.js';
import type { Control } from '../channel/peer.js';
import { isolationErrors } from '../errors.js';
import type { WireFetch, WireWrite } from '../protocol.js';
import type { HandedActors } from './actors.js';
import { replyOf } from './replies.js';

export interface AdaptersInputs {
  readonly ctx: ExtensionContext;
  readonly actors: HandedActors;
  /** Requests that are under way, by id: their receipts are asked for by it. */
  readonly requests: ReadonlyMap<string, Req>;
  /** The events that its contributions.json declares, by name. */
  readonly events: ReadonlyMap<string, EventDecl>;
  /** The process is not at rest while it says so. */
  busy(number: number, isBusy: boolean): void;
  /** Something threw in the process where nobody waits. */
  reportUnhandled(place: string, message: string): void;
}

const MAX_HOLDS = 1_000;
const MAX_ORIGINS = 1_000;
const MAX_SERVICES = 200;
const MAX_METHODS = 200;
const MAX_ARGS = 20;
const LOG_LINES_PER_SECOND = 200;
const MAX_LOG_CHARS = 8_192;
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const FILE_CALLS = ['read', 'readText', 'write', 'readStream', 'writeStream', 'list', 'stat', 'remove'] as const;

export class DaemonAdapters {
  readonly #inputs: AdaptersInputs;
  readonly #holds = new Map<number, Hold>();
  readonly #origins = new Map<number, Disposable>();
  readonly #services = new Map<string, ServiceDecl>();
  #lines = { second: 0, count: 0 };

  constructor(inputs: AdaptersInputs) {
    this.#inputs = inputs;
  }

  /** What the process held when it ended. */
  close(): void {
    for (const hold of this.#holds.values()) hold.release();
    for (const origin of this.#origins.values()) void origin.dispose();
    this.#holds.clear();
    this.#origins.clear();
  }

  async serve(to: string, given: readonly unknown[], control: Control): Promise<unknown> {
    const { actors, ctx } = this.#inputs;
    const args = given.map((one) => actors.known(one));
    const [adapter = '', name = ''] = to.split('.', 2);
    let answer: unknown;
    if (adapter === 'db') answer = await this.#db(name, args);
    else if (adapter === 'files') answer = await this.#files(name, args);
    else if (adapter === 'trash' && name === 'holds') answer = await call(ctx.trash, name, args);
    else if (adapter === 'secrets' && isOneOf(['where', 'login', 'put', 'delete', 'list', 'sign', 'hmac'] as const, name)) answer = await call(ctx.secrets, name, args);
    else if (adapter === 'schemas' && isOneOf(['check', 'places'] as const, name)) answer = await call(ctx.schemas, name, args);
    else if (to === 'timers.nextAt') answer = await ctx.timers.nextAt(String(args[0]), String(args[1]), Number(args[2]));
    else if (to === 'egress.refusal') answer = await ctx.egress.refusal(String(args[0]));
    else if (to === 'fetch') return this.#fetch(String(args[0]), args[1], control);
    else if (to === 'service') answer = await this.#service(args, control);
    else if (to === 'hook') answer = await this.#hook(args);
    else throw isolationErrors.unknown_target(to);
    return answer;
  }

  onNotify(to: string, args: readonly unknown[]): void {
    const { ctx } = this.#inputs;
    try {
      if (to === 'log') this.#log(args);
      else if (to === 'stray') this.#reportUnhandled(String(args[0]), String(args[1]));
      else if (to === 'busy' || to === 'idle') this.#inputs.busy(Number(args[0]), to === 'busy');
      else if (to === 'service.use') this.#use(args[0], args[1]);
      else if (to === 'hold') this.#hold(Number(args[0]), String(args[1]).slice(0, 100));
      else if (to === 'release') this.#release(Number(args[0]));
      else if (to === 'event.publish') ctx.events.publish(this.#eventOf(args[0]), dataOf(this.#inputs.actors.known(args[1])) as never);
      else if (to === 'egress.allow') this.#allow(Number(args[0]), String(args[1]), args[2] === 'server' ? 'server' : 'model', typeof args[3] === 'string' ? args[3] : undefined);
      else if (to === 'egress.drop') this.#disallow(Number(args[0]));
      else if (to === 'env') ctx.env(String(args[0]));
    } catch (error) {
      // Nobody waits for an answer: what was refused is told where people look.
      if (this.#mayLog()) ctx.log.warn('a request of the extension was refused', { asked: to.slice(0, 100), cause: error });
    }
  }

  async #db(name: string, args: readonly unknown[]): Promise<unknown> {
    const [first, ...rest] = args;
    if (name === 'commit') return this.#commit(listOf(first));
    if (isOneOf(['select', 'first', 'count', 'page', 'read', 'readOne'] as const, name)) return call(this.#reader(listOf(first)), name, rest);
    throw isolationErrors.unknown_target(`db.${name}`);
  }

  /** The actor is the one that was handed over, in the place of its copy; a copy of any other is refused by `db.as`. */
  #reader([kind, who]: readonly unknown[]): Reader {
    const { db } = this.#inputs.ctx;
    if (kind === 'as') return db.as(who as Actor); // whatever it is, db.as checks it
    if (kind === 'system') return db.system(String(who));
    throw isolationErrors.unknown_target('a read of nobody');
  }

  /** A receipt for a caller who brought no key is no write; the process counts one all the same. */
  async #commit(asked: readonly unknown[]): Promise<CommitResult> {
    const made = asked.map((one) => this.#write(one));
    const { changes } = await this.#inputs.ctx.db.commit(made.flat());
    const left = [...changes];
    return { changes: made.map((writes) => left.splice(0, writes.length).reduce((sum, one) => sum + one, 0)) };
  }

  /** Made and sealed by the extension's own context. */
  #write(value: unknown): readonly Write[] {
    const { ctx, requests } = this.#inputs;
    // What the process says is looked at here, and whatever is none of these is refused.
    const write = value as WireWrite;
    if (write.make === 'event') return [ctx.events.event(this.#eventOf(write.event), dataOf(write.data) as never)];
    if (write.make === 'receipt') return this.#receipt(requests.get(String(write.request)), write.answer, write.about);
    if (isOneOf(['insert', 'update', 'upsert', 'remove', 'sql'] as const, write.make)) return [call(ctx.db, write.make, listOf(write.args)) as Write];
    throw isolationErrors.unknown_target('db.commit');
  }

  #receipt(req: Req | undefined, answer: unknown, about: unknown): readonly Write[] {
    if (!req) throw isolationErrors.unknown_target('a request that is over');
    const { subject, session } = about === undefined ? {} : objectOf(about);
    return req.receipt(jsonReply(answer), { ...(typeof subject === 'string' ? { subject } : {}), ...(typeof session === 'string' ? { session } : {}) });
  }

  /** As contributions.json declares it: what the process says of it counts for nothing. */
  #eventOf(value: unknown): EventDecl {
    const { name } = objectOf(value);
    const declared = this.#inputs.events.get(String(name));
    if (!declared) throw isolationErrors.unknown_target(`the event ${shortName(name)}`);
    return declared;
  }

  async #files(name: string, [root, under, ...args]: readonly unknown[]): Promise<unknown> {
    if (!isOneOf(FILE_CALLS, name)) throw isolationErrors.unknown_target(`files.${name}`);
    const dir = this.#dir(String(root), String(under));
    if (typeof Reflect.get(dir, name) !== 'function') throw isolationErrors.unknown_target(`files.${name}`);
    return call(dir as Dir, name, name === 'writeStream' ? [args[0], bytesOf(args[1]), args[2]] : args);
  }

  #dir(root: string, under: string): Dir | ExtensionContext['files']['assets'] {
    const { files } = this.#inputs.ctx;
    if (root === 'assets') return files.assets;
    const dir = root === 'data' || root === 'cache' ? files[root] : isOneOf(FILE_ROOTS, root) ? files.root(root) : undefined;
    if (!dir) throw isolationErrors.unknown_target(`files of ${root}`);
    return under === '' ? dir : dir.dir(under);
  }

  async #fetch(url: string, init: unknown, { signal }: Control): Promise<WireFetch> {
    const { body, ...rest } = objectOf(init);
    const given = isAsyncIterable(body) ? bytesOf(body) : body;
    const { status, headers, url: from, body: pieces } = await this.#inputs.ctx.fetch(url, { ...rest, ...(given === undefined ? {} : { body: given }), signal } as FetchInit);
    return { status, headers, url: from, body: pieces };
  }

  /** Which methods the process means to call, with how many arguments: what each takes and gives its provider declares. */
  #use(decl: unknown, methods: unknown): void {
    const { name, version } = objectOf(decl);
    const key = keyOf(name, version);
    if (this.#services.size >= MAX_SERVICES || this.#services.has(key)) return;
    const asked = Object.entries(objectOf(methods));
    if (asked.length > MAX_METHODS) throw isolationErrors.flood(`a service of ${asked.length} methods`);
    const specs = asked.map(([method, spec]): [string, AnyMethodDecl] => {
      const { count, isStream } = objectOf(spec);
      const args = argsOf(Math.min(Number(count), MAX_ARGS));
      return [method, isStream === true ? { args, frame: Type.Unknown() } : { args, result: Type.Unknown() }];
    });
    this.#services.set(key, { declares: 'service', name: String(name), version: String(version), methods: Object.fromEntries(specs) });
  }

  async #service([decl, method, given]: readonly unknown[], { signal }: Control): Promise<unknown> {
    const { name, version } = objectOf(decl);
    const asked = this.#services.get(keyOf(name, version));
    const spec = asked && Object.hasOwn(asked.methods, String(method)) ? asked.methods[String(method)] : undefined;
    if (!asked || !spec) throw isolationErrors.unknown_target(`${shortName(name)}.${shortName(method)}`);
    const service = this.#inputs.ctx.services.optional(asked).value;
    if (!service) throw isolationErrors.no_service(String(name));
    const args = listOf(given).slice(0, spec.args.length);
    while (args.length < spec.args.length) args.push(undefined);
    const fn = Reflect.get(service, String(method)) as (...args: unknown[]) => unknown;
    return fn(...args, { signal });
  }

  async #hook([decl, given]: readonly unknown[]): Promise<unknown> {
    // The slot that its owner made is found by name and version; what else is said of it counts for nothing.
    const handle = this.#inputs.ctx.hooks.use(objectOf(decl) as unknown as HookDecl);
    return (handle.call as (...args: unknown[]) => Promise<unknown>)(...listOf(given));
  }

  #hold(number: number, label: string): void {
    if (this.#holds.size >= MAX_HOLDS || this.#holds.has(number)) return;
    const hold = this.#inputs.ctx.hold(label);
    if (hold) this.#holds.set(number, hold);
  }

  #release(number: number): void {
    this.#holds.get(number)?.release();
    this.#holds.delete(number);
  }

  #allow(number: number, baseUrl: string, purpose: 'model' | 'server', proxy: string | undefined): void {
    if (this.#origins.size >= MAX_ORIGINS || this.#origins.has(number)) return;
    this.#origins.set(number, this.#inputs.ctx.egress.allow(baseUrl, purpose, { proxy }));
  }

  #disallow(number: number): void {
    void this.#origins.get(number)?.dispose();
    this.#origins.delete(number);
  }

  /** Each is a line of the log, too. */
  #reportUnhandled(place: string, message: string): void {
    if (this.#mayLog()) this.#inputs.reportUnhandled(place.slice(0, 100), message.slice(0, MAX_LOG_CHARS));
  }

  #log([level, message, fields]: readonly unknown[]): void {
    if (!isOneOf(LEVELS, level) || !this.#mayLog()) return;
    this.#inputs.ctx.log[level](String(message).slice(0, MAX_LOG_CHARS), boundedFields(fields));
  }

  /** Whether another line fits into this second. */
  #mayLog(): boolean {
    const second = Math.floor(Date.now() / 1_000);
    if (this.#lines.second !== second) {
      if (this.#lines.count > LOG_LINES_PER_SECOND) this.#inputs.ctx.log.warn('lines of the log were dropped', { dropped: this.#lines.count - LOG_LINES_PER_SECOND });
      this.#lines = { second, count: 0 };
    }
    this.#lines.count += 1;
    return this.#lines.count <= LOG_LINES_PER_SECOND;
  }
}

const isOneOf = <const T extends readonly string[]>(names: T, name: unknown): name is T[number] => names.some((one) => one === name);

const call = (target: object, name: string, args: readonly unknown[]): unknown => (Reflect.get(target, name) as (...given: readonly unknown[]) => unknown)(...args);

const listOf = (value: unknown): unknown[] => {
  if (!Array.isArray(value)) throw isolationErrors.frame_broken('a list was expected');
  return [...value];
};

const objectOf = (value: unknown): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null) throw isolationErrors.frame_broken('an object was expected');
  return Object.fromEntries(Object.entries(value));
};

/** Arguments that may be left out may be given, too: which of them may be, their provider validates. */
const argsOf = (count: number): TSchema[] => Array.from({ length: count }, () => Type.Optional(Type.Unknown()));

/** It is kept, and answered when the same request comes again: what holds for an answer holds for it. */
const jsonReply = (answer: unknown): Reply => {
  const { status, body, headers } = objectOf(answer);
  return replyOf({ kind: 'json', status, body, headers: headers ?? {} });
};

async function* bytesOf(source: unknown): AsyncGenerator<Uint8Array> {
  if (!isAsyncIterable(source)) throw isolationErrors.not_plain('no stream where one was expected');
  for await (const piece of source) {
    if (!(piece instanceof Uint8Array)) throw isolationErrors.not_plain('a stream of something else than bytes');
    yield piece;
  }
}

/** Of an event, which is written as JSON. */
const dataOf = (data: unknown): unknown => {
  if (holdsBytes(data)) throw isolationErrors.not_plain('bytes in the data of an event');
  return data;
};

const shortName = (name: unknown): string => String(name).slice(0, 100);

const keyOf = (name: unknown, version: unknown): string => `${shortName(name)} ${shortName(version)}`;

const boundedFields = (fields: unknown): Record<string, unknown> => {
  if (typeof fields !== 'object' || fields === null) return {};
  if (holdsBytes(fields)) return { cut: 'it held bytes' };
  const text = JSON.stringify(fields);
  return text.length > MAX_LOG_CHARS ? { cut: text.slice(0, MAX_LOG_CHARS) } : { ...fields };
};
