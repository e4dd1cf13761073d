/** How many steps of runs the journal keeps in a second. */
import { runProgram } from '../../bundle.mjs';
import { median, perSecond } from '../../figures.mjs';

const CLIENTS = 32;
const STEPS = 10;
const TARGET = 4_000;

export const run = async ({ isQuick }) => {
  const plan = { clients: CLIENTS, steps: STEPS, windows: isQuick ? 3 : 5, seconds: isQuick ? 1 : 3 };
  const raw = await runProgram('journal-steps', plan);
  const rate = median(raw.rates);
  const row = {
    what: `journaled steps, ${STEPS}-step runs, ${CLIENTS} clients`,
    value: perSecond(rate),
    target: '≥ 4,000/s',
    met: rate >= TARGET,
    method: `empty steps, intent and outcome kept, open and finish included; median of ${plan.windows} windows of ${plan.seconds} s`,
  };
  return { rows: [row], raw };
};
