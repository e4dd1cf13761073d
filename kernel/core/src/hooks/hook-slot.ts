/**
 * One hook: an ordered list of taps behind a tapable hook that is rebuilt when the list changes.
 *
 * H1  tapable has no untap, so the compiled hook is thrown away and built anew; calls in flight finish on the old one.
 * H2  All taps of a call are held while it lasts: one that is replaced meanwhile still answers, and none is left out unseen.
 *     Each runs as its owner, within the hook's budget, and fails as the hook's policy says.
 * H3  In a veto nobody can allow: silence is no objection, a deny ends it, a suspend is remembered and deny beats it.
 * H4  null, and a verdict that is none, are faults of the tap: tapable would take null as a value.
 * H5  An empty slot costs one comparison.
 * H6  Nobody waits again and again for a tap that does not answer: when a few seconds are lost it is left out, or what it
 *     checks is refused at once.
 */
import { type AtOnce, type Gathered, type HookDecl, type SvcError, type TapControl, type Verdict, isSvcError, isThenable } from '@svc/api';
import { type ActorRegistry, createActorRegistry } from '../contracts/actor-registry.js';
import { type ContractValidator, noValidator } from '../contracts/contract-validator.js';
import { plainCopy } from '../contracts/crossing.js';
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook } from 'tapable';
import type { Contributor } from '../owner.js';
import { runAs } from '../owner.js';

export interface Tap {
  readonly owner: Contributor;
  /** `<id>@<generation>`, unique per slot by adding a number. */
  readonly name: string;
  readonly fn: (...args: never[]) => unknown;
  readonly stage: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export type TapTurn = 'call' | 'trial' | 'cut';

export interface HookWatch {
  /** A tap threw, was late or answered nonsense. */
  strike(owner: Contributor, hook: string, error: unknown, lostMs: number): void;
  /** How long whoever calls this hook waits for this owner, where that is less than the hook's budget. */
  patienceMs?(owner: Contributor, hook: string): number;
  /** What to do with the next call of a tap; `cut`: it fails at once, as one that did not answer. */
  turn?(owner: Contributor, hook: string): TapTurn;
  /** A call that was let through on trial was answered. */
  answered?(owner: Contributor, hook: string): void;
  timing(owner: Contributor, hook: string, ms: number): void;
}

type Invoke = (args: readonly unknown[]) => unknown;
type GatherRow = Gathered<unknown> & { readonly cause?: unknown };

/** How long one that was cut off is waited for when it is tried again. */
const TRIAL_MS = 1_000;

const SKIPPED = Symbol('skipped');
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const unlessSkipped = (answer: unknown): unknown => (answer === SKIPPED ? undefined : answer);

/** The one status by which an area says that the fault is its own. */
const INTERNAL_ERROR = 500;

export class HookSlot {
  readonly hook: HookDecl;
  readonly #watch: HookWatch;
  readonly #validator: ContractValidator;
  readonly #actors: ActorRegistry;
  #taps: readonly Tap[] = [];
  #invoke: Invoke | undefined;

  constructor(hook: HookDecl, watch: HookWatch, validator: ContractValidator = noValidator, actors: ActorRegistry = createActorRegistry()) {
    this.hook = hook;
    this.#actors = actors;
    this.#watch = watch;
    this.#validator = validator;
  }

  get isEmpty(): boolean {
    return this.#taps.length === 0;
  }

  taps(): readonly Tap[] {
    return this.#taps;
  }

  /** Takes the new list, in call order. */
  replace(taps: readonly Tap[]): void {
    this.#taps = taps;
    this.#invoke = undefined;
  }

  /** Without a promise where one tap answers at once, all of a gather do, or nobody taps. Never throws: what fails rejects. */
  call(...args: readonly unknown[]): unknown {
    if (this.#taps.length === 0) return this.#answerOfNobody(args);
    this.#invoke ??= this.#compile();
    return this.#invoke(args);
  }

  #answerOfNobody(args: readonly unknown[]): unknown {
    switch (this.hook.kind) {
      case 'pipe':
        return args[0];
      case 'gather':
        return [];
      default:
        return undefined;
    }
  }

