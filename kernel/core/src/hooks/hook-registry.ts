/**
 * All hooks: the kernel's, made at boot, and those that extensions own. A hook
 * goes when its owner goes; its taps stay registered and sleep until it is back.
 */
import { type CallOf, type Disposable, type HookDecl, type HookHandle, type OwnHook, type Stage, SvcError, type TapOf, type TapOptions } from '@svc/api';
import { declaredAs } from '@svc/api/internal';
import { type ActorRegistry, createActorRegistry } from '../contracts/actor-registry.js';
import { type ContractValidator, noValidator } from '../contracts/contract-validator.js';
import { ContributionRegistry, type Contribution } from '../contribution-registry.js';
import { HookSlot, type HookWatch, type Tap, type TapTurn } from './hook-slot.js';
import { plainCopy } from '../contracts/crossing.js';
import type { Contributor } from '../owner.js';
import { orderTaps } from './tap-order.js';

const TRY_AGAIN_MS = 30_000;
const STAGES: Readonly<Record<string, number>> = { first: -200, policy: -100, normal: 0, late: 100, last: 200 };

interface Tapped {
  readonly hook: HookDecl;
  /** Of the hook, among the slots. */
  readonly key: string;
  readonly tap: Tap;
}

export class HookRegistry {
  readonly taps: ContributionRegistry<Tapped>;
  readonly definitions: ContributionRegistry<HookDecl>;
  /** By name and major version. */
  readonly #slots = new Map<string, HookSlot>();
  readonly #kernelNames: ReadonlySet<string>;
  readonly #watch: HookWatch;
  readonly #validator: ContractValidator;
  readonly #actors: ActorRegistry;
  /** The taps of each slot as they were found when it was ordered last. */
  readonly #found = new WeakMap<HookSlot, readonly Tap[]>();
  /** Hooks on which a generation is not called any more. */
  readonly #suspended = new WeakMap<Contributor, Set<string>>();
  /** Closed hooks that a generation does not answer: when it is tried again. */
  readonly #cuts = new WeakMap<Contributor, Map<string, number>>();
  /** The calls of most daemons are not looked at. */
  #anyCut = false;
  readonly #watchOutside: HookWatch;
  #nextTap = 1;

