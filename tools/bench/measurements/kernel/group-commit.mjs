/** How many rows a second become durable when many writers each wait for their own. */
import { runProgram } from '../../bundle.mjs';
import { median, perSecond } from '../../figures.mjs';

const WRITERS = 64;
const TARGET = 15_000;

export const run = async ({ isQuick }) => {
  const plan = { writers: WRITERS, windows: isQuick ? 3 : 5, seconds: isQuick ? 1 : 3 };
  const raw = await runProgram('group-commit', plan);
  const rate = median(raw.rates);
  const row = {
    what: `durable group commit, ${WRITERS} writers, WAL and FULL`,
    value: `${perSecond(rate)} rows`,
    target: '≥ 15,000 rows/s',
    met: rate >= TARGET,
    method: `one row per commit, storage of the platform alone; median of ${plan.windows} windows of ${plan.seconds} s`,
  };
  return { rows: [row], raw };
};