  #compile(): Invoke {
    switch (this.hook.kind) {
      case 'veto':
        return this.#veto();
      case 'pipe':
        return this.#pipe();
      case 'step':
        return this.#step();
      case 'ask':
        return this.#ask();
      case 'gather':
        return this.#gather();
    }
  }

  /** A single tap has no order to keep: the usual case, and on the path of every request. */
  #single(failed: (error: unknown) => unknown): Invoke | undefined {
    const [tap, another] = this.#taps;
    if (!tap || another) return undefined;
    const label = `hook ${this.hook.name}`;
    const { lifetime } = tap.owner;
    return ([subject]) => {
      const isHeld = lifetime.countIn(label);
      const leave = (): void => {
        if (isHeld) lifetime.leave(label);
      };
      try {
        const answer = this.#guarded(tap, [subject], failed);
        if (answer instanceof Promise)
          return answer.then(
            (value) => {
              leave();
              return unlessSkipped(value);
            },
            (error: unknown) => {
              leave();
              throw error;
            },
          );
        leave();
        return unlessSkipped(answer);
      } catch (error) {
        leave();
        return Promise.reject(error);
      }
    };
  }

  #veto(): Invoke {
    const single = this.#single((error) => this.#denyOf(error));
    if (single) return single;
    const hook = new AsyncSeriesBailHook<[unknown, { suspended: Verdict | undefined }], Verdict | undefined>(['subject', 'memory']);
    for (const tap of this.#taps) {
      hook.tapPromise(tap.name, async (subject, memory) => {
        const verdict = (await this.#guarded(tap, [subject], (error) => this.#denyOf(error))) as Verdict | undefined | typeof SKIPPED;
        if (verdict === undefined || verdict === SKIPPED) return undefined;
        if ('deny' in verdict) return verdict;
        memory.suspended ??= verdict;
        return undefined;
      });
    }
    return this.#held(async ([subject]) => {
      const memory: { suspended: Verdict | undefined } = { suspended: undefined };
      return (await hook.promise(subject, memory)) ?? memory.suspended;
    });
  }

  #denyOf(error: unknown): Verdict | undefined {
    if (isRefusal(error)) return { deny: error.message, code: error.code, status: error.status, headers: error.headers };
    if (this.hook.policy !== 'closed') return undefined;
    // Whoever is refused may be a third party: what went wrong stands in the log.
    return { deny: `A check of ${this.hook.name} could not be made, so it is refused; the log says why.`, code: 'hook_failed' };
  }

  #pipe(): Invoke {
    const hook = new AsyncSeriesWaterfallHook<[unknown, unknown]>(['value', 'context']);
    for (const tap of this.#taps) {
      hook.tapPromise(tap.name, async (value, context) => {
        const next = await this.#guarded(tap, [value, context], (error) => this.#rethrowIfClosed(error));
        return next === SKIPPED || next === undefined ? value : next;
      });
    }
    return this.#held(([value, context]) => hook.promise(value, context));
  }

  #step(): Invoke {
    const hook = new AsyncSeriesHook<[unknown]>(['subject']);
    for (const tap of this.#taps) {
      hook.tapPromise(tap.name, async (subject) => {
        await this.#guarded(tap, [subject], (error) => this.#rethrowIfClosed(error));
      });
    }
    return this.#held(([subject]) => hook.promise(subject));
  }

  #ask(): Invoke {
    const single = this.#single((error) => this.#rethrowIfClosed(error));
    if (single) return single;
    const hook = new AsyncSeriesBailHook<[unknown], unknown>(['question']);
    for (const tap of this.#taps) {
      hook.tapPromise(tap.name, async (question) => {
        const answer = await this.#guarded(tap, [question], (error) => this.#rethrowIfClosed(error));
        return answer === SKIPPED ? undefined : answer;
      });
    }
    return this.#held(([question]) => hook.promise(question));
  }

  /** In the order of the extensions' ids. At once where every tap answers at once: lists are decorated by this. */
  #gather(): Invoke {
    const taps = [...this.#taps].sort((a, b) => byText(a.owner.id, b.owner.id));
    const label = `hook ${this.hook.name}`;
    return ([question]) => {
      const held = taps.map((tap) => tap.owner.lifetime).filter((lifetime) => lifetime.countIn(label));
      const leave = (): void => {
        for (const lifetime of held) lifetime.leave(label);
      };
      const rows = taps.map((tap) => this.#row(tap, question));
      if (!rows.some(isThenable)) {
        leave();
        return this.#gathered(rows as Array<GatherRow | undefined>); // none of them is a promise
      }
      return Promise.all(rows)
        .finally(leave)
        .then((all) => this.#gathered(all));
    };
  }

  /** What one tap brings. Never throws and never rejects: the others are waited for. */
  #row(tap: Tap, question: unknown): AtOnce<GatherRow | undefined> {
    const owner = tap.owner.id;
    let failure: GatherRow | undefined;
    const value = this.#guarded(tap, [question], (cause) => {
      failure = { owner, error: cause instanceof Error ? cause.message : String(cause), cause };
      return SKIPPED;
    });
    const rowOf = (answer: unknown): GatherRow | undefined => failure ?? (answer === SKIPPED ? undefined : { owner, value: answer });
    return isThenable(value) ? Promise.resolve(value).then(rowOf) : rowOf(value);
  }

  /** Of a closed hook no answer may be missing: the first that failed is what the caller gets. */
  #gathered(rows: ReadonlyArray<GatherRow | undefined>): AtOnce<Gathered<unknown>[]> {
    const found = rows.filter((row) => row !== undefined);
    const failed = this.hook.policy === 'closed' ? found.find((row) => 'cause' in row) : undefined;
    if (failed) return Promise.reject(failed.cause);
    return found.map(({ cause: _cause, ...row }) => row);
  }

  #held(invoke: (args: readonly unknown[]) => Promise<unknown>): Invoke {
    const taps = this.#taps;
    const label = `hook ${this.hook.name}`;
    return async (args) => {
      const held = taps.map((tap) => tap.owner.lifetime).filter((lifetime) => lifetime.countIn(label));
      try {
        return await invoke(args);
      } finally {
        for (const lifetime of held) lifetime.leave(label);
      }
    };
  }

  /** A tap of another build gets a copy: what the others validate, and what happens then, stays what it was. */
  #handed(tap: Tap, args: readonly unknown[]): readonly unknown[] {
    if (!this.#validator.isForeign(tap.owner)) return args;
    const copies = args.map((value) => plainCopy(value, `What ${this.hook.name} asks`));
    return [this.hook.subject, this.hook.context ?? this.hook.subject].slice(0, copies.length).map((schema, index) => this.#actors.handAll(schema, copies[index]));
  }

  /** Runs one tap as its owner within the budget; `failed` turns its fault into what the policy says. A promise only where the tap answers with one. Throws, or rejects, what `failed` throws. */
  #guarded(tap: Tap, args: readonly unknown[], failed: (error: unknown) => unknown): unknown {
    // Only who was stopped by force, or held up its own end too long, is gone in the middle of a call.
    if (isGone(tap)) return this.hook.policy === 'closed' ? failed(goneError(tap, this.hook.name)) : SKIPPED;
    const turn = this.#watch.turn?.(tap.owner, this.hook.name) ?? 'call';
    if (turn === 'cut') return failed(cutError(tap, this.hook.name));
    const started = performance.now();
    const control = new BudgetControl();
    let given: unknown;
    try {
      given = runAs(tap.owner, () => (tap.fn as (...a: readonly unknown[]) => unknown)(...this.#handed(tap, args), control));
    } catch (error) {
      return this.#ended(tap, started, () => this.#faulty(tap, error, failed, started));
    }
    if (isThenable(given)) return this.#awaited(tap, given, control, failed, { started, turn });
    return this.#ended(tap, started, () => this.#taken(tap, given, failed, started));
  }

  async #awaited(
    tap: Tap,
    given: PromiseLike<unknown>,
    control: BudgetControl,
    failed: (error: unknown) => unknown,
    { started, turn }: { readonly started: number; readonly turn: TapTurn },
  ): Promise<unknown> {
    let result: unknown;
    try {
      const patienceMs = turn === 'trial' ? TRIAL_MS : (this.#watch.patienceMs?.(tap.owner, this.hook.name) ?? this.hook.budgetMs);
      result = await withinBudget(given, control, Math.min(this.hook.budgetMs, patienceMs), this.hook.name);
    } catch (error) {
      return this.#ended(tap, started, () => this.#faulty(tap, error, failed, started));
    }
    if (turn === 'trial') this.#watch.answered?.(tap.owner, this.hook.name);
    return this.#ended(tap, started, () => this.#taken(tap, result, failed, started));
  }

  #ended<T>(tap: Tap, started: number, take: () => T): T {
    try {
      return take();
    } finally {
      this.#watch.timing(tap.owner, this.hook.name, performance.now() - started);
    }
  }

  #faulty(tap: Tap, error: unknown, failed: (error: unknown) => unknown, started: number): unknown {
    if (isFault(error)) this.#watch.strike(tap.owner, this.hook.name, error, performance.now() - started);
    return failed(error);
  }

  /** What the tap answered, if it may answer that. */
  #taken(tap: Tap, result: unknown, failed: (error: unknown) => unknown, started: number): unknown {
    try {
      if (result === null) throw new Error(`${tap.owner.id} returned null from ${this.hook.name}; undefined means "no change"`);
      if (this.hook.kind === 'veto' && result !== undefined && !isVerdict(result)) throw new Error(`${tap.owner.id} answered ${this.hook.name} with neither a denial nor a suspension`);
      if (result === undefined || !this.#validator.isNeeded(tap.owner)) return result;
      const answer = this.#validator.isForeign(tap.owner) ? plainCopy(result, `What ${tap.owner.id} answered ${this.hook.name}`) : result;
      this.#validateAnswer(tap, answer);
      return answer;
    } catch (error) {
      return this.#faulty(tap, error, failed, started);
    }
  }

  #validateAnswer(tap: Tap, result: unknown): void {
    const { kind, subject, answer, name } = this.hook;
    const schema = kind === 'pipe' ? subject : answer;
    if (schema) this.#validator.check(schema, result, `What ${tap.owner.id} answered to the hook ${name}`);
  }

  #rethrowIfClosed(error: unknown): typeof SKIPPED {
    if (this.hook.policy === 'closed') throw error;
    return SKIPPED;
  }
}

