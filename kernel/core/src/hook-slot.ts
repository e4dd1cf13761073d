/**
 * One hook: an ordered list of taps behind a tapable hook that is rebuilt when the list changes.
 *
 * H1  tapable has no untap, so the compiled hook is thrown away and built anew; calls in flight finish on the old one.
 * H2  Each tap runs under a hold and an owner, within the hook's budget, and fails as the hook's policy says.
 * H3  In a veto nobody can allow: silence is no objection, a deny ends it, a suspend is remembered and deny beats it.
 * H4  null from a pipe is a fault of the tap: tapable would take it as the value.
 * H5  An empty slot costs one comparison.
 */
import { type HookSpec, type TapControl, type Verdict, isSvcError } from '@svc/api';
import { AsyncParallelHook, AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncHook, SyncWaterfallHook } from 'tapable';
import type { Owner } from './owner.js';
import { currentRequest, runAs } from './owner.js';

export interface Tap {
  readonly owner: Owner;
  /** `<id>@<generation>`, unique per slot by adding a number. */
  readonly name: string;
  readonly fn: (...args: never[]) => unknown;
  readonly stage: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface HookWatch {
  /** A tap threw, was late or answered nonsense. */
  strike(owner: Owner, hook: string, error: unknown): void;
  timing(owner: Owner, hook: string, ms: number): void;
}

type Invoke = (args: readonly unknown[]) => unknown;
type GatherRow = { owner: string; value?: unknown; error?: string };

const SKIPPED = Symbol('skipped');

export class HookSlot {
  readonly name: string;
  readonly spec: HookSpec;
  readonly #watch: HookWatch;
  #taps: readonly Tap[] = [];
  #invoke: Invoke | undefined;

  constructor(name: string, spec: HookSpec, watch: HookWatch) {
    this.name = name;
    this.spec = spec;
    this.#watch = watch;
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

  call(...args: readonly unknown[]): unknown {
    if (this.#taps.length === 0) return this.#answerOfNobody(args);
    this.#invoke ??= this.#compile();
    return this.#invoke(args);
  }

  #answerOfNobody(args: readonly unknown[]): unknown {
    switch (this.spec.kind) {
      case 'pipe':
        return Promise.resolve(args[0]);
      case 'pipe-sync':
        return args[0];
      case 'gather':
        return Promise.resolve([]);
      case 'note':
        return undefined;
      default:
        return Promise.resolve(undefined);
    }
  }

  #compile(): Invoke {
    switch (this.spec.kind) {
      case 'veto':
        return this.#veto();
      case 'pipe':
        return this.#pipe();
      case 'pipe-sync':
        return this.#pipeSync();
      case 'step':
        return this.#step();
      case 'ask':
        return this.#ask();
      case 'gather':
        return this.#gather();
      case 'note':
        return this.#note();
    }
  }

  #veto(): Invoke {
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
    return async ([subject]) => {
      const memory: { suspended: Verdict | undefined } = { suspended: undefined };
      return (await hook.promise(subject, memory)) ?? memory.suspended;
    };
  }

