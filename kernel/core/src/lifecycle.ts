/**
 * The state of every extension, and the moves between states.
 *
 * X1  Intent (should it be on) is stored; state (is it) is observed. Neither is derived from the other.
 * X2  One change of the graph at a time; each ends with everything converged on intent.
 * X3  A reload overlaps: the next generation serves before the last one drains, and a failed one never replaces a good one.
 * X4  What needs a service that left goes to `pending` before the provider stops, and comes back by itself.
 */
import type { KernelNames } from './installed/claims.js';
import type { ExtensionPlan, ExtensionProcess, ExtensionStorage, ExtensionStatus, Manifest, StopReason } from '@svc/api';
import { type Generation, type GenerationDeps, type Phase, PhaseError, prepare, publish, retire, unpublish } from './generation.js';
import type { Installed } from './installed/installed.js';
import type { InstalledStore } from './installed/installed-store.js';
import { type IntentSources, intentOf } from './installed/intent.js';
import { FIRST_RETRY_MS, newUnit, type State, statusOf, type Unit } from './lifecycle-unit.js';
import { currentOwner } from './owner.js';
import { dependentsOf, resolve, usersOf } from './installed/resolver.js';
import type { StrikeBook } from './hooks/strike-book.js';

export interface LifecycleDeps extends GenerationDeps {
  readonly apiVersion: string;
  /** What the kernel keeps for itself. */
  readonly names?: KernelNames;
  readonly strikes: StrikeBook;
  intents(): IntentSources;
  /** Stores a person's choice; undefined drops it. */
  choose(id: string, enabled: boolean | undefined): Promise<void>;
  /** False while the config value the manifest's `when` points at is falsy. */
  wanted(installed: Installed): boolean;
  /** What lies on disk now for this extension; undefined when it is what runs. A reload asks. */
  latest?(id: string): Promise<Installed | undefined>;
  /** The store holds another one for this id: whoever derived settings from it looks again. Before its code runs. */
  adopted?(id: string): Promise<void>;
  /** The process in which its code runs; undefined for code of this one. */
  processOf?(id: string): ExtensionProcess | undefined;
  /** What a third-party extension has stored. */
  storedBy?(id: string): ExtensionStorage | undefined;
  /** A person wants it tried anew: what went wrong before counts no more. */
  forgiven?(id: string): void;
  clock: { now(): number; iso(): string };
  log: { info(message: string, fields?: Record<string, unknown>): void; warn(message: string, fields?: Record<string, unknown>): void; error(message: string, fields?: Record<string, unknown>): void };
  changed(id: string, state: State): void;
  /** Runs `fn` once after `ms`; the returned function cancels it. */
  later(ms: number, fn: () => void): () => void;
}

const DRAIN_MS = 60_000;
const LAST_DRAIN_MS = 500;
const LAST_RETRY_MS = 60_000;

export class UnknownExtension extends Error {
  override readonly name = 'UnknownExtension';
}

export class Lifecycle {
  readonly #deps: LifecycleDeps;
  readonly #units = new Map<string, Unit>();
  /** Generations that were replaced and still finish what they hold. */
  readonly #draining = new Map<Promise<void>, Generation>();
  #turn: Promise<unknown> = Promise.resolve();
  #stopping = false;

  readonly #store: InstalledStore;

  constructor(deps: LifecycleDeps, store: InstalledStore) {
    this.#deps = deps;
    this.#store = store;
    for (const one of store.all()) this.#units.set(one.id, newUnit(one));
  }

  /** Starts all that should be on, wave by wave; `onWave` hears what each wave started. */
  boot(onWave?: (ids: readonly string[]) => void): Promise<void> {
    return this.#exclusive(() => this.#converge(onWave));
  }

