/**
 * What one extension has stored of one kind, in bytes: a kept sum, measured anew where the sum alone would refuse.
 *
 * M1  Nothing is taken beyond the limit: a claim is counted before what it is for is written.
 * M2  A sum is never below what is there: what is under way counts, and a measurement that ran beside a change is not final.
 * M3  A measurement is made at the first use, when the limit is reached, and after a share of the limit was claimed.
 */

import type { Clock } from '@svc/api';

export interface MeterDeps {
  /** Bytes; asked for at each claim, as settings change. */
  limit(): number;
  /** What is there now, and what of work that is under way is there already. */
  measure(): Promise<Measured>;
  /** The error of a claim that does not fit. */
  refuse(used: number, limit: number): Error;
  /** Whether more may be there than was claimed: an index of rows. */
  readonly isIndexed: boolean;
  readonly clock: Pick<Clock, 'mono' | 'sleep'>;
}

export interface Measured {
  readonly bytes: number;
  readonly unfinished: number;
}

/** A claim may miss what an index adds: after this share of the limit the sum is measured. */
const MEASURED_SHARE = 16;
const MIN_MEASURED_BYTES = 1_048_576;
/** How much more an index may add than was claimed, at most, in what is claimed next. */
const MAX_FACTOR = 64;
/** Fewer bytes say nothing of that: pages of a table have a size. */
const MIN_LEARNT_BYTES = 262_144;
/** Measuring reads all that is there: an extension that is at its limit all the time must not keep a reader busy. */
const MIN_BETWEEN_MS = 250;

export class Meter {
  readonly #deps: MeterDeps;
  #used: number | undefined;
  #underWay = 0;
  /** Claimed since the last measurement began. */
  #claimed = 0;
  /** Bytes that are there for each that was claimed, as the last measurement found. */
  #factor = 1;
  #isStale = false;
  #measuring: Promise<void> | undefined;
  #lastLook = Number.NEGATIVE_INFINITY;

  constructor(deps: MeterDeps) {
    this.#deps = deps;
  }

  get limit(): number {
    return this.#deps.limit();
  }

  /** Undefined until it was measured. What is old is measured for whoever asks next. */
  get used(): number | undefined {
    if (this.#used === undefined || this.#isStale) void this.measure().catch(() => undefined);
    return this.#used;
  }

  /** Throws the error of `refuse`. */
  async claim(bytes: number): Promise<Claim> {
    const claim = new Claim(this);
    await claim.more(bytes);
    return claim;
  }

  /** Something was taken away, and nobody knows how much. */
  changed(): void {
    this.#isStale = true;
  }

  /** What is there now, after all that ended before this was called. */
  async measure(): Promise<void> {
    // One that runs already may have begun before the change that this one is for.
    await this.#measuring?.catch(() => undefined);
    this.#measuring ??= this.#look().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  /** Of a claim, before its work: what is counted for it. */
  async take(bytes: number): Promise<number> {
    if (this.#used === undefined || this.#claimed > Math.max(this.limit / MEASURED_SHARE, MIN_MEASURED_BYTES)) await this.measure();
    const wanted = (): number => Math.ceil(bytes * this.#factor);
    if ((this.#used ?? 0) + wanted() > this.limit && (this.#isStale || this.#claimed > 0)) await this.measure();
    const used = this.#used ?? 0;
    if (bytes > 0 && used + wanted() > this.limit) throw this.#deps.refuse(used, this.limit);
    this.#used = used + wanted();
    this.#claimed += bytes;
    this.#underWay += wanted();
    return wanted();
  }

  /** Of a claim, after its work: `freed` bytes are there no more. */
  settle(counted: number, freed: number): void {
    this.#underWay -= counted;
    if (freed === 0) return;
    // A measurement that is under way has seen the change, or has not.
    if (this.#measuring) this.#isStale = true;
    else this.#used = Math.max(0, (this.#used ?? 0) - freed);
  }

  async #look(): Promise<void> {
    const { clock, isIndexed, measure } = this.#deps;
    const early = MIN_BETWEEN_MS - (clock.mono() - this.#lastLook);
    if (early > 0) await clock.sleep(early);
    this.#lastLook = clock.mono();
    const underWay = this.#underWay;
    const before = this.#used;
    const claimed = this.#claimed;
    this.#claimed = 0;
    this.#isStale = false;
    const { bytes: found, unfinished } = await measure();
    if (isIndexed && before !== undefined && claimed > MIN_LEARNT_BYTES) this.#factor = Math.min(Math.max(1, (found - (before - claimed * this.#factor)) / claimed), MAX_FACTOR);
    this.#used = found + Math.max(underWay, unfinished) + Math.ceil(this.#claimed * this.#factor);
    // Some of what was under way may have been counted twice.
    if (underWay > 0 || this.#claimed > 0) this.#isStale = true;
  }
}

/** Bytes that are counted while they are written. */
export class Claim {
  readonly #meter: Meter;
  #bytes = 0;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  async more(bytes: number): Promise<void> {
    this.#bytes += await this.#meter.take(Math.max(0, bytes));
  }

  /** What was claimed is there; `freed` bytes, which were there before, are not. */
  keep(freed = 0): void {
    this.#meter.settle(this.#bytes, freed);
  }

  /** Nothing was written. */
  drop(): void {
    this.#meter.settle(this.#bytes, this.#bytes);
  }
}