/** Most taps answer at once and never look at their signal: it is made for those that do. */
class BudgetControl implements TapControl {
  #abort: AbortController | undefined;

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  end(reason: Error): void {
    // A signal asked for only now says that it is too late.
    this.#abort ??= new AbortController();
    this.#abort.abort(reason);
  }
}

const withinBudget = (result: PromiseLike<unknown>, control: BudgetControl, budgetMs: number, hook: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const error = new Error(`a tap of ${hook} did not answer within ${budgetMs} ms`);
      control.end(error);
      reject(error);
    }, budgetMs);
    result.then(
      (answer) => {
        clearTimeout(timer);
        resolve(answer);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });

/** A tap that tells a caller what is wrong with the request. */
const isRefusal = (error: unknown): error is SvcError => isSvcError(error) && error.status < 500;

/** An area that says what is wrong with the request or with the machine (a full disk, a locked vault) works; a strike is for what nobody declared. */
const isFault = (error: unknown): boolean => !isSvcError(error) || error.status === INTERNAL_ERROR;

const isGone = ({ owner }: Tap): boolean => owner.lifetime.state === 'closing' || owner.lifetime.state === 'closed';

const cutError = ({ owner }: Tap, hook: string): Error => new Error(`${owner.id} does not answer ${hook} in time, and is not waited for now`);

const goneError = ({ owner }: Tap, hook: string): Error => new Error(`${owner.id} stopped while ${hook} was being called`);

const isVerdict = (value: unknown): value is Verdict =>
  typeof value === 'object' && value !== null && (('deny' in value && typeof value.deny === 'string') || ('suspend' in value && typeof value.suspend === 'object' && value.suspend !== null));
