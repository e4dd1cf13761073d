/** What the daemon occupies while nobody asks anything of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeAgents, makeHome, say, startDaemon, startProvider } from '../../daemon.mjs';
import { median, megabytes } from '../../figures.mjs';
import { pssBytes } from '../../processes.mjs';

const STARTS = 3;
const SETTLE_MS = 3_000;
const TARGET_BYTES = 100 * 1_048_576;

const measure = async (home) => {
  const daemon = await startDaemon(home);
  try {
    await sleep(SETTLE_MS);
    const idle = pssBytes(daemon.pid);
    const [agent] = await makeAgents(daemon.url, 1);
    await say(daemon.url, agent, 'Hello.');
    await sleep(SETTLE_MS);
    return { idle, afterMessage: pssBytes(daemon.pid) };
  } finally {
    await daemon.stop();
  }
};

export const run = async () => {
  const provider = await startProvider();
  const raw = [];
  for (let start = 0; start < STARTS; start += 1) {
    const home = await makeHome(provider.url);
    raw.push(await measure(home));
    await home.remove();
  }
  await provider.stop();
  const idle = median(raw.map((one) => one.idle));
  const after = median(raw.map((one) => one.afterMessage));
  const row = {
    what: 'idle memory',
    value: megabytes(idle),
    target: '≤ 100 MB',
    met: idle <= TARGET_BYTES,
    method: `PSS of the process tree ${SETTLE_MS / 1_000} s after ready, median of ${STARTS} starts; ${megabytes(after)} after a first message`,
  };
  return { rows: [row], raw };
};