  enable(id: string): Promise<ExtensionStatus> {
    return this.#change(id, async (unit) => {
      await this.#deps.choose(id, true);
      this.#forgive(unit);
      await this.#converge();
    });
  }

  disable(id: string, options: { force?: boolean } = {}): Promise<ExtensionStatus> {
    return this.#change(id, async () => {
      await this.#deps.choose(id, false);
      await this.#stopWithDependents(id, 'disable', options.force === true ? 0 : undefined);
      await this.#converge();
    });
  }

  reset(id: string): Promise<ExtensionStatus> {
    return this.#change(id, async (unit) => {
      await this.#deps.choose(id, undefined);
      this.#forgive(unit);
      if (!this.#intent(id).enabled) await this.#stopWithDependents(id, 'disable', undefined);
      await this.#converge();
    });
  }

  reload(id: string): Promise<ExtensionStatus> {
    return this.#change(id, async (unit) => this.#renew(unit, (await this.#deps.latest?.(id)) ?? unit.installed));
  }

  /** Runs `candidate` from now on: what an upgrade does. Whatever fails, what ran before serves on, and is what is installed. */
  replace(id: string, candidate: Installed): Promise<ExtensionStatus> {
    return this.#change(id, (unit) => this.#renew(unit, candidate));
  }

  /** Config or another outside fact changed: bring state in line with intent. */
  converge(): Promise<void> {
    return this.#exclusive(() => this.#converge());
  }

  /** Choices were stored by somebody else (`svc ext` beside the daemon): what they say is done. */
  follow(ids: readonly string[]): Promise<void> {
    return this.#exclusive(async () => {
      for (const id of ids) {
        const unit = this.#units.get(id);
        if (!unit) continue;
        this.#forgive(unit);
        if (!this.#intent(id).enabled) await this.#stopWithDependents(id, 'disable', undefined);
      }
      await this.#converge();
    });
  }

  /** Too many strikes: off, until a person enables or reloads it. */
  quarantine(id: string, reason: string): Promise<void> {
    return this.#exclusive(async () => {
      const unit = this.#units.get(id);
      if (!unit || unit.state === 'quarantined') return;
      await this.#stopWithDependents(id, 'failed', 0);
      this.#set(unit, 'quarantined', { reason, recoverable: false });
      await this.#converge();
    });
  }

  /** Takes in one that was installed while the daemon runs. Rejects where one with this id is there. */
  add(installed: Installed): Promise<ExtensionStatus> {
    return this.#exclusive(async () => {
      if (this.#units.has(installed.id)) throw new Error(`there is an extension ${installed.id} already`);
      const unit = newUnit(installed);
      this.#units.set(installed.id, unit);
      this.#store.put(installed);
      await this.#deps.adopted?.(installed.id);
      await this.#converge();
      return this.#statusOf(unit);
    });
  }

  /** Stops it with what needs it, and knows it no more. `keepsChoice`: it may come back, and is then what a person wanted it to be. */
  remove(id: string, { keepsChoice = false }: { readonly keepsChoice?: boolean } = {}): Promise<void> {
    const removed = this.#need(id);
    return this.#exclusive(async () => {
      if (!keepsChoice) await this.#deps.choose(id, undefined);
      await this.#stopWithDependents(id, 'disable', undefined);
      removed.cancelRetry?.();
      this.#units.delete(id);
      this.#store.remove(id);
      await this.#deps.adopted?.(id);
      this.#deps.changed(id, 'inactive');
      await this.#converge();
    });
  }

  /** What was degraded for this reason works again. */
  recover(id: string): void {
    const unit = this.#units.get(id);
    if (!unit?.degraded) return;
    unit.degraded = false;
    unit.reason = null;
    this.#deps.changed(id, unit.state);
  }

  degrade(id: string, reason: string): void {
    const unit = this.#units.get(id);
    if (!unit || unit.degraded) return;
    unit.degraded = true;
    unit.reason = reason;
    this.#deps.changed(id, unit.state);
  }

  /** All waves together have `drainMs`, and the last of them at least a moment. */
  async stopAll(reason: StopReason, drainMs: number): Promise<void> {
    this.#stopping = true;
    const endMs = this.#deps.clock.now() + drainMs;
    const leftMs = (): number => Math.min(drainMs, Math.max(LAST_DRAIN_MS, endMs - this.#deps.clock.now()));
    // What an earlier change still waits for gets no longer than what is stopped now.
    const unhurry = this.#deps.later(drainMs, () => {
      for (const generation of this.#draining.values()) generation.owner.lifetime.hurry();
    });
    await this.#exclusive(async () => {
      for (const unit of this.#units.values()) unit.cancelRetry?.();
      const running = [...this.#units.values()].filter((unit) => unit.generation);
      const { waves } = resolve(running.map(manifestOf), running.map(manifestOf), this.#deps);
      for (const wave of [...waves].reverse()) {
        await Promise.all(wave.map((id) => this.#stopOne(this.#need(id), reason, leftMs())));
      }
    });
    await Promise.all(this.#draining.keys());
    unhurry();
  }

  plan(action: ExtensionPlan['action'], id: string): ExtensionPlan {
    const unit = this.#need(id);
    const manifests = [...this.#units.values()].map(manifestOf);
    const active = [...this.#units.values()].filter((one) => one.state === 'active').map(manifestOf);
    const stopsIt = action === 'disable' || (action === 'reset' && !this.#intentAfterReset(id));
    if (stopsIt) return planStop(action, id, active, this.#deps.intents().preset.essential.includes(id));
    const already = unit.state === 'active' && action !== 'reload';
    const starts = already ? [] : [id, ...dependentsOf(id, manifests).filter((other) => this.#units.get(other)?.state === 'pending')];
    return { id, action, starts, stops: [], degrades: [], warning: null, back: null };
  }

  status(id: string): ExtensionStatus {
    return this.#statusOf(this.#need(id));
  }

  statuses(): ExtensionStatus[] {
    return [...this.#units.values()].map((unit) => this.#statusOf(unit)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  isActive(id: string): boolean {
    return this.#units.get(id)?.state === 'active';
  }

  /** Resolves when no change is going on and every replaced generation has ended. */
  async settled(): Promise<void> {
    await this.#turn;
    await Promise.all(this.#draining.keys());
  }

  async #change(id: string, work: (unit: Unit) => Promise<void>): Promise<ExtensionStatus> {
    const unit = this.#need(id);
    await this.#exclusive(() => work(unit));
    return this.#statusOf(unit);
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(work, work);
    this.#turn = next.catch(() => undefined);
    return next;
  }

  async #converge(onWave?: (ids: readonly string[]) => void): Promise<void> {
    if (this.#stopping) return;
    const should = [...this.#units.values()].filter((unit) => this.#shouldRun(unit));
    const { waves, blocked } = resolve(should.map(manifestOf), [...this.#units.values()].map(manifestOf), this.#deps);
    for (const unit of this.#units.values()) await this.#settleOff(unit, should.includes(unit), blocked.get(unit.installed.id));
    for (const wave of this.#rounds(waves)) {
      await Promise.all(wave.map((id) => this.#startIfAble(this.#need(id))));
      onWave?.(wave);
    }
  }

  async #settleOff(unit: Unit, should: boolean, reason: string | undefined): Promise<void> {
    if (should && reason === undefined) return;
    if (unit.state === 'failed' && this.#intent(unit.installed.id).enabled) return;
    if (unit.generation) await this.#stopWithDependents(unit.installed.id, 'disable', undefined);
    if (reason !== undefined) this.#set(unit, 'pending', { reason, recoverable: true });
    else if (unit.state !== 'quarantined')
      this.#set(unit, 'inactive', { reason: this.#deps.wanted(unit.installed) ? null : `its condition ${unit.installed.manifest.when} is not set`, recoverable: true });
  }

  #shouldRun(unit: Unit): boolean {
    if (unit.state === 'quarantined' || unit.state === 'failed') return false;
    return this.#intent(unit.installed.id).enabled && this.#deps.wanted(unit.installed);
  }

  async #startIfAble(unit: Unit): Promise<void> {
    if (unit.generation || unit.state === 'failed') return;
    const missing = Object.keys(unit.installed.manifest.requires ?? {}).find((service) => !this.#isProvided(service));
    if (missing !== undefined) {
      this.#set(unit, 'pending', { reason: `it waits for the service ${missing}`, recoverable: true });
      return;
    }
    const started = this.#deps.clock.now();
    unit.cancelRetry?.();
    this.#set(unit, 'starting', { reason: null, recoverable: true });
    try {
      const generation = await prepare(this.#deps, unit.installed, ++unit.generations, (phase) => this.#phase(unit, phase));
      await publish(this.#deps, generation, undefined, (phase) => this.#phase(unit, phase));
      this.#begun(unit, generation, started);
    } catch (error) {
      this.#failed(unit, error);
    }
  }

  async #renew(unit: Unit, candidate: Installed): Promise<void> {
    const before = unit.installed;
    this.#judge(before, candidate);
    this.#forgive(unit);
    await this.#adopt(unit, candidate);
    try {
      if (unit.state !== 'active' || !unit.generation) return await this.#converge();
      if (candidate.manifest.replace === 'stop-first') {
        await this.#stopOne(unit, 'reload', undefined);
        return await this.#converge();
      }
      await this.#replace(unit, unit.generation);
    } catch (error) {
      await this.#adopt(unit, before);
      throw error;
    }
    // What it provides or needs may be another now.
    if (candidate !== before) await this.#converge();
  }

  /** What a build made starts before what came from elsewhere: a stranger takes no name, route or tool from it by being first. */
  #rounds(waves: readonly (readonly string[])[]): ReadonlyArray<readonly string[]> {
    const isStranger = (id: string): boolean => this.#need(id).installed.build === undefined;
    if (!waves.flat().some(isStranger)) return waves;
    // Whoever needs a stranger waits for the second round; what runs already is not started again.
    return [...waves.map((wave) => wave.filter((id) => !isStranger(id))), ...waves].filter((wave) => wave.length > 0);
  }

  /** Judged before any of its code runs: everything that runs now must still find what it requires. */
  #judge(before: Installed, candidate: Installed): void {
    if (candidate === before) return;
    if (candidate.id !== before.id) throw new Error(`${candidate.id} cannot take the place of ${before.id}`);
    const others = [...this.#units.values()].filter((unit) => unit.installed !== before && unit.generation).map(manifestOf);
    const { blocked } = resolve([...others, candidate.manifest], [...[...this.#units.values()].filter((unit) => unit.installed !== before).map(manifestOf), candidate.manifest], this.#deps);
    const why = blocked.get(candidate.id) ?? [...blocked].map(([id, reason]) => `${id}: ${reason}`)[0];
    if (why !== undefined) throw new PhaseError('load', new Error(why));
  }

  async #adopt(unit: Unit, installed: Installed): Promise<void> {
    if (unit.installed === installed) return;
    unit.installed = installed;
    this.#store.put(installed);
    await this.#deps.adopted?.(installed.id);
  }

  async #replace(unit: Unit, previous: Generation): Promise<void> {
    const started = this.#deps.clock.now();
    try {
      const next = await prepare(this.#deps, unit.installed, ++unit.generations, () => undefined);
      await publish(this.#deps, next, previous, () => undefined);
      this.#begun(unit, next, started);
      void this.#retire(unit, previous, 'reload', drainMsOf(unit));
    } catch (error) {
      unit.reason = `the last reload failed in ${phaseOf(error) ?? 'start'} and the running generation serves on: ${messageOf(error)}`;
      this.#deps.log.error('reload failed; the running generation serves on', { extension: unit.installed.id, cause: error });
      this.#deps.changed(unit.installed.id, unit.state);
      throw error;
    }
  }

  /** Lets a generation finish what it holds, then ends it. A replaced one does so by itself: nobody waits for it. */
  async #retire(unit: Unit, generation: Generation, why: StopReason, drainMs: number): Promise<void> {
    const done = retire(this.#deps, generation, why, drainMs).then((leaks) => this.#leaked(unit, generation, leaks));
    this.#draining.set(done, generation);
    await done.finally(() => this.#draining.delete(done));
  }

  async #stopWithDependents(id: string, why: StopReason, drainMs: number | undefined): Promise<void> {
    const running = [...this.#units.values()].filter((unit) => unit.generation).map(manifestOf);
    const { waves } = resolve(running, running, this.#deps);
    const affected = new Set(dependentsOf(id, running));
    for (const wave of [...waves].reverse()) {
      for (const other of wave) if (affected.has(other)) await this.#stopOne(this.#need(other), why, drainMs);
    }
    await this.#stopOne(this.#need(id), why, drainMs);
  }

  async #stopOne(unit: Unit, why: StopReason, drainMs: number | undefined): Promise<void> {
    const generation = unit.generation;
    unit.cancelRetry?.();
    if (!generation) return;
    this.#set(unit, 'stopping', { reason: null, recoverable: true });
    unit.generation = undefined;
    unpublish(this.#deps, generation);
    // A request that switches its own area off would wait for itself.
    const retiring = this.#retire(unit, generation, why, drainMs ?? drainMsOf(unit));
    if (currentOwner() !== generation.owner) await retiring;
    this.#set(unit, 'inactive', { reason: null, recoverable: true });
  }

  #begun(unit: Unit, generation: Generation, startedMs: number): void {
    unit.generation = generation;
    unit.startedAt = this.#deps.clock.iso();
    unit.startMs = this.#deps.clock.now() - startedMs;
    unit.retryMs = FIRST_RETRY_MS;
    unit.degraded = false;
    const isReload = unit.state === 'active';
    this.#set(unit, 'active', { reason: null, recoverable: true });
    // Another generation is news to whoever waits for this extension, although the state has the same name.
    if (isReload) this.#deps.changed(unit.installed.id, 'active');
  }

  #failed(unit: Unit, error: unknown): void {
    if (error instanceof Error && error.name === 'NotReady') {
      const waitMs = unit.retryMs;
      unit.retryMs = Math.min(unit.retryMs * 2, LAST_RETRY_MS);
      this.#set(unit, 'pending', { reason: `${error.message} (tried again in ${Math.round(waitMs / 1000)} s)`, recoverable: true });
      unit.cancelRetry = this.#deps.later(waitMs, () => void this.converge());
      return;
    }
    const phase = phaseOf(error);
    this.#set(unit, 'failed', { reason: messageOf(error), recoverable: false });
    unit.phase = phase;
    this.#deps.log.error('extension failed', { extension: unit.installed.id, phase, cause: error });
  }

  #leaked(unit: Unit, generation: Generation, leaks: readonly string[]): void {
    unit.leaks = leaks.length > 0 ? [...leaks] : unit.leaks;
    if (leaks.length > 0) this.#deps.log.warn('extension left something behind', { extension: unit.installed.id, generation: generation.owner.generation, leaks });
  }

  #forgive(unit: Unit): void {
    this.#deps.strikes.forget(unit.installed.id);
    this.#deps.forgiven?.(unit.installed.id);
    unit.degraded = false;
    unit.retryMs = FIRST_RETRY_MS;
    if (unit.state === 'failed' || unit.state === 'quarantined') this.#set(unit, 'inactive', { reason: null, recoverable: true });
  }

  #phase(unit: Unit, phase: Phase): void {
    unit.phase = phase;
  }

  #set(unit: Unit, state: State, rest: { reason: string | null; recoverable: boolean }): void {
    const same = unit.state === state && unit.reason === rest.reason;
    unit.state = state;
    unit.reason = rest.reason;
    unit.recoverable = rest.recoverable;
    if (state !== 'starting') unit.phase = null;
    if (!same) this.#deps.changed(unit.installed.id, state);
  }

  #isProvided(service: string): boolean {
    return [...this.#units.values()].some((unit) => unit.state === 'active' && unit.installed.manifest.provides?.[service] !== undefined);
  }

  #intent(id: string) {
    return intentOf(id, this.#deps.intents());
  }

  #intentAfterReset(id: string): boolean {
    const sources = this.#deps.intents();
    const choices = new Map(sources.choices);
    choices.delete(id);
    return intentOf(id, { ...sources, choices }).enabled;
  }

  #need(id: string): Unit {
    const unit = this.#units.get(id);
    if (!unit) throw new UnknownExtension(id);
    return unit;
  }

  #statusOf(unit: Unit): ExtensionStatus {
    return statusOf(unit, this.#deps, this.#intent(unit.installed.id));
  }
}

/** What stops when `id` does, of what is `active`. */
export function planStop(action: ExtensionPlan['action'], id: string, active: readonly Manifest[], essential: boolean): ExtensionPlan {
  const on = active.some((manifest) => manifest.id === id);
  const warning = essential ? `${id} is essential: without it the daemon refuses most work and answers 503.` : null;
  return { id, action, starts: [], stops: on ? [id, ...dependentsOf(id, active)] : [], degrades: on ? usersOf(id, active) : [], warning, back: `svc ext enable ${id}` };
}

const manifestOf = (unit: Unit): Manifest => unit.installed.manifest;
const drainMsOf = (unit: Unit): number => unit.installed.manifest.drainMs ?? DRAIN_MS;
const phaseOf = (error: unknown): Phase | null => (error instanceof PhaseError ? error.phase : null);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
