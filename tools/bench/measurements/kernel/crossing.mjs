/** What a call costs that crosses the access check between two areas, against one that does not. */
import { runProgram } from '../../bundle.mjs';
import { median, round } from '../../figures.mjs';
import { against } from '../../ratios.mjs';

/** A message makes some twenty of these calls, and costs about a millisecond in all. */
const LIMIT_NS = 3_000;

export const run = async ({ isQuick }) => {
  const raw = await runProgram('crossing', { calls: isQuick ? 100_000 : 500_000, rounds: 7 });
  const plain = median(raw.plain);
  const rowOf = (what, values) => {
    const ns = median(values);
    return {
      what,
      value: `${Math.round(ns)} ns`,
      floor: `${round(plain, 0)} ns`,
      ...against(values, raw.plain, 'lower'),
      target: `≤ ${LIMIT_NS} ns`,
      met: ns <= LIMIT_NS,
      method: `median of ${values.length} rounds, an awaited call with an actor and an id; floor: the function itself`,
    };
  };
  return {
    rows: [rowOf('a call that crosses the access check, between areas of one build', raw.crossing), rowOf('the same, validated by its contract (what another build made)', raw.validated)],
    raw,
  };
};
