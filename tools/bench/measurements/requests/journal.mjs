/** What the run journal costs a message: the daemon as it is, against one whose journal writes no rows. */
import { milliseconds, perSecond, round } from '../../figures.mjs';
import { figureOf } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';
import { compareVariants } from '../../variants.mjs';

const CLIENTS = 32;
const LIMIT = 0.8;

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { clients: CLIENTS, windows: 5, seconds: 2, warmUpSeconds: 5 } : { clients: CLIENTS, windows: 9, seconds: 5, warmUpSeconds: 12 };
  const seen = await compareVariants({ part: 'no-journal' }, plan);
  const method = `${CLIENTS} clients, median of ${plan.windows} windows of ${plan.seconds} s in turn; floor: the same daemon whose journal does the same work and writes none of its rows; the rest of its commits is written as ever`;
  const pair = (field, product, floor) => ({ product: figureOf(seen, field)[product], floor: figureOf(seen, field)[floor] });
  return {
    rows: [
      ratioRow({ what: 'messages with the run journal', ...pair('rate', 'whole', 'without'), show: perSecond, better: 'higher', limit: LIMIT, method }),
      ratioRow({ what: 'CPU per message with the run journal', ...pair('cpuMsPerRequest', 'whole', 'without'), show: (ms) => `${round(ms)} ms`, better: 'lower', method }),
      ratioRow({ what: 'one client with the run journal, p50', ...pair('p50', 'wholeOne', 'withoutOne'), show: milliseconds, better: 'lower', method: `${method}, half as long` }),
    ],
    raw: seen,
  };
};
