/**
 * Services. The facade a consumer holds is stable for ever: each call goes to the provider's current generation and
 * holds it for as long as the call lasts.
 *
 * V1  A service is known by name and major version: two majors stand side by side.
 * V2  Whoever was built against a newer minor than is provided is told so at the call, and never gets half an answer.
 * V3  What crosses fits the provider's declaration wherever the validator says that it is to be looked at: what a caller says
 *     of a service is not what counts. What crosses between builds is a copy, and its actors are those that were handed over.
 */
import { type CallControl, type CallOptions, type Disposable, type OptionalHandle, type Service, type ServiceDecl, type ServiceMethods, SvcError, type TSchema, isThenable } from '@svc/api';
import { AT_ONCE, type AnyMethodDecl, declaredAs, isOptional } from '@svc/api/internal';
import satisfies from 'semver/functions/satisfies.js';
import { type ActorRegistry, createActorRegistry } from './contracts/actor-registry.js';
import { type Begun, Frames } from './frames.js';
import { deadlineOf, type EndingCall, NEVER } from './hooks/call-control.js';

import { type ContractValidator, noValidator } from './contracts/contract-validator.js';
import { type Contribution, ContributionRegistry } from './contribution-registry.js';
import { plainCopy } from './contracts/crossing.js';
import { type Contributor, runAs } from './owner.js';

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
  readonly key: string;
  readonly caller: Contributor;
  /** Whether what crosses is looked at: known with the provider. */
  isValidated: boolean;
  /** Whether it is copied. */
  isForeign: boolean;
  /** Whether it may act for whom it names. */
  readonly isTrusted: boolean;
  readonly methods: Readonly<Record<string, Method>>;
  /** The provider that was found to fit. */
  fits: Row | undefined;
}

/** A method as its callers know it. */
interface Called {
  readonly name: string;
  /** How many arguments the caller's declaration has. */
  readonly count: number;
  /** What holds the provider while it works. */
  readonly label: string;
  /** How a call ends that nobody gave an end of its own: made once for each provider. */
  ending: Ending | undefined;
}

/** Lets go of a provider, and hands on what it answered. */
interface Ending {
  readonly row: Row;
  readonly answered: <T>(value: T) => T;
  readonly failed: (error: unknown) => never;
}

/** A call that can be made. */
interface Opened {
  readonly row: Row;
  readonly method: AnyMethodDecl;
  readonly fn: Method;
  readonly options: CallOptions | undefined;
  readonly given: unknown[];
}

interface Listener {
  readonly owner: Contributor;
  readonly key: string;
  readonly notify: () => void;
}

export class ServiceRegistry {
  readonly provided: ContributionRegistry<Provided>;
  readonly #facades = new Map<string, Facade>();
  /** Third parties share none: what one of them says of a service is nothing to another. */
  readonly #thirdParties = new WeakMap<Contributor, Map<string, Facade>>();
  readonly #actors: ActorRegistry;
  readonly #listeners = new Set<Listener>();
  readonly #failed: (owner: Contributor, service: string, error: unknown) => void;
  readonly #validator: ContractValidator;
  #current = new Map<string, Row>();

