/**
 * All hooks: the kernel's, made at boot, and those that extensions own. A hook
 * goes when its owner goes; its taps stay registered and sleep until it is back.
 */
import type { AnyHook, Disposable, HookHandle, Hooks, HookSpec, Stage, TapOptions } from '@svc/api';
import { ContributionRegistry, type Contribution } from './contribution-registry.js';
import { HookSlot, type HookWatch, type Tap } from './hook-slot.js';
import type { Owner } from './owner.js';

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
        return this.handle(name);
      },
      use: (name: string): HookHandle<AnyHook> => this.handle(name),
    };
    // The typed face of Hooks is derived from HookMap, which this generic plumbing does not know.
    return facade as unknown as Hooks;
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
    for (const [name, spec] of wanted) this.#slots.set(name, new HookSlot(name, spec, this.#watch));
    this.#order();
  }

  #order(): void {
    const byHook = new Map<string, Tap[]>();
    for (const { value } of this.taps.active()) {
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

/** Stage, then before/after, then extension id: the same on every boot, whatever the order of loading. */
export function orderTaps(taps: readonly Tap[]): readonly Tap[] {
  const sorted = [...taps].sort((a, b) => a.stage - b.stage || (a.owner.id < b.owner.id ? -1 : a.owner.id > b.owner.id ? 1 : 0));
  const result: Tap[] = [];
  for (const tap of sorted) {
    let index = result.length;
    for (let i = 0; i < result.length; i++) {
      const other = result[i] as Tap;
      if (other.stage !== tap.stage) continue;
      if (tap.before.includes(other.owner.id) || other.after.includes(tap.owner.id)) {
        index = i;
        break;
      }
    }
    result.splice(index, 0, tap);
  }
  return result;
}

const stageNumber = (stage: Stage | undefined): number => (typeof stage === 'number' ? stage : (STAGES[stage ?? 'normal'] ?? 0));

const sameList = (a: readonly Tap[], b: readonly Tap[]): boolean => a.length === b.length && a.every((tap, i) => tap === b[i]);
