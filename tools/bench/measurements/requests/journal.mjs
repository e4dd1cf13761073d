/** What the run journal costs a message: the daemon as it is, against one whose journal writes no rows. */
import { milliseconds, perSecond, round } from '../../figures.mjs';
import { figureOf } from '../../load.mjs';
import { besides, ratioRow } from '../../ratios.mjs';
import { compareVariants } from '../../variants.mjs';

const CLIENTS = 32;
const LIMIT = 0.8;

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { clients: CLIENTS, windows: 4, seconds: 2, warmUpSeconds: 4 } : { clients: CLIENTS, windows: 7, seconds: 3, warmUpSeconds: 10 };
  const seen = await compareVariants({ part: 'no-journal' }, plan);
  const method = `${CLIENTS} clients, median ratio of ${plan.windows} pairs of windows of ${plan.seconds} s; floor: the same daemon whose journal does the same work and writes none of its rows; the rest of its commits is written as ever`;
  const pair = (field, product, floor) => ({ product: figureOf(seen, field)[product], floor: figureOf(seen, field)[floor] });
  return {
    rows: [
      ratioRow({ what: 'messages with the run journal', ...pair('rate', 'whole', 'without'), show: perSecond, better: 'higher', compare: besides, limit: LIMIT, method }),
      ratioRow({ what: 'CPU per message with the run journal', ...pair('cpuMsPerRequest', 'whole', 'without'), show: (ms) => `${round(ms)} ms`, better: 'lower', compare: besides, method }),
      ratioRow({ what: 'one client with the run journal, p50', ...pair('p50', 'wholeOne', 'withoutOne'), show: milliseconds, better: 'lower', compare: besides, method: `${method}, half as long` }),
    ],
    raw: seen,
  };
};