  /** `failed` hears what a watcher of a service threw: whoever comes and goes is not disturbed by it. */
  constructor(failed: (owner: Contributor, service: string, error: unknown) => void, validator: ContractValidator = noValidator, actors: ActorRegistry = createActorRegistry()) {
    this.#failed = failed;
    this.#actors = actors;
    this.#validator = validator;
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

  provide<D extends ServiceDecl>(owner: Contributor, decl: D, impl: ServiceMethods<D>): Disposable {
    const missing = Object.keys(decl.methods).find((name) => typeof Reflect.get(impl, name) !== 'function');
    if (missing !== undefined) throw new Error(`the service ${declaredAs(decl)} declares ${missing}, which ${owner.id} does not provide`);
    return this.provided.add(owner, { decl, impl });
  }

  /** `isTrusted`: it acts for whom it names. Others of another build act for actors that they were handed. */
  require<D extends ServiceDecl>(owner: Contributor, decl: D, isTrusted = true): Service<D> {
    // The methods were made from the declaration, which the type derives from.
    return this.#facadeOf(owner, decl, isTrusted).methods as Service<D>;
  }

  optional<D extends ServiceDecl>(owner: Contributor, decl: D, isTrusted = true): OptionalHandle<Service<D>> {
    const key = declaredAs(decl);
    let facade: Service<D> | undefined;
    const value = (): Service<D> | undefined => {
      if (!this.#current.has(key)) return undefined;
      facade ??= this.require(owner, decl, isTrusted);
      return facade;
    };
    return {
      get value() {
        return value();
      },
      onChange: (fn) => {
        const listener: Listener = { owner, key, notify: () => fn(value()) };
        this.#listeners.add(listener);
        return owner.lifetime.add(`watch of service ${listener.key}`, () => {
          this.#listeners.delete(listener);
        });
      },
    };
  }

  #facadeOf(owner: Contributor, decl: ServiceDecl, isTrusted: boolean): Facade {
    const facades = this.#facadesFor(owner);
    const key = declaredAs(decl);
    const id = `${decl.name}@${decl.version} of ${owner.build ?? 'elsewhere'}`;
    const known = facades.get(id);
    if (known) return known;
    const methods: Record<string, Method> = {};
    const atOnce: Record<string, Method> = {};
    const facade: Facade = { decl, key, caller: owner, isValidated: true, isForeign: true, isTrusted, methods, fits: undefined };
    for (const [name, method] of Object.entries(decl.methods)) {
      const called: Called = { name, count: method.args.length, label: `service ${decl.name}.${name}`, ending: undefined };
      const answer: Method = 'frame' in method ? (...args) => new Frames(() => this.#begin(facade, called, args)) : (...args) => this.#invoke(facade, called, args);
      const call: Method = 'frame' in method ? answer : (...args) => Promise.resolve(this.#invoke(facade, called, args));
      // All consumers share the facade: none may put its own method in another's way.
      Object.defineProperty(methods, name, { value: call, enumerable: true });
      Object.defineProperty(atOnce, name, { value: answer, enumerable: true });
    }
    Object.defineProperty(methods, AT_ONCE, { value: Object.freeze(atOnce) });
    Object.freeze(methods);
    facades.set(id, facade);
    return facade;
  }

  #facadesFor(owner: Contributor): Map<string, Facade> {
    if (owner.build !== undefined) return this.#facades;
    const own = this.#thirdParties.get(owner) ?? new Map<string, Facade>();
    this.#thirdParties.set(owner, own);
    return own;
  }

  /** The provider of now, its method, and what was asked of it; throws when nobody can answer. */
  #open(facade: Facade, { name, count, label }: Called, args: readonly unknown[]): Opened {
    if (facade.caller.build === undefined && facade.caller.lifetime.state === 'closed') throw callerGone(facade.caller);
    const row = this.#current.get(facade.key);
    const fn = row?.value.impl[name];
    // What the provider declares counts: its object may have more than that.
    const method = row && Object.hasOwn(row.value.decl.methods, name) ? row.value.decl.methods[name] : undefined;
    if (!row || typeof fn !== 'function') throw serviceGone(facade.decl, name);
    if (facade.fits !== row) this.#fit(facade, row);
    if (!method) throw serviceGone(facade.decl, name);
    if (facade.caller.build === undefined && row.owner.build !== undefined) forOthers(facade, name, method, args);
    const given = this.#given(facade, name, method, args.slice(0, Math.min(count, method.args.length)));
    if (!row.owner.lifetime.countIn(label)) throw serviceGone(facade.decl, name);
    while (given.length < method.args.length) given.push(undefined);
    // Behind the declared arguments the type allows nothing else.
    return { row, method, fn: fn as Method, options: args[count] as CallOptions | undefined, given };
  }

  /** The arguments as the provider gets them. */
  #given(facade: Facade, name: string, method: AnyMethodDecl, args: unknown[]): unknown[] {
    if (!facade.isValidated) return args;
    const where = (index: number): string => `Argument ${index + 1} of ${facade.decl.name}.${name}`;
    const given = facade.isForeign ? args.map((value, index) => plainCopy(value, where(index))) : args;
    for (const [index, schema] of method.args.entries()) {
      if (given[index] === undefined && isOptional(schema)) continue;
      this.#validator.check(schema, given[index], where(index));
      if (facade.isForeign) given[index] = this.#withActors(facade, schema, given[index], where(index));
    }
    return given;
  }

