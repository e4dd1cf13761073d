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
  #current = new Map<string, Contribution<Provided>>();

  constructor() {
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
      if (typeof value === 'function' && !(method in facade)) facade[method] = (...args) => this.#invoke(name, method, args);
    }
  }

  async #invoke(name: string, method: string, args: unknown[]): Promise<unknown> {
    const row = this.#current.get(name);
    const fn = row?.value.impl[method];
    const leave = row?.owner.lifetime.enterAnyway(`service ${name}.${method}`);
    if (!row || typeof fn !== 'function' || !leave) throw serviceGone(name, method);
    try {
      return await runAs(row.owner, currentRequest(), () => (fn as Method)(...args));
    } finally {
      leave();
    }
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
      listener.fn(this.#current.has(listener.name) ? this.#facadeOf(listener.name) : undefined);
    }
  }
}

const serviceGone = (name: string, method: string): SvcError =>
  new SvcError('service_gone', `${name}.${method} cannot be called now: no extension provides ${name}.`, {
    status: 503,
    retry: true,
    hint: `See who would provide it with "svc ext graph".`,
    headers: { 'retry-after': '1' },
  });
