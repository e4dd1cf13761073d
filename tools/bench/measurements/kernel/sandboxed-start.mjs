/** What the sandbox adds to the start of a command of an agent: the adapter of the daemon itself, the same command with it and without it, in turns. */
import { runProgram } from '../../bundle.mjs';
import { median, milliseconds } from '../../figures.mjs';

const LIMIT_MS = 15;

export const run = async ({ isQuick }) => {
  const raw = await runProgram('sandboxed-start', { pairs: isQuick ? 40 : 200 });
  if (raw.cause) throw new Error(`there is no sandbox here: ${raw.cause}`);
  const rows = Object.entries(raw.commands).map(([command, { bare, sandboxed }]) => {
    const more = median(sandboxed.map((ms, index) => ms - bare[index]));
    return {
      what: `start of a sandboxed \`${command}\` against the bare one`,
      value: milliseconds(median(sandboxed)),
      floor: milliseconds(median(bare)),
      target: `≤ ${LIMIT_MS} ms more`,
      met: more <= LIMIT_MS,
      method: `from the call to its result, ${bare.length} pairs in turns, one after another; median of what a pair differs by: ${milliseconds(more)}`,
    };
  });
  return { rows, raw };
};
