/**
 * Services. The facade a consumer holds is stable for ever: each call goes to
 * the provider's current generation and holds it for as long as the call lasts.
 */
import { type Disposable, type OptionalHandle, type Services, SvcError } from '@svc/api';
import { type Contribution, ContributionRegistry } from './contribution-registry.js';
import { type Owner, currentRequest, runAs } from './owner.js';

type Method = (...args: unknown[]) => unknown;
type Impl = Readonly<Record<string, unknown>>;

interface Provided {
  readonly name: string;
  readonly impl: Impl;
}

interface Listener {
  readonly owner: Owner;
  readonly name: string;
  readonly fn: (value: unknown) => void;
}

export class ServiceRegistry {
  readonly provided: ContributionRegistry<Provided>;
  readonly #facades = new Map<string, Record<string, Method>>();
  readonly #listeners = new Set<Listener>();
  readonly #failed: (owner: Owner, service: string, error: unknown) => void;
  #current = new Map<string, Contribution<Provided>>();

  /** `failed` hears what a watcher of a service threw: whoever comes and goes is not disturbed by it. */
  constructor(failed: (owner: Owner, service: string, error: unknown) => void) {
    this.#failed = failed;
    this.provided = new ContributionRegistry<Provided>('service', {
      describe: ({ name }) => name,
      check: (candidate, others) => {
        const other = others.find((row) => row.value.name === candidate.value.name);
        if (other) throw new Error(`the service ${candidate.value.name} is already provided by ${other.owner.id}`);
      },
      changed: (active) => this.#changed(active),
    });
  }

  has(name: string): boolean {
    return this.#current.has(name);
  }

  facade(owner: Owner): Services {
    const facade = {
      provide: (name: string, impl: Impl): Disposable => this.provided.add(owner, { name, impl }),
      require: (name: string): unknown => this.#facadeOf(name),
      optional: (name: string): OptionalHandle<unknown> => this.#optional(owner, name),
    };
    // ServiceMap's types belong to contracts; the registry only knows names.
    return facade as unknown as Services;
  }

  #optional(owner: Owner, name: string): OptionalHandle<unknown> {
    const registry = this;
    return {
      get value() {
        return registry.#current.has(name) ? registry.#facadeOf(name) : undefined;
      },
      onChange: (fn) => {
        const listener: Listener = { owner, name, fn };
        this.#listeners.add(listener);
        return owner.lifetime.add(`watch of service ${name}`, () => {
          this.#listeners.delete(listener);
        });
      },
    };
  }

  #facadeOf(name: string): Record<string, Method> {
    let facade = this.#facades.get(name);
    if (!facade) {
      facade = {};
      this.#facades.set(name, facade);
    }
    const impl = this.#current.get(name)?.value.impl;
    if (impl) this.#fill(name, facade, impl);
    return facade;
  }

  #fill(name: string, facade: Record<string, Method>, impl: Impl): void {
    for (const [method, value] of Object.entries(impl)) {
      if (typeof value !== 'function' || Object.hasOwn(facade, method)) continue;
      // All consumers share the facade: none may put its own method in another's way.
      Object.defineProperty(facade, method, { value: (...args: unknown[]) => this.#invoke(name, method, args), enumerable: true });
    }
  }

  /** A message makes some twenty of these calls: one promise each, beside the method's own. */
  #invoke(name: string, method: string, args: unknown[]): Promise<unknown> {
    const row = this.#current.get(name);
    const fn = row?.value.impl[method];
    const leave = row?.owner.lifetime.enterAnyway(`service ${name}.${method}`);
    if (!row || typeof fn !== 'function' || !leave) return Promise.reject(serviceGone(name, method));
    let result: unknown;
    try {
      result = runAs(row.owner, currentRequest(), () => (fn as Method)(...args));
    } catch (error) {
      leave();
      return Promise.reject(error);
    }
    // A promise comes back as it is; anything else, other thenables too, as a promise.
    return leaveAfter(Promise.resolve(result), leave);
  }

  #changed(active: ReadonlyArray<Contribution<Provided>>): void {
    const before = this.#current;
    this.#current = new Map(active.map((row) => [row.value.name, row]));
    for (const [name, row] of this.#current) {
      const facade = this.#facades.get(name);
      if (facade) this.#fill(name, facade, row.value.impl);
    }
    for (const listener of [...this.#listeners]) {
      if (before.get(listener.name) === this.#current.get(listener.name)) continue;
      const facade = this.#current.has(listener.name) ? this.#facadeOf(listener.name) : undefined;
      try {
        runAs(listener.owner, undefined, () => listener.fn(facade));
      } catch (error) {
        this.#failed(listener.owner, listener.name, error);
      }
    }
  }
}

const leaveAfter = <T>(result: Promise<T>, leave: () => void): Promise<T> =>
  result.then(
    (value) => {
      leave();
      return value;
    },
    (error: unknown) => {
      leave();
      throw error;
    },
  );

const serviceGone = (name: string, method: string): SvcError =>
  new SvcError('service_gone', `${name}.${method} cannot be called now: no extension provides ${name}.`, {
    status: 503,
    retry: true,
    hint: `See who would provide it with "svc ext graph".`,
    headers: { 'retry-after': '1' },
  });
