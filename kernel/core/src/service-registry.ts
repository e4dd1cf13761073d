/**
 * Services. The facade a consumer holds is stable for ever: each call goes to the provider's current generation and
 * holds it for as long as the call lasts.
 *
 * V1  A service is known by name and major version: two majors stand side by side.
 * V2  Whoever was built against a newer minor than is provided is told so at the call, and never gets half an answer.
 * V3  What crosses fits the declaration wherever the judge says that it is to be looked at.
 */
import {
  type AnyMethodDecl,
  type CallControl,
  type CallOptions,
  type Disposable,
  type OptionalHandle,
  type Service,
  type ServiceDecl,
  type ServiceMethods,
  SvcError,
  declaredAs,
  isOptional,
} from '@svc/api';
import satisfies from 'semver/functions/satisfies.js';
import { deadlineOf, type EndingCall, NEVER } from './call-control.js';
import { type ContractJudge, noJudge } from './contract-judge.js';
import { type Contribution, ContributionRegistry } from './contribution-registry.js';
import { type Owner, currentRequest, runAs } from './owner.js';

type Method = (...args: unknown[]) => unknown;
type Impl = Readonly<Record<string, unknown>>;

interface Provided {
  readonly decl: ServiceDecl;
  readonly impl: Impl;
}

type Row = Contribution<Provided>;

/** One facade: of a declaration, for the callers of one build. */
interface Facade {
  readonly decl: ServiceDecl;
  readonly caller: Owner;
  /** Whether what crosses is looked at: known with the provider. */
  isJudged: boolean;
  readonly methods: Readonly<Record<string, Method>>;
  /** The provider that was found to fit. */
  fits: Row | undefined;
}

interface Listener {
  readonly owner: Owner;
  readonly key: string;
  readonly notify: () => void;
}

export class ServiceRegistry {
  readonly provided: ContributionRegistry<Provided>;
  readonly #facades = new Map<string, Facade>();
  readonly #listeners = new Set<Listener>();
  readonly #failed: (owner: Owner, service: string, error: unknown) => void;
  readonly #judge: ContractJudge;
  #current = new Map<string, Row>();

  /** `failed` hears what a watcher of a service threw: whoever comes and goes is not disturbed by it. */
  constructor(failed: (owner: Owner, service: string, error: unknown) => void, judge: ContractJudge = noJudge) {
    this.#failed = failed;
    this.#judge = judge;
    this.provided = new ContributionRegistry<Provided>('service', {
      describe: ({ decl }) => declaredAs(decl),
      check: (candidate, others) => {
        const key = declaredAs(candidate.value.decl);
        const other = others.find((row) => declaredAs(row.value.decl) === key);
        if (other) throw new Error(`the service ${key} is already provided by ${other.owner.id}`);
      },
      changed: (active) => this.#changed(active),
    });
  }

  has(decl: ServiceDecl): boolean {
    return this.#current.has(declaredAs(decl));
  }

  provide<D extends ServiceDecl>(owner: Owner, decl: D, impl: ServiceMethods<D>): Disposable {
    const missing = Object.keys(decl.methods).find((name) => typeof Reflect.get(impl, name) !== 'function');
    if (missing !== undefined) throw new Error(`the service ${declaredAs(decl)} declares ${missing}, which ${owner.id} does not provide`);
    return this.provided.add(owner, { decl, impl });
  }

  require<D extends ServiceDecl>(owner: Owner, decl: D): Service<D> {
    // The methods were made from the declaration, which the type derives from.
    return this.#facadeOf(owner, decl).methods as Service<D>;
  }

  optional<D extends ServiceDecl>(owner: Owner, decl: D): OptionalHandle<Service<D>> {
    const value = (): Service<D> | undefined => (this.has(decl) ? this.require(owner, decl) : undefined);
    return {
      get value() {
        return value();
      },
      onChange: (fn) => {
        const listener: Listener = { owner, key: declaredAs(decl), notify: () => fn(value()) };
        this.#listeners.add(listener);
        return owner.lifetime.add(`watch of service ${listener.key}`, () => {
          this.#listeners.delete(listener);
        });
      },
    };
  }

