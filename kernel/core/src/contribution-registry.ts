/**
 * What extensions add to the process, of one kind (routes, tools, timers…).
 *
 * C1  What a generation adds is staged: nobody sees it before the generation is published.
 * C2  A swap from one generation to the next is one synchronous step.
 * C3  A generation that was retired leaves no row.
 */
import type { Disposable } from '@svc/api';
import type { Contributor } from './owner.js';

export interface Contribution<T> {
  readonly owner: Contributor;
  readonly value: T;
}

export interface RegistryOptions<T> {
  /** How a contribution is called in messages and in `svc ext info`. */
  readonly describe: (value: T) => string;
  /** Called after each change of what is visible; must not throw. */
  readonly changed?: (active: ReadonlyArray<Contribution<T>>) => void;
  /** Throws when the value may not join, given what would then be visible. */
  readonly check?: (candidate: Contribution<T>, others: ReadonlyArray<Contribution<T>>) => void;
}

/** The face that the lifecycle sees. */
export interface AnyRegistry {
  readonly name: string;
  /** Throws when the staged contributions of `next` conflict with what would stay visible. */
  verify(next: Contributor, previous: Contributor | undefined): void;
  swap(previous: Contributor | undefined, next: Contributor | undefined): void;
  drop(owner: Contributor): void;
  describe(owner: Contributor): string[];
}

export class ContributionRegistry<T> implements AnyRegistry {
  readonly name: string;
  readonly #options: RegistryOptions<T>;
  #rows: Array<Contribution<T>> = [];
  #visible = new Set<Contributor>();
  #active: ReadonlyArray<Contribution<T>> = [];

  constructor(name: string, options: RegistryOptions<T>) {
    this.name = name;
    this.#options = options;
  }

  add(owner: Contributor, value: T): Disposable {
    const row: Contribution<T> = { owner, value };
    if (this.#visible.has(owner)) this.#options.check?.(row, this.#active);
    this.#rows.push(row);
    if (this.#visible.has(owner)) this.#refresh();
    return owner.lifetime.add(`${this.name} ${this.#options.describe(value)}`, () => this.#remove(row));
  }

  active(): ReadonlyArray<Contribution<T>> {
    return this.#active;
  }

  /** What one generation added, seen or not. */
  of(owner: Contributor): T[] {
    return this.#rows.filter((row) => row.owner === owner).map((row) => row.value);
  }

  verify(next: Contributor, previous: Contributor | undefined): void {
    const staying = this.#active.filter((row) => row.owner !== previous);
    const seen = [...staying];
    for (const row of this.#rows) {
      if (row.owner !== next) continue;
      this.#options.check?.(row, seen);
      seen.push(row);
    }
  }

  swap(previous: Contributor | undefined, next: Contributor | undefined): void {
    if (previous) this.#visible.delete(previous);
    if (next) this.#visible.add(next);
    // Most generations add to few registries: what did not change is not made anew.
    if (this.#rows.some(({ owner }) => owner === previous || owner === next)) this.#refresh();
  }

  drop(owner: Contributor): void {
    const before = this.#rows.length;
    this.#rows = this.#rows.filter((row) => row.owner !== owner);
    if (this.#visible.delete(owner) || before !== this.#rows.length) this.#refresh();
  }

  describe(owner: Contributor): string[] {
    return this.#rows.filter((row) => row.owner === owner).map((row) => this.#options.describe(row.value));
  }

  #remove(row: Contribution<T>): void {
    const index = this.#rows.indexOf(row);
    if (index < 0) return;
    this.#rows.splice(index, 1);
    if (this.#visible.has(row.owner)) this.#refresh();
  }

  #refresh(): void {
    this.#active = this.#rows.filter((row) => this.#visible.has(row.owner));
    this.#options.changed?.(this.#active);
  }
}
