/** Counts what each extension does wrong, and says when it is too much. */

export interface StrikeRules {
  readonly suspendAt: number;
  readonly suspendWithinMs: number;
  readonly quarantineAt: number;
  readonly quarantineWithinMs: number;
  /** So much time, lost in one place by calls that failed or never answered, is enough. */
  readonly slowAtMs: number;
  readonly slowWithinMs: number;
}

export const DEFAULT_STRIKE_RULES: StrikeRules = { suspendAt: 5, suspendWithinMs: 60_000, quarantineAt: 20, quarantineWithinMs: 300_000, slowAtMs: 5_000, slowWithinMs: 600_000 };

/** What is left of its time is never less: nobody answers in none. */
const LEAST_PATIENCE_MS = 500;

/** `slow`: those who wait for it have lost too much time in that place. */
export type StrikeVerdict = 'noted' | 'suspend' | 'slow' | 'quarantine';

interface Strike {
  readonly at: number;
  readonly place: string;
  readonly lostMs: number;
}

export class StrikeRegistry {
  readonly #rules: StrikeRules;
  readonly #now: () => number;
  readonly #strikes = new Map<string, Strike[]>();

  constructor(now: () => number, rules: StrikeRules = DEFAULT_STRIKE_RULES) {
    this.#now = now;
    this.#rules = rules;
  }

  /** `place` is where it happened: a hook's name, `unhandled`, a timer's label. */
  strike(id: string, place: string, lostMs = 0): StrikeVerdict {
    const at = this.#now();
    const kept = (this.#strikes.get(id) ?? []).filter((strike) => at - strike.at < Math.max(this.#rules.quarantineWithinMs, this.#rules.slowWithinMs));
    kept.push({ at, place, lostMs });
    this.#strikes.set(id, kept.slice(-this.#rules.quarantineAt));
    if (kept.filter((strike) => at - strike.at < this.#rules.quarantineWithinMs).length >= this.#rules.quarantineAt) return 'quarantine';
    if (this.lostMs(id, place) >= this.#rules.slowAtMs) return 'slow';
    const here = kept.filter((strike) => strike.place === place && at - strike.at < this.#rules.suspendWithinMs);
    return here.length >= this.#rules.suspendAt ? 'suspend' : 'noted';
  }

  /** Time that was lost there lately. */
  lostMs(id: string, place: string): number {
    const at = this.#now();
    return (this.#strikes.get(id) ?? []).reduce((sum, strike) => (strike.place === place && at - strike.at < this.#rules.slowWithinMs ? sum + strike.lostMs : sum), 0);
  }

  /** How much longer those who call it there may lose. */
  patienceMs(id: string, place: string): number {
    return Math.max(LEAST_PATIENCE_MS, this.#rules.slowAtMs - this.lostMs(id, place));
  }

  count(id: string): number {
    return this.#strikes.get(id)?.length ?? 0;
  }

  forget(id: string): void {
    this.#strikes.delete(id);
  }
}
