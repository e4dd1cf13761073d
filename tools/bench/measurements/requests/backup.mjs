/** Messages at a fixed rate before, during and after a backup of a large database, on the same daemon. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, makeAgents, makeHome, startDaemon, startProvider } from '../../daemon.mjs';
import { megabytes, milliseconds, round } from '../../figures.mjs';
import { fillBytes } from '../../fill.mjs';
import { figureOf, loadWindow } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';

const CLIENTS = 32;
const WRITES_PER_SECOND = 1_000;
/** Of a plain message (test/costs/plain-message.test.ts). */
const WRITES_PER_MESSAGE = 9;
const LIMIT = 1.5;
const MIB = 1_048_576;
/** `windows` before and as many after; during the backup as many as it takes, up to `most`. */
const FULL = { bytes: 1_024 * MIB, windows: 4, seconds: 8, most: 16 };
const QUICK = { bytes: 200 * MIB, windows: 3, seconds: 4, most: 8 };

/** Windows while one backup is made. What begins before its end counts; a window is discarded when the backup ended in its first half. */
const windowsDuring = async (url, window, most) => {
  const made = { seconds: undefined, size: 0 };
  const began = performance.now();
  const backup = call(url, 'POST', '/api/backup').then(({ size_bytes }) => {
    made.seconds = (performance.now() - began) / 1_000;
    made.size = size_bytes;
  });
  const windows = [];
  await sleep(100);
  while (made.seconds === undefined && windows.length < most) {
    const half = performance.now();
    const seen = await window();
    const isMostlyBeside = made.seconds === undefined || began + made.seconds * 1_000 > (half + performance.now()) / 2;
    if (isMostlyBeside || windows.length === 0) windows.push(seen);
  }
  await backup;
  return { windows, made };
};

const gather = async (daemon, paths, { most, seconds, windows }) => {
  const window = () => loadWindow(daemon, paths, seconds, { rate: WRITES_PER_SECOND / WRITES_PER_MESSAGE });
  const some = async () => {
    const seen = [];
    for (let index = 0; index < windows; index += 1) seen.push(await window());
    return seen;
  };
  await window();
  const before = await some();
  const { made, windows: during } = await windowsDuring(daemon.url, window, most);
  return { seen: { before, during, after: await some() }, made };
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? QUICK : FULL;
  const provider = await startProvider();
  const home = await makeHome(provider.url);
  let daemon = await startDaemon(home);
  try {
    const agents = await makeAgents(daemon.url, CLIENTS);
    await daemon.stop();
    await fillBytes(home.home, plan.bytes);
    daemon = await startDaemon(home);
    const { seen, made } = await gather(
      daemon,
      agents.map((id) => `/api/agents/${id}/message`),
      plan,
    );
    const method = `${WRITES_PER_SECOND} writes/s (${round(WRITES_PER_SECOND / WRITES_PER_MESSAGE, 0)} messages/s of ${CLIENTS} clients), database of ${megabytes(plan.bytes)}, median of windows of ${plan.seconds} s; floor: the same daemon before the backup`;
    const rowOf = (what, when, field, rest = {}) => {
      const figures = figureOf(seen, field);
      return ratioRow({ what, product: figures[when], floor: figures[when].map((_, index) => figures.before[index % figures.before.length]), show: milliseconds, better: 'lower', method, ...rest });
    };
    return {
      rows: [
        rowOf('p99 of a message during a backup', 'during', 'p99', { limit: LIMIT }),
        rowOf('p50 of a message during a backup', 'during', 'p50'),
        rowOf('p99 of a message after the backup', 'after', 'p99'),
        { what: 'a backup under load', value: `${round(made.seconds, 1)} s`, target: '', met: true, method: `${seen.during.length} windows beside it; archive of ${megabytes(made.size)}` },
      ],
      raw: { seen, made },
    };
  } finally {
    await daemon.stop();
    await provider.stop();
    await home.remove();
  }
};