  #facadeOf(owner: Owner, decl: ServiceDecl): Facade {
    const key = `${decl.name}@${decl.version} of ${owner.build ?? 'elsewhere'}`;
    const known = this.#facades.get(key);
    if (known) return known;
    const methods: Record<string, Method> = {};
    const facade: Facade = { decl, caller: owner, isJudged: true, methods, fits: undefined };
    for (const [name, method] of Object.entries(decl.methods)) {
      const call: Method = 'frame' in method ? (...args) => this.#stream(facade, name, method, args) : (...args) => this.#invoke(facade, name, method, args);
      // All consumers share the facade: none may put its own method in another's way.
      Object.defineProperty(methods, name, { value: call, enumerable: true });
    }
    this.#facades.set(key, facade);
    return facade;
  }

  /** The provider of now, its method, and what was asked of it; throws when nobody can answer. */
  #open(facade: Facade, name: string, method: AnyMethodDecl, args: readonly unknown[]): { row: Row; fn: Method; leave: () => void; options: CallOptions | undefined; given: unknown[] } {
    const row = this.#current.get(declaredAs(facade.decl));
    const fn = row?.value.impl[name];
    if (!row || typeof fn !== 'function') throw serviceGone(facade.decl, name);
    if (facade.fits !== row) this.#fit(facade, row);
    const count = method.args.length;
    const given = args.slice(0, count);
    if (facade.isJudged) this.#judgeArgs(facade.decl, name, method, given);
    const leave = row.owner.lifetime.enterAnyway(`service ${facade.decl.name}.${name}`);
    if (!leave) throw serviceGone(facade.decl, name);
    while (given.length < count) given.push(undefined);
    // Behind the declared arguments the type allows nothing else.
    return { row, fn: fn as Method, leave, options: args[count] as CallOptions | undefined, given };
  }

  /** A message makes some twenty of these calls: one promise each, beside the method's own. */
  #invoke(facade: Facade, name: string, method: AnyMethodDecl, args: readonly unknown[]): Promise<unknown> {
    try {
      const { row, fn, leave, options, given } = this.#open(facade, name, method, args);
      const control = options === undefined ? undefined : deadlineOf(options, facade.decl, name);
      try {
        given.push(control ?? NEVER);
        const result = runAs(row.owner, currentRequest(), () => fn(...given));
        // A promise comes back as it is; anything else, other thenables too, as a promise.
        const held = leaveAfter(Promise.resolve(result), leave, control);
        const answer = control ? control.race(held) : held;
        return facade.isJudged && 'result' in method ? answer.then((value) => this.#judged(facade.decl, name, method.result, value)) : answer;
      } catch (error) {
        control?.end();
        leave();
        throw error;
      }
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async *#stream(facade: Facade, name: string, method: Extract<AnyMethodDecl, { frame: unknown }>, args: readonly unknown[]): AsyncGenerator<unknown> {
    const { row, fn, leave, options, given } = this.#open(facade, name, method, args);
    const control = options === undefined ? undefined : deadlineOf(options, facade.decl, name);
    const request = currentRequest();
    // A generator goes on as whoever asks it for the next frame.
    const inside = <T>(step: () => T): T => runAs(row.owner, request, step);
    let frames: AsyncIterator<unknown> | undefined;
    try {
      const call: CallControl = control ?? NEVER;
      // What a streaming method gives is an async iterable: `ServiceMethods` says so.
      const source = inside(() => (fn(...given, call) as AsyncIterable<unknown>)[Symbol.asyncIterator]());
      frames = source;
      while (true) {
        const asked = inside(() => source.next());
        const next = await (control ? control.race(asked) : asked);
        if (next.done) return;
        yield facade.isJudged ? this.#judged(facade.decl, name, method.frame, next.value) : next.value;
      }
    } finally {
      const ended = leaveAfter(Promise.resolve(inside(() => frames?.return?.())), leave, control);
      // A method that is late may never come to its end.
      if (control?.isLate()) ended.catch(() => undefined);
      else await ended;
    }
  }

  #judged(decl: ServiceDecl, name: string, schema: AnyMethodDecl['args'][number], value: unknown): unknown {
    this.#judge.check(schema, value, `What ${decl.name}.${name} answers`);
    return value;
  }

  #judgeArgs(decl: ServiceDecl, name: string, method: AnyMethodDecl, given: readonly unknown[]): void {
    for (const [index, schema] of method.args.entries()) {
      if (given[index] === undefined && isOptional(schema)) continue;
      this.#judge.check(schema, given[index], `Argument ${index + 1} of ${decl.name}.${name}`);
    }
  }

  #fit(facade: Facade, row: Row): void {
    const { version } = row.value.decl;
    if (!satisfies(version, `^${facade.decl.version}`)) throw versionUnfit(facade.decl, version, row.owner.id);
    facade.fits = row;
    facade.isJudged = this.#judge.isNeeded(facade.caller, row.owner);
  }

  #changed(active: readonly Row[]): void {
    const before = this.#current;
    this.#current = new Map(active.map((row) => [declaredAs(row.value.decl), row]));
    for (const listener of [...this.#listeners]) {
      if (before.get(listener.key) === this.#current.get(listener.key)) continue;
      try {
        runAs(listener.owner, undefined, listener.notify);
      } catch (error) {
        this.#failed(listener.owner, listener.key, error);
      }
    }
  }
}

/** The provider is held for as long as it works, also where nobody waits for it any more. */
const leaveAfter = <T>(result: Promise<T>, leave: () => void, control: EndingCall | undefined): Promise<T> =>
  result.then(
    (value) => {
      control?.end();
      leave();
      return value;
    },
    (error: unknown) => {
      control?.end();
      leave();
      throw error;
    },
  );

const serviceGone = (decl: ServiceDecl, method: string): SvcError =>
  new SvcError('service_gone', `${decl.name}.${method} cannot be called now: no extension provides ${declaredAs(decl)}.`, {
    status: 503,
    retry: true,
    hint: `See who would provide it with "svc ext graph".`,
    headers: { 'retry-after': '1' },
  });

const versionUnfit = (decl: ServiceDecl, provided: string, by: string): SvcError =>
  new SvcError('service_version', `${decl.name} ${provided}, which ${by} provides, is older than the ${decl.version} that its caller was built against.`, {
    status: 503,
    hint: `Update ${by}, or use a version of the caller that was built for ${decl.name} ${provided}.`,
  });