  #denyOf(error: unknown): Verdict | undefined {
    if (this.spec.policy !== 'closed') return undefined;
    return { deny: `A check of ${this.name} could not be made, so it is refused: ${messageOf(error)}`, code: 'hook_failed' };
  }

  #pipe(): Invoke {
    const hook = new AsyncSeriesWaterfallHook<[unknown, unknown]>(['value', 'context']);
    for (const tap of this.#taps) {
      hook.tapPromise(tap.name, async (value, context) => {
        const next = await this.#guarded(tap, [value, context], (error) => this.#rethrowIfClosed(error));
        return next === SKIPPED || next === undefined ? value : next;
      });
    }
    return ([value, context]) => hook.promise(value, context);
  }

  #pipeSync(): Invoke {
    const hook = new SyncWaterfallHook<[unknown, unknown]>(['value', 'context']);
    for (const tap of this.#taps) {
      hook.tap(tap.name, (value, context) => {
        const next = this.#guardedSync(tap, [value, context]);
        return next === SKIPPED || next === undefined ? value : next;
      });
    }
    return ([value, context]) => hook.call(value, context);
  }

  #step(): Invoke {
    const hook = new AsyncSeriesHook<[unknown]>(['subject']);
    for (const tap of this.#taps) {
      hook.tapPromise(tap.name, async (subject) => {
        await this.#guarded(tap, [subject], (error) => this.#rethrowIfClosed(error));
      });
    }
    return ([subject]) => hook.promise(subject);
  }

  #ask(): Invoke {
    const hook = new AsyncSeriesBailHook<[unknown], unknown>(['question']);
    for (const tap of this.#taps) {
      hook.tapPromise(tap.name, async (question) => {
        const answer = await this.#guarded(tap, [question], (error) => this.#rethrowIfClosed(error));
        return answer === SKIPPED ? undefined : answer;
      });
    }
    return ([question]) => hook.promise(question);
  }

  #gather(): Invoke {
    const hook = new AsyncParallelHook<[unknown, GatherRow[]]>(['question', 'rows']);
    for (const tap of this.#taps) {
      hook.tapPromise(tap.name, async (question, rows) => {
        const row: GatherRow = { owner: tap.owner.id };
        const value = await this.#guarded(tap, [question], (error) => {
          row.error = messageOf(error);
          return SKIPPED;
        });
        if (value !== SKIPPED) row.value = value;
        if ('value' in row || 'error' in row) rows.push(row);
      });
    }
    return async ([question]) => {
      const rows: GatherRow[] = [];
      await hook.promise(question, rows);
      return rows.sort((a, b) => (a.owner < b.owner ? -1 : 1));
    };
  }

  #note(): Invoke {
    const hook = new SyncHook<[unknown]>(['fact']);
    for (const tap of this.#taps) {
      hook.tap(tap.name, (fact) => {
        this.#guardedSync(tap, [fact]);
      });
    }
    return ([fact]) => hook.call(fact);
  }

  /** Runs one tap under hold, owner and budget; `failed` turns its fault into what the policy says. */
  async #guarded(tap: Tap, args: readonly unknown[], failed: (error: unknown) => unknown): Promise<unknown> {
    const leave = tap.owner.lifetime.enterAnyway(`hook ${this.name}`);
    if (!leave) return SKIPPED;
    const started = performance.now();
    try {
      const result = await runAs(tap.owner, currentRequest(), () => withinBudget(tap.fn, args, this.spec.budgetMs, this.name));
      if (result === null) throw new Error(`${tap.owner.id} returned null from ${this.name}; undefined means "no change"`);
      return result;
    } catch (error) {
      if (!isRefusal(error)) this.#watch.strike(tap.owner, this.name, error);
      return failed(error);
    } finally {
      this.#watch.timing(tap.owner, this.name, performance.now() - started);
      leave();
    }
  }

  #guardedSync(tap: Tap, args: readonly unknown[]): unknown {
    const leave = tap.owner.lifetime.enterAnyway(`hook ${this.name}`);
    if (!leave) return SKIPPED;
    try {
      const result = runAs(tap.owner, currentRequest(), () => (tap.fn as (...a: readonly unknown[]) => unknown)(...args));
      if (result === null || isThenable(result)) throw new Error(`${tap.owner.id} returned ${result === null ? 'null' : 'a promise'} from ${this.name}, which is synchronous`);
      return result;
    } catch (error) {
      if (!isRefusal(error)) this.#watch.strike(tap.owner, this.name, error);
      return this.#rethrowIfClosed(error);
    } finally {
      leave();
    }
  }

  #rethrowIfClosed(error: unknown): typeof SKIPPED {
    if (this.spec.policy === 'closed') throw error;
    return SKIPPED;
  }
}

async function withinBudget(fn: Tap['fn'], args: readonly unknown[], budgetMs: number, hook: string): Promise<unknown> {
  const abort = new AbortController();
  const control: TapControl = { signal: abort.signal };
  const result = (fn as (...a: readonly unknown[]) => unknown)(...args, control);
  if (!isThenable(result)) return result;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`a tap of ${hook} did not answer within ${budgetMs} ms`);
      abort.abort(error);
      reject(error);
    }, budgetMs);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> => typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

/** A tap that tells a caller what is wrong with the request is not at fault itself. */
const isRefusal = (error: unknown): boolean => isSvcError(error) && error.status < 500;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
