/**
 * What got worse since the ratios that were recorded: pure comparison, by the names of the rows.
 *
 * G1  Only ratios to a floor of the same run are compared: they are the same on another machine, near enough.
 * G2  Worse is what lies beyond the noise: the spread of the recorded windows and that of these, and never less than LEAST_NOISE.
 * G3  A recorded row that was not measured, and a measured one that is not recorded, are said. They are not worse.
 */

/** Two runs of the same build on one machine differ by as much even where the windows of each agree. */
export const LEAST_NOISE = 0.1;

const isRatio = (row) => Number.isFinite(row.ratioValue) && row.ratioValue > 0;

/** Of the rows of a measurement, what is kept: {<what>: {measurement, ratio, spread, better}}. */
export const recordOf = (results) =>
  Object.fromEntries(
    results.flatMap(({ name, rows }) =>
      rows.filter(isRatio).map(({ what, ratioValue, spread, better }) => [what, { measurement: name, ratio: shortened(ratioValue), spread: shortened(spread), better }]),
    ),
  );

/** What was measured now stands in the place of what the same measurements had recorded; the others keep theirs. */
export const merged = (recorded, results) => {
  const measured = new Set(results.map(({ name }) => name));
  const kept = Object.entries(recorded).filter(([, { measurement }]) => !measured.has(measurement));
  return { ...Object.fromEntries(kept), ...recordOf(results) };
};

/**
 * `recorded` as `recordOf` makes it, `results` of this run: [{name, rows}].
 * `worse` and `better` are [{what, was, is, noise}]; `missing` and `unknown` are names.
 */
export const compare = (recorded, results) => {
  const now = recordOf(results);
  const measured = new Set(results.map(({ name }) => name));
  const expected = Object.entries(recorded).filter(([, { measurement }]) => measured.has(measurement));
  const changes = expected.filter(([what]) => what in now).map(([what, was]) => changeOf(what, was, now[what]));
  return {
    worse: changes.filter(({ factor, noise }) => factor > 1 + noise),
    better: changes.filter(({ factor, noise }) => factor < 1 / (1 + noise)),
    missing: expected.map(([what]) => what).filter((what) => !(what in now)),
    unknown: Object.keys(now).filter((what) => !(what in recorded)),
  };
};

/** `factor` is above 1 where it got worse, whichever direction that is. */
const changeOf = (what, was, is) => ({
  what,
  was: was.ratio,
  is: is.ratio,
  factor: was.better === 'lower' ? is.ratio / was.ratio : was.ratio / is.ratio,
  noise: Math.max(LEAST_NOISE, was.spread + is.spread),
});

/** The outcome of a comparison, a line each; the last one sums up. */
export const guardLines = ({ worse, better, missing, unknown }) => [
  ...worse.map((change) => `worse: ${wordsOf(change)}`),
  ...better.map((change) => `better: ${wordsOf(change)}`),
  ...missing.map((what) => `missing: ${what} is recorded and was not measured`),
  ...unknown.map((what) => `unknown: ${what} was measured and is not recorded`),
  worse.length === 0 ? 'guard: nothing got worse by more than the noise' : `guard: ${worse.length} got worse by more than the noise`,
];

const wordsOf = ({ what, was, is, noise }) => `${what}: ${was} × was recorded, ${is} × now (noise ${Math.round(noise * 100)} %)`;
const shortened = (value) => Number(value.toPrecision(4));
