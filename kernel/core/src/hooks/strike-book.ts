/** Counts what each extension does wrong, and says when it is too much. */

export interface StrikeRules {
  readonly suspendAt: number;
  readonly suspendWithinMs: number;
  readonly quarantineAt: number;
  readonly quarantineWithinMs: number;
}

export const DEFAULT_STRIKE_RULES: StrikeRules = { suspendAt: 5, suspendWithinMs: 60_000, quarantineAt: 20, quarantineWithinMs: 300_000 };

export type StrikeVerdict = 'noted' | 'suspend' | 'quarantine';

interface Strike {
  readonly at: number;
  readonly place: string;
}

export class StrikeBook {
  readonly #rules: StrikeRules;
  readonly #now: () => number;
  readonly #strikes = new Map<string, Strike[]>();

  constructor(now: () => number, rules: StrikeRules = DEFAULT_STRIKE_RULES) {
    this.#now = now;
    this.#rules = rules;
  }

  /** `place` is where it happened: a hook's name, `unhandled`, a timer's label. */
  strike(id: string, place: string): StrikeVerdict {
    const at = this.#now();
    const recent = (this.#strikes.get(id) ?? []).filter((strike) => at - strike.at < this.#rules.quarantineWithinMs);
    recent.push({ at, place });
    this.#strikes.set(id, recent.slice(-this.#rules.quarantineAt));
    if (recent.length >= this.#rules.quarantineAt) return 'quarantine';
    const here = recent.filter((strike) => strike.place === place && at - strike.at < this.#rules.suspendWithinMs);
    return here.length >= this.#rules.suspendAt ? 'suspend' : 'noted';
  }

  count(id: string): number {
    return this.#strikes.get(id)?.length ?? 0;
  }

  forget(id: string): void {
    this.#strikes.delete(id);
  }
}
