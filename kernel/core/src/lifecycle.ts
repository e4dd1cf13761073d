/**
 * The state of every extension, and the moves between states.
 *
 * X1  Intent (should it be on) is stored; state (is it) is observed. Neither is derived from the other.
 * X2  One change of the graph at a time; each ends with everything converged on intent.
 * X3  A reload overlaps: the next generation serves before the last one drains, and a failed one never replaces a good one.
 * X4  What needs a service that left goes to `pending` before the provider stops, and comes back by itself.
 * X5  That a person wants it on is kept when it has started once. A version that takes the place of another counts from then on, too: before, files and tables are put back.
 * X6  Nothing waits longer for a start than its phases have; who stops the daemon or switches it off does not wait at all.
 */
import type { ExtensionPlan, ExtensionStatus, StopReason } from '@svc/api';
import { planStop, dependentsOf, resolve } from './installed/resolver.js';
import { type Generation, messageOf, type Phase, phaseOf, prepare, publish, retire, unpublish } from './generation.js';
import type { Installed } from './installed/installed.js';
import type { InstalledStore } from './installed/installed-store.js';
import { type Intent, intentOf } from './installed/intent.js';
import { drainMsOf, FIRST_RETRY_MS, manifestOf, newUnit, UnknownExtension, type State, statusOf, type Unit } from './lifecycle-unit.js';
import { currentContributor } from './owner.js';
import { validateCandidate, roundsOf } from './admission.js';
import type { LifecycleDeps } from './lifecycle-deps.js';
import { tried } from './installed/trials.js';

const LAST_DRAIN_MS = 500;
const LAST_RETRY_MS = 60_000;

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
      this.#forgive(unit);
      const over = await this.#deps.attempt?.(id);
      unit.isAttempted = true;
      try {
        await this.#converge();
        // What failed stays off at the next start, unless somebody wanted it on before.
        if (unit.state !== 'failed') await this.#deps.choose(id, true);
      } finally {
        unit.isAttempted = unit.state === 'failed';
        await over?.();
      }
    });
  }

  disable(id: string, options: { force?: boolean } = {}): Promise<ExtensionStatus> {
    this.giveUp(id, 'it was switched off while it started');
    return this.#change(id, async (unit) => {
      await this.#deps.choose(id, false);
      this.#forgive(unit);
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

  /** Shown of it until a person switches or reloads it. */
  note(id: string, note: string): void {
    const unit = this.#units.get(id);
    if (unit) unit.note = note;
  }

  /** It was cut off while somebody switched it on: it stays off, and says so, unless it is wanted on otherwise. Before the start. */
  leaveOff(id: string, why: string): void {
    const unit = this.#units.get(id);
    if (!unit || this.#intent(id).enabled) return;
    this.#set(unit, 'failed', { reason: why, recoverable: false });
    unit.isAttempted = true;
  }

  /** Nothing is started any more, and what is starting fails now. */
  giveUpAll(): void {
    this.#stopping = true;
    for (const unit of this.#units.values()) unit.starting?.abort(new Error('the daemon stops'));
  }

  /** A start of it that goes on fails now. */
  giveUp(id: string, why: string): void {
    this.#units.get(id)?.starting?.abort(new Error(why));
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
    this.giveUpAll();
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
    for (const wave of roundsOf(waves, (id) => this.#need(id).installed.build === undefined)) {
      await Promise.all(wave.map((id) => this.#startIfAble(this.#need(id))));
      onWave?.(wave);
    }
  }

  async #settleOff(unit: Unit, should: boolean, reason: string | undefined): Promise<void> {
    if (should && reason === undefined) return;
    if (unit.state === 'failed' && (unit.isAttempted || this.#intent(unit.installed.id).enabled)) return;
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
    const candidate = unit.installed;
    try {
      this.#begun(unit, await this.#tried(unit, undefined), started);
    } catch (error) {
      this.#failed(unit, error);
      if (unit.installed !== candidate) await this.#startEarlier(unit, candidate);
    }
  }

  /** X5. What takes the place of another version starts, or that one is what is installed again. */
  async #tried(unit: Unit, previous: Generation | undefined): Promise<Generation> {
    const { before, made } = await tried(this.#deps, unit.installed, (confirm) => this.#make(unit, previous, confirm));
    if (before) await this.#adopt(unit, before);
    return made();
  }

  async #make(unit: Unit, previous: Generation | undefined, confirm?: () => Promise<void>): Promise<Generation> {
    const abort = new AbortController();
    unit.starting = abort;
    if (this.#stopping) abort.abort(new Error('the daemon stops'));
    // A replaced generation serves on meanwhile: then its state says what it is.
    const onPhase = previous ? () => undefined : (phase: Phase) => this.#phase(unit, phase);
    const starting = { onPhase, signal: abort.signal, ...(confirm ? { confirm } : {}) };
    try {
      const generation = await prepare(this.#deps, unit.installed, ++unit.generations, starting);
      await publish(this.#deps, generation, previous, starting);
      return generation;
    } finally {
      unit.starting = undefined;
    }
  }

  async #startEarlier(unit: Unit, candidate: Installed): Promise<void> {
    const { failure } = unit;
    const why = `${candidate.version} did not start (${phaseOf(failure) ?? 'start'}: ${messageOf(failure)})`;
    this.#set(unit, 'inactive', { reason: null, recoverable: true });
    await this.#startIfAble(unit);
    unit.failure = failure;
    unit.note = `${why}; ${unit.installed.version} ${unit.state === 'active' ? 'serves on' : 'is put back'}`;
    this.#deps.changed(unit.installed.id, unit.state);
  }

  async #renew(unit: Unit, candidate: Installed): Promise<void> {
    const before = unit.installed;
    validateCandidate([...this.#units.values()], before, candidate, this.#deps);
    this.#forgive(unit);
    await this.#adopt(unit, candidate);
    try {
      const isOverlapped = candidate.manifest.replace !== 'stop-first' && this.#deps.trials?.changesTables(candidate) !== true;
      if (unit.generation && unit.state === 'active' && isOverlapped) await this.#replace(unit, unit.generation);
      else await this.#restart(unit, candidate, before);
    } catch (error) {
      await this.#adopt(unit, before);
      throw error;
    }
    // What it provides or needs may be another now.
    if (candidate !== before) await this.#converge();
  }

  /** Where two generations cannot run beside each other, or none runs. Rejects when another one than the candidate runs in the end. */
  async #restart(unit: Unit, candidate: Installed, before: Installed): Promise<void> {
    unit.failure = undefined;
    if (unit.generation) await this.#stopOne(unit, 'reload', undefined);
    await this.#converge();
    if (candidate === before || unit.failure === undefined) return;
    const { failure } = unit;
    if (unit.installed === candidate) {
      await this.#adopt(unit, before);
      this.#forgive(unit);
      await this.#converge();
    }
    throw failure;
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
      const next = await this.#tried(unit, previous);
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
    if (currentContributor() !== generation.owner) await retiring;
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
    unit.failure = error;
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
    unit.isAttempted = false;
    unit.note = null;
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

  #intent(id: string): Intent {
    const unit = this.#units.get(id);
    if (unit?.isAttempted && unit.state !== 'failed') return { enabled: true, decidedBy: 'choice' };
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
