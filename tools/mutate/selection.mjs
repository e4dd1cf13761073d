/** Which changes are tried, and by which tests. */

/** A generator of numbers below 1 that repeats itself for the same seed (mulberry32). */
const numbersOf = (seed) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** `size` of the list, the same ones for the same seed, in their order. */
export const sampleOf = (list, size, seed) => {
  if (!size || size >= list.length) return [...list];
  const next = numbersOf(seed);
  const places = list.map((_, place) => place);
  for (let at = 0; at < size; at += 1) {
    const other = at + Math.floor(next() * (places.length - at));
    [places[at], places[other]] = [places[other], places[at]];
  }
  return places
    .slice(0, size)
    .sort((a, b) => a - b)
    .map((place) => list[place]);
};

const byTime = (a, b) => a.ms - b.ms;

/** What takes longer is asked only about what the others let pass. */
const QUICK_MS = 300;
/** A test that takes this long by itself is asked about nothing: an hour would go by with it. */
const TOO_SLOW_MS = 5_000;

/**
 * The tests that reach a change, in the order in which they are asked: the area's own quick ones, its slow ones, and
 * those of other packages, quick ones first, as long as time is left.
 */
export const testsFor = (id, { tests, shared, atLoad }, isOwn, budgetMs) => {
  const isReaching = (test) => test.reached.has(id) || shared.get(test.file)?.has(id) || (atLoad.has(id) && isOwn(test.file));
  const reaching = tests.filter((test) => test.ms <= TOO_SLOW_MS && isReaching(test)).sort(byTime);
  const own = reaching.filter((test) => isOwn(test.file));
  const across = [];
  let left = budgetMs;
  for (const test of reaching.filter(({ file }) => !isOwn(file))) {
    left -= test.ms;
    if (left < 0) break;
    across.push(test);
  }
  return [own.filter((test) => test.ms <= QUICK_MS), own.filter((test) => test.ms > QUICK_MS), across].filter((stage) => stage.length > 0);
};