  /** A third party's actors are looked at; those that a third party is given are handed over to it. */
  #withActors(facade: Facade, schema: TSchema, value: unknown, where: string): unknown {
    if (!facade.isTrusted && facade.caller.build === undefined) this.#actors.check(facade.caller, schema, value, where);
    return this.#actors.handAll(schema, value);
  }

  /** A message makes some thirty of these calls: what is answered at once costs no promise here, anything else one beside its own. Never throws: what fails rejects. */
  #invoke(facade: Facade, called: Called, args: readonly unknown[]): unknown {
    const { name } = called;
    try {
      const { row, method, fn, options, given } = this.#open(facade, called, args);
      const control = options === undefined ? undefined : deadlineOf(options, facade.decl, name);
      const ending = endingOf(called, row, control);
      given.push(control ?? NEVER);
      let result: unknown;
      try {
        result = runAs(row.owner, () => fn(...given));
      } catch (error) {
        return ending.failed(error);
      }
      const isLooked = facade.isValidated && 'result' in method;
      if (!isThenable(result)) {
        const answer = ending.answered(result);
        return isLooked ? this.#validated(facade, name, method.result, answer) : answer;
      }
      // A promise is listened to as it is, other thenables as a promise.
      const held = Promise.resolve(result).then(ending.answered, ending.failed);
      const answer = control ? control.race(held) : held;
      return isLooked ? answer.then((value) => this.#validated(facade, name, method.result, value)) : answer;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** A stream that was asked for its first frame. */
  #begin(facade: Facade, called: Called, args: readonly unknown[]): Begun {
    const { name } = called;
    const { row, method, fn, options, given } = this.#open(facade, called, args);
    const control = options === undefined ? undefined : deadlineOf(options, facade.decl, name);
    const inside = <T>(step: () => T): T => runAs(row.owner, step);
    const call: CallControl = control ?? NEVER;
    const ending = endingOf(called, row, control);
    try {
      // What a streaming method gives is an async iterable: `ServiceMethods` says so.
      const source = inside(() => (fn(...given, call) as AsyncIterable<unknown>)[Symbol.asyncIterator]());
      const validated = facade.isValidated && 'frame' in method ? (value: unknown) => this.#validated(facade, name, method.frame, value) : undefined;
      return { source, inside, control, validated, leave: () => ending.answered(undefined) };
    } catch (error) {
      return ending.failed(error);
    }
  }

  #validated({ decl, isForeign }: Facade, name: string, schema: TSchema, value: unknown): unknown {
    const where = `What ${decl.name}.${name} answers`;
    const answer = isForeign ? plainCopy(value, where) : value;
    this.#validator.check(schema, answer, where);
    return answer;
  }

  #fit(facade: Facade, row: Row): void {
    const { version } = row.value.decl;
    if (!satisfies(version, `^${facade.decl.version}`)) throw versionUnfit(facade.decl, version, row.owner.id);
    facade.fits = row;
    facade.isValidated = this.#validator.isNeeded(facade.caller, row.owner);
    facade.isForeign = this.#validator.isForeign(facade.caller, row.owner);
  }

  #changed(active: readonly Row[]): void {
    const before = this.#current;
    this.#current = new Map(active.map((row) => [declaredAs(row.value.decl), row]));
    for (const listener of [...this.#listeners]) {
      if (before.get(listener.key) === this.#current.get(listener.key)) continue;
      try {
        runAs(listener.owner, listener.notify);
      } catch (error) {
        this.#failed(listener.owner, listener.key, error);
      }
    }
  }
}

/** The provider is held for as long as it works, also where nobody waits for it any more. */
const endingOf = (called: Called, row: Row, control: EndingCall | undefined): Ending => {
  if (control) return makeEnding(called.label, row, control);
  if (called.ending?.row !== row) called.ending = makeEnding(called.label, row, undefined);
  return called.ending;
};

const makeEnding = (label: string, row: Row, control: EndingCall | undefined): Ending => {
  const { lifetime } = row.owner;
  const leave = (): void => {
    control?.end();
    lifetime.leave(label);
  };
  return {
    row,
    answered: (value) => {
      leave();
      return value;
    },
    failed: (error) => {
      leave();
      throw error;
    },
  };
};

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

/** Roles that may only look. */
const LOOKS_ON = new Set(['viewer', 'public']);

/** An extension from elsewhere calls what the provider declares for it, and changes nothing for whoever may change nothing. */
const forOthers = ({ caller, decl }: Facade, name: string, { others }: AnyMethodDecl, [actor]: readonly unknown[]): void => {
  if (others === undefined)
    throw new SvcError('service_internal', `${decl.name}.${name} is for the daemon's own areas; ${caller.id} may not call it.`, {
      status: 403,
      hint: 'contributions.json of the extension that provides it names the methods for others.',
    });
  if (others.changes === true && LOOKS_ON.has(String(roleOf(actor))))
    throw new SvcError('service_role_refused', `${caller.id} called ${decl.name}.${name} for a person whose role is read-only.`, { status: 403 });
};

const roleOf = (actor: unknown): unknown => (typeof actor === 'object' && actor !== null && 'role' in actor ? actor.role : undefined);

const callerGone = (caller: Contributor): SvcError =>
  new SvcError('daemon_extension_stopped', `${caller.id} has stopped; this call came from a generation that no longer exists.`, { status: 503, retry: true });
