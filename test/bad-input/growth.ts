/** Measures how the time of some work grows with its input. No figure of it is a time: machines and their load differ. */
import { expect } from 'chai';

interface Plan {
  readonly sizes: number;
  /** The least of so many runs is the one that was disturbed least. */
  readonly runs: number;
  /** Slower growth than this is accepted. */
  readonly below: number;
}

/** From the smallest to the largest. */
const SPAN = 20;
/** What grows this long at a small size already need not be tried at a larger one. */
const ENOUGH_MS = 150;
/**
 * Linear work has 1, n log n some 1.1; memory that no longer fits a cache, and collecting it on several threads, whose
 * time is counted as well, add up to another half; quadratic work has 2.
 */
const MAX_EXPONENT = 1.65;

const THOROUGH: Plan = { sizes: 10, runs: 4, below: MAX_EXPONENT };
/** Enough for what is clearly linear. */
const QUICK: Plan = { sizes: 5, runs: 2, below: 1.3 };

/** A machine that is busy with other things bends a line now and then; what grows too fast does so each time. */
const ATTEMPTS = 3;

interface Point {
  readonly size: number;
  readonly ms: number;
}

/** The work must take the same way at every size. What is thrown counts as an answer: many of these inputs are refused. */
export function expectLinear<T>(what: string, largest: number, make: (size: number) => T, work: (input: T) => unknown): void {
  if (exponentOf(measured(largest, make, work, QUICK)) < QUICK.below) return;
  let points = measured(largest, make, work, THOROUGH);
  for (let attempt = 1; attempt < ATTEMPTS && exponentOf(points) >= MAX_EXPONENT; attempt++) points = measured(largest, make, work, THOROUGH);
  expect(exponentOf(points), `${what}: ${points.map(({ size, ms }) => `${size} in ${ms.toFixed(2)} ms`).join(', ')}`).to.be.below(MAX_EXPONENT);
}

function measured<T>(largest: number, make: (size: number) => T, work: (input: T) => unknown, { runs, sizes }: Plan): Point[] {
  const points: Point[] = [];
  for (let step = 0; step < sizes; step++) {
    const size = Math.round(largest / SPAN ** (1 - step / (sizes - 1)));
    const input = make(size);
    if (step === 0) for (let warm = 0; warm < 3; warm++) timeOf(work, input);
    let ms = Number.POSITIVE_INFINITY;
    for (let run = 0, spent = 0; run < runs && spent < ENOUGH_MS; run++) {
      const taken = timeOf(work, input);
      spent += taken;
      ms = Math.min(ms, taken);
    }
    points.push({ size, ms });
    if (ms > ENOUGH_MS && points.length >= 3) break;
  }
  return points;
}

/** Processor time, which the other programs of the machine do not add to. */
function timeOf<T>(work: (input: T) => unknown, input: T): number {
  const before = process.cpuUsage();
  try {
    work(input);
  } catch {
    // A refusal is an answer; how long it took is what is asked.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The median of the slopes between all pairs of points, in logarithms: a few disturbed points do not move it. */
function exponentOf(points: readonly Point[]): number {
  const slopes = points.flatMap((a, index) => points.slice(index + 1).map((b) => Math.log(Math.max(b.ms, NOISE_MS) / Math.max(a.ms, NOISE_MS)) / Math.log(b.size / a.size)));
  return slopes.sort((a, b) => a - b)[slopes.length >> 1] ?? 0;
}

/** Below this nothing is measured but the clock. */
const NOISE_MS = 0.1;
