/**
 * All hooks: the kernel's, made at boot, and those that extensions own. A hook
 * goes when its owner goes; its taps stay registered and sleep until it is back.
 */
import type { AnyHook, Disposable, HookHandle, Hooks, HookSpec, Stage, TapOptions } from '@svc/api';
import { ContributionRegistry, type Contribution } from './contribution-registry.js';
import { HookSlot, type HookWatch, type Tap } from './hook-slot.js';
import type { Owner } from './owner.js';
import { orderTaps } from './tap-order.js';

const STAGES: Readonly<Record<string, number>> = { first: -200, policy: -100, normal: 0, late: 100, last: 200 };

interface Defined {
  readonly name: string;
  readonly spec: HookSpec;
}

interface Tapped {
  readonly hook: string;
  readonly tap: Tap;
}

export class HookRegistry {
  readonly taps: ContributionRegistry<Tapped>;
  readonly definitions: ContributionRegistry<Defined>;
  readonly #slots = new Map<string, HookSlot>();
  readonly #kernelNames: ReadonlySet<string>;
  readonly #watch: HookWatch;
  /** Hooks on which a generation is not called any more. */
  readonly #suspended = new WeakMap<Owner, Set<string>>();
  #nextTap = 1;

  constructor(kernelHooks: Readonly<Record<string, HookSpec>>, watch: HookWatch) {
    this.#watch = watch;
    this.#kernelNames = new Set(Object.keys(kernelHooks));
    for (const [name, spec] of Object.entries(kernelHooks)) this.#slots.set(name, new HookSlot(name, spec, watch));
    this.taps = new ContributionRegistry<Tapped>('tap', { describe: ({ hook }) => hook, changed: () => this.#order() });
    this.definitions = new ContributionRegistry<Defined>('hook', {
      describe: ({ name }) => name,
      check: (candidate, others) => this.#checkDefinition(candidate, others),
      changed: (active) => this.#resetDefined(active),
    });
  }

  slot(name: string): HookSlot | undefined {
    return this.#slots.get(name);
  }

  handle(name: string): HookHandle<AnyHook> {
    return {
      // The slot is looked up at each call: an owner's reload makes a new one.
      call: ((...args: unknown[]) => this.#need(name).call(...args)) as AnyHook['call'],
      isEmpty: () => this.#slots.get(name)?.isEmpty ?? true,
    };
  }

  facade(owner: Owner): Hooks {
    const facade = {
      tap: (name: string, fn: Tap['fn'], options: TapOptions = {}): Disposable => {
        const tap: Tap = {
          owner,
          name: `${owner.id}@${owner.generation}#${this.#nextTap++}`,
          fn,
          stage: stageNumber(options.stage),
          before: options.before ?? [],
          after: options.after ?? [],
        };
        return this.taps.add(owner, { hook: name, tap });
      },
      define: (name: string, spec: HookSpec): HookHandle<AnyHook> => {
        this.definitions.add(owner, { name, spec });
        return this.#ownHandle(name);
      },
      use: (name: string): HookHandle<AnyHook> => this.handle(name),
    };
    // The typed face of Hooks is derived from HookMap, which this generic plumbing does not know.
    return facade as unknown as Hooks;
  }

  /** Calls this generation no more on a hook that only observes. False where a tap may not be left out: it goes on failing as the policy says. */
  suspend(owner: Owner, name: string): boolean {
    if (this.#slots.get(name)?.spec.policy !== 'observe') return false;
    const names = this.#suspended.get(owner) ?? new Set();
    this.#suspended.set(owner, names.add(name));
    this.#order();
    return true;
  }

  /** For the owner of a hook: what it still finishes after it was switched off goes by the checks it began with. */
  #ownHandle(name: string): HookHandle<AnyHook> {
    let last: HookSlot | undefined;
    const slot = (): HookSlot | undefined => {
      last = this.#slots.get(name) ?? last;
      return last;
    };
    return {
      call: ((...args: unknown[]) => (slot() ?? this.#need(name)).call(...args)) as AnyHook['call'],
      isEmpty: () => slot()?.isEmpty ?? true,
    };
  }

  #need(name: string): HookSlot {
    const slot = this.#slots.get(name);
    if (!slot) throw new Error(`the hook ${name} does not exist now: its owner is off`);
    return slot;
  }

  #checkDefinition(candidate: Contribution<Defined>, others: ReadonlyArray<Contribution<Defined>>): void {
    const { name } = candidate.value;
    if (this.#kernelNames.has(name)) throw new Error(`the hook ${name} belongs to the kernel`);
    const other = others.find((row) => row.value.name === name);
    if (other) throw new Error(`the hook ${name} is already defined by ${other.owner.id}`);
  }

  #resetDefined(active: ReadonlyArray<Contribution<Defined>>): void {
    const wanted = new Map(active.map((row) => [row.value.name, row.value.spec]));
    for (const name of this.#slots.keys()) {
      if (!this.#kernelNames.has(name) && !wanted.has(name)) this.#slots.delete(name);
    }
    for (const [name, spec] of wanted) {
      const slot = this.#slots.get(name);
      // A reload of the owner that changes nothing about the hook leaves it as it is.
      if (!slot || !sameSpec(slot.spec, spec)) this.#slots.set(name, new HookSlot(name, spec, this.#watch));
    }
    this.#order();
  }

  #order(): void {
    const byHook = new Map<string, Tap[]>();
    for (const { owner, value } of this.taps.active()) {
      if (this.#suspended.get(owner)?.has(value.hook)) continue;
      const list = byHook.get(value.hook) ?? [];
      list.push(value.tap);
      byHook.set(value.hook, list);
    }
    for (const [name, slot] of this.#slots) {
      const taps = orderTaps(byHook.get(name) ?? []);
      if (!sameList(slot.taps(), taps)) slot.replace(taps);
    }
  }
}

const stageNumber = (stage: Stage | undefined): number => (typeof stage === 'number' ? stage : (STAGES[stage ?? 'normal'] ?? 0));

const sameList = (a: readonly Tap[], b: readonly Tap[]): boolean => a.length === b.length && a.every((tap, i) => tap === b[i]);

const sameSpec = (a: HookSpec, b: HookSpec): boolean => a.kind === b.kind && a.policy === b.policy && a.budgetMs === b.budgetMs;