  constructor(kernelHooks: readonly HookDecl[], watch: HookWatch, validator: ContractValidator = noValidator, actors: ActorRegistry = createActorRegistry()) {
    this.#watch = { ...watch, strike: watch.strike, timing: watch.timing, turn: (owner, name) => this.#turn(owner, name), answered: (owner, name) => this.#answered(owner, name) };
    this.#watchOutside = watch;
    this.#actors = actors;
    this.#validator = validator;
    this.#kernelNames = new Set(kernelHooks.map(({ name }) => name));
    for (const hook of kernelHooks) this.#slots.set(declaredAs(hook), new HookSlot(hook, this.#watch, validator, actors));
    this.taps = new ContributionRegistry<Tapped>('tap', {
      describe: ({ hook }) => hook.name,
      check: ({ owner, value }) => {
        if (!this.#mayTap(owner, value.hook)) throw new Error(`the hook ${value.hook.name} cannot be tapped from another process: its owner does not declare it remote`);
      },
      changed: () => this.#order(),
    });
    this.definitions = new ContributionRegistry<HookDecl>('hook', {
      describe: ({ name }) => name,
      check: (candidate, others) => this.#checkDefinition(candidate, others),
      changed: (active) => this.#resetDefined(active),
    });
  }

  slot(hook: HookDecl): HookSlot | undefined {
    return this.#slots.get(declaredAs(hook));
  }

  /** For the kernel itself, which is not validated. */
  handle<H extends HookDecl>(hook: H): OwnHook<H> {
    const key = declaredAs(hook);
    return this.#handle(hook, () => this.#slots.get(key), undefined);
  }

  /** The taps of one generation alone, seen or not yet; undefined when it has none. For the kernel itself. */
  callOf<H extends HookDecl>(owner: Contributor, hook: H): CallOf<H> | undefined {
    const key = declaredAs(hook);
    const taps = this.taps.of(owner).flatMap((one) => (one.key === key ? [one.tap] : []));
    if (taps.length === 0) return undefined;
    const slot = new HookSlot(hook, this.#watch, this.#validator);
    slot.replace(orderTaps(taps));
    // As in #handle: the declaration fixes what the slot takes and gives.
    return ((subject: unknown, context: unknown) => Promise.resolve(slot.call(subject, context))) as CallOf<H>;
  }

  /** A hook of somebody else, for this caller. */
  use<H extends HookDecl>(owner: Contributor, hook: H): HookHandle<H> {
    const key = declaredAs(hook);
    const slot = (): HookSlot | undefined => {
      const found = this.#slots.get(key);
      // What its owner declared counts, not what the caller says of it.
      if (found && found.hook.callable !== true) throw notCallable(owner, hook);
      return found;
    };
    slot();
    return this.#handle(hook, slot, owner);
  }

  tap<H extends HookDecl>(owner: Contributor, hook: H, fn: TapOf<H>, options: TapOptions = {}): Disposable {
    const tap: Tap = {
      owner,
      name: `${owner.id}@${owner.generation}#${this.#nextTap++}`,
      fn,
      stage: stageNumber(options.stage),
      before: options.before ?? [],
      after: options.after ?? [],
    };
    return this.taps.add(owner, { hook, key: declaredAs(hook), tap });
  }

  /** What the owner of a hook still finishes after it was switched off goes by the checks it began with. */
  define<H extends HookDecl>(owner: Contributor, hook: H): OwnHook<H> {
    this.definitions.add(owner, hook);
    const key = declaredAs(hook);
    let last: HookSlot | undefined;
    const slot = (): HookSlot | undefined => {
      last = this.#slots.get(key) ?? last;
      return last;
    };
    return this.#handle(hook, slot, owner);
  }

  /** Calls this generation no more on a hook that only observes. False where a tap may not be left out: it goes on failing as the policy says. */
  suspend(owner: Contributor, name: string): boolean {
    if (![...this.#slots.values()].some((slot) => slot.hook.name === name && slot.hook.policy === 'observe')) return false;
    this.#leaveOut(owner, name);
    return true;
  }

  /** Does not wait for it any more: what may be left out is, and what may not fails at once, and is tried again now and then. */
  cutOff(owner: Contributor, name: string): 'left out' | 'refused' | undefined {
    const slot = [...this.#slots.values()].find((one) => one.hook.name === name);
    if (!slot) return undefined;
    if (slot.hook.policy !== 'closed') {
      this.#leaveOut(owner, name);
      return 'left out';
    }
    const cuts = this.#cuts.get(owner) ?? new Map<string, number>();
    this.#cuts.set(owner, cuts.set(name, performance.now() + TRY_AGAIN_MS));
    this.#anyCut = true;
    return 'refused';
  }

  #leaveOut(owner: Contributor, name: string): void {
    const names = this.#suspended.get(owner) ?? new Set();
    this.#suspended.set(owner, names.add(name));
    this.#order();
  }

  #turn(owner: Contributor, name: string): TapTurn {
    if (!this.#anyCut) return 'call';
    const cuts = this.#cuts.get(owner);
    const againAt = cuts?.get(name);
    if (cuts === undefined || againAt === undefined) return 'call';
    if (performance.now() < againAt) return 'cut';
    // One call alone is let through; the next trial comes later.
    cuts.set(name, performance.now() + TRY_AGAIN_MS);
    return 'trial';
  }

  #answered(owner: Contributor, name: string): void {
    this.#cuts.get(owner)?.delete(name);
    this.#watchOutside.answered?.(owner, name);
  }

  #handle<H extends HookDecl>(hook: H, slot: () => HookSlot | undefined, caller: Contributor | undefined): OwnHook<H> {
    const isValidated = caller !== undefined && this.#validator.isNeeded(caller);
    const atOnce = (subject: unknown, context: unknown): unknown => {
      // Looked up at each call: an owner's reload makes a new one.
      const found = slot() ?? this.#need(hook);
      if (!isValidated) return found.call(subject, context);
      const where = `What ${caller.id} gave to the hook ${hook.name}`;
      const given = this.#validator.isForeign(caller) ? plainCopy(subject, where) : subject;
      this.#validator.check(found.hook.subject, given, where);
      return found.call(given, context);
    };
    return {
      // The slot was made from a declaration of this name and major version, which fixes what it takes and gives.
      call: ((subject: unknown, context: unknown) => Promise.resolve(atOnce(subject, context))) as CallOf<H>,
      atOnce: atOnce as OwnHook<H>['atOnce'],
      isEmpty: () => slot()?.isEmpty ?? true,
    };
  }

  /** Names of the hooks there are now that code in another process cannot tap. */
  readonly closedToOthers = (): ReadonlySet<string> => new Set([...this.#slots.values()].flatMap(({ hook }) => (hook.remote === true ? [] : [hook.name])));

  /** While the owner of a hook is off nobody knows; its taps sleep then. */
  #mayTap(owner: Contributor, hook: HookDecl): boolean {
    if (owner.isRemote !== true) return true;
    const slot = this.slot(hook);
    return slot === undefined || slot.hook.remote === true;
  }

  #need(hook: HookDecl): HookSlot {
    const slot = this.slot(hook);
    if (!slot) throw new Error(`the hook ${declaredAs(hook)} does not exist now: its owner is off`);
    return slot;
  }

  #checkDefinition(candidate: Contribution<HookDecl>, others: ReadonlyArray<Contribution<HookDecl>>): void {
    const { name } = candidate.value;
    if (this.#kernelNames.has(name)) throw new Error(`the hook ${name} belongs to the kernel`);
    const other = others.find((row) => row.value.name === name);
    if (other) throw new Error(`the hook ${name} is already defined by ${other.owner.id}`);
  }

  #resetDefined(active: ReadonlyArray<Contribution<HookDecl>>): void {
    const wanted = new Map(active.map((row) => [declaredAs(row.value), row.value]));
    for (const [key, slot] of this.#slots) {
      if (!this.#kernelNames.has(slot.hook.name) && !wanted.has(key)) this.#slots.delete(key);
    }
    for (const [key, hook] of wanted) {
      const slot = this.#slots.get(key);
      // A reload of the owner that changes nothing about the hook leaves it as it is.
      if (!slot || !sameSpec(slot.hook, hook)) this.#slots.set(key, new HookSlot(hook, this.#watch, this.#validator, this.#actors));
    }
    this.#order();
  }

  #order(): void {
    const byHook = new Map<string, Tap[]>();
    for (const { owner, value } of this.taps.active()) {
      if (this.#suspended.get(owner)?.has(value.hook.name) || !this.#mayTap(owner, value.hook)) continue;
      const list = byHook.get(value.key);
      if (list) list.push(value.tap);
      else byHook.set(value.key, [value.tap]);
    }
    for (const [key, slot] of this.#slots) {
      const found = byHook.get(key) ?? [];
      // Most changes are about other hooks.
      if (sameList(this.#found.get(slot) ?? [], found)) continue;
      this.#found.set(slot, found);
      const taps = orderTaps(found);
      if (!sameList(slot.taps(), taps)) slot.replace(taps);
    }
  }
}

const notCallable = (owner: Contributor, hook: HookDecl): SvcError =>
  new SvcError('hook_not_callable', `${owner.id} may not call the hook ${hook.name}: its owner alone does.`, { status: 403, hint: 'Tap it, or use a service.' });

const stageNumber = (stage: Stage | undefined): number => (typeof stage === 'number' ? stage : (STAGES[stage ?? 'normal'] ?? 0));

const sameList = (a: readonly Tap[], b: readonly Tap[]): boolean => a.length === b.length && a.every((tap, i) => tap === b[i]);

/** Declarations are plain data; who may call a hook, and what crosses it, counts as well as its kind. */
const sameSpec = (a: HookDecl, b: HookDecl): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);
