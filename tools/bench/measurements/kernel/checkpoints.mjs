/** What a checkpoint adds to a file_write, whatever the size of the workspace, and what it costs to find what a command changed. */
import { runProgram } from '../../bundle.mjs';
import { median, milliseconds, percentile } from '../../figures.mjs';
import { against } from '../../ratios.mjs';

const TAKE_MS = 15;
const FIND_MS = 60;

export const run = async ({ isQuick }) => {
  const raw = await runProgram('checkpoints', isQuick ? { writes: 60, looks: 10 } : { writes: 400, looks: 40 });
  const { small, large, finding, floor } = raw;
  return {
    rows: [
      {
        what: 'checkpoint before a file_write, workspace of 10,000 files',
        value: milliseconds(median(large)),
        floor: milliseconds(median(small)),
        ...against(large, small, 'lower'),
        target: `≤ ${TAKE_MS} ms`,
        met: median(large) <= TAKE_MS,
        method: `median of ${large.length}, from the call to its end, in the pool; p99 ${milliseconds(percentile(large, 99))}; floor: the same in a workspace of 100 files`,
      },
      {
        what: 'finding what a command changed, 10,000 files',
        value: milliseconds(median(finding)),
        floor: milliseconds(median(floor)),
        ...against(finding, floor, 'lower'),
        target: `≤ ${FIND_MS} ms`,
        met: median(finding) <= FIND_MS,
        method: `median of ${finding.length}: a look at every file and the comparison with the one before; floor: listing the folders and asking for each file's facts`,
      },
    ],
    raw,
  };
};
