/**
 * A lifetime is the ordered list of what one generation opened.
 *
 * L1  What is closed opens nothing: `add` on a lifetime that is closing or closed disposes at once and throws.
 *     While it drains, what it still finishes may open and close things.
 * L2  Disposers run newest first, one awaited after the other, each with its own budget.
 * L3  A disposer that fails or hangs is reported by its label; the rest still runs.
 * L4  A hold keeps a lifetime from closing until it is left; draining lets nobody in. Adapters that everybody goes through
 *     count who is inside, by label, and leave with the same label.
 */
import { setMaxListeners } from 'node:events';
import type { Disposable } from '@svc/api';

/** While it is `closing` its disposers run and may still write what they hold; nothing new begins. */
export type LifetimeState = 'open' | 'draining' | 'closing' | 'closed';

export interface LifetimeProblem {
  readonly label: string;
  readonly error: unknown;
}

interface Opened {
  readonly label: string;
  readonly dispose: () => void | Promise<void>;
  done: boolean;
}

const DISPOSE_BUDGET_MS = 5_000;

export class Lifetime {
  readonly name: string;
  readonly #disposeBudgetMs: number;
  readonly #abort = new AbortController();
  readonly #opened: Opened[] = [];
  readonly #holds = new Map<string, number>();
  readonly #idle: Array<() => void> = [];
  readonly #hurries = new Set<() => void>();
  #state: LifetimeState = 'open';
  #held = 0;

  /** `disposeBudgetMs`: how long each disposer has. */
  constructor(name: string, disposeBudgetMs = DISPOSE_BUDGET_MS) {
    this.name = name;
    this.#disposeBudgetMs = disposeBudgetMs;
    // Everything that is under way hears it, each run and each wait: many listeners are no leak, and each is bounded where it begins.
    setMaxListeners(0, this.#abort.signal);
  }

  get state(): LifetimeState {
    return this.#state;
  }

  /** Aborted when disposal begins. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  add(label: string, dispose: () => void | Promise<void>): Disposable {
    if (this.#isOver) {
      void Promise.resolve().then(dispose);
      throw new Error(`${this.name} has stopped: "${label}" was closed again`);
    }
    const opened: Opened = { label, dispose, done: false };
    this.#opened.push(opened);
    return {
      dispose: () => {
        if (opened.done) return undefined;
        opened.done = true;
        const index = this.#opened.indexOf(opened);
        if (index >= 0) this.#opened.splice(index, 1);
        return dispose();
      },
    };
  }

  /** Null once draining: whoever asked must go to the next generation or be refused. */
  enter(label: string): (() => void) | null {
    if (this.#state !== 'open') return null;
    return this.#hold(label);
  }

  /** For what was begun before draining and may still need to call back in. */
  enterAnyway(label: string): (() => void) | null {
    return this.#isOver ? null : this.#hold(label);
  }

  /** The same without a function to leave by: whoever was let in calls `leave` with this label, once. */
  countIn(label: string): boolean {
    if (this.#isOver) return false;
    this.#holds.set(label, (this.#holds.get(label) ?? 0) + 1);
    this.#held += 1;
    return true;
  }

  leave(label: string): void {
    const left = (this.#holds.get(label) ?? 0) - 1;
    if (left > 0) this.#holds.set(label, left);
    else this.#holds.delete(label);
    this.#held -= 1;
    if (this.#held > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  holds(): string[] {
    return [...this.#holds].flatMap(([label, count]) => Array.from({ length: count }, () => label));
  }

  labels(): string[] {
    return this.#opened.map((opened) => opened.label);
  }

  /** Lets nobody in any more and resolves with true when the last hold is gone, or with false after `ms`. */
  async drain(ms: number): Promise<boolean> {
    if (this.#state === 'open') this.#state = 'draining';
    if (this.#held === 0) return true;
    let isLate = false;
    let wake = (): void => undefined;
    const giveUp = (): void => {
      isLate = true;
      wake();
    };
    const timer = setTimeout(giveUp, ms);
    this.#hurries.add(giveUp);
    // Whoever left may have come back in before this goes on: only an empty list of holds counts.
    while (this.#held > 0 && !isLate) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        this.#idle.push(resolve);
      });
    }
    clearTimeout(timer);
    this.#hurries.delete(giveUp);
    return this.#held === 0;
  }

  /** Ends a drain that is going on as if its time were up. */
  hurry(): void {
    for (const giveUp of this.#hurries) giveUp();
  }

  async close(): Promise<LifetimeProblem[]> {
    if (this.#isOver) return [];
    this.#state = 'closing';
    this.#abort.abort(new Error(`${this.name} has stopped`));
    const problems: LifetimeProblem[] = [];
    for (let opened = this.#opened.pop(); opened; opened = this.#opened.pop()) {
      if (opened.done) continue;
      opened.done = true;
      const problem = await disposeWithin(opened, this.#disposeBudgetMs);
      if (problem) problems.push(problem);
    }
    this.#state = 'closed';
    return problems;
  }

  get #isOver(): boolean {
    return this.#state === 'closing' || this.#state === 'closed';
  }

  #hold(label: string): () => void {
    this.countIn(label);
    let isIn = true;
    return () => {
      if (isIn) this.leave(label);
      isIn = false;
    };
  }
}

async function disposeWithin(opened: Opened, budgetMs: number): Promise<LifetimeProblem | undefined> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const result = opened.dispose();
    if (result === undefined) return undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`did not finish within ${budgetMs} ms`)), budgetMs);
    });
    await Promise.race([result, late]);
    return undefined;
  } catch (error) {
    return { label: opened.label, error };
  } finally {
    clearTimeout(timer);
  }
}
