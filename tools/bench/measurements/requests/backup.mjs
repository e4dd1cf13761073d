/** Messages while backups of a large database are made, against the same daemon at rest. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, makeAgents, makeHome, startDaemon, startProvider } from '../../daemon.mjs';
import { megabytes, milliseconds, round } from '../../figures.mjs';
import { fillBytes } from '../../fill.mjs';
import { figureOf, loadWindow } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';

const CLIENTS = 8;
const LIMIT = 1.5;
const MIB = 1_048_576;
const FULL = { bytes: 1_024 * MIB, windows: 5, seconds: 8 };
const QUICK = { bytes: 200 * MIB, windows: 3, seconds: 3 };

/** Backups one after the other until `isOver`. Resolves with how long each took; one that begins may outlast the window. */
const backUpUntil = async (url, isOver) => {
  const seconds = [];
  let size = 0;
  while (!isOver()) {
    const began = performance.now();
    const { filename, size_bytes } = await call(url, 'POST', '/api/backup');
    seconds.push((performance.now() - began) / 1_000);
    size = size_bytes;
    await call(url, 'DELETE', `/api/backups/${filename}`);
  }
  return { seconds, size };
};

const gather = async (daemon, paths, { windows, seconds }) => {
  const seen = { rest: [], backup: [] };
  const made = { seconds: [], size: 0 };
  await loadWindow(daemon, paths, seconds);
  for (let index = 0; index < windows; index += 1) {
    seen.rest.push(await loadWindow(daemon, paths, seconds));
    let isOver = false;
    const backups = backUpUntil(daemon.url, () => isOver);
    // The first is under way.
    await sleep(200);
    seen.backup.push(await loadWindow(daemon, paths, seconds));
    isOver = true;
    const { seconds: took, size } = await backups;
    made.seconds.push(...took);
    made.size = size;
  }
  return { seen, made };
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
    const method = `${CLIENTS} clients, database of ${megabytes(plan.bytes)}, median of ${plan.windows} windows of ${plan.seconds} s; floor: the same daemon without a backup, in turn`;
    const rowOf = (what, field, show, rest = {}) => {
      const { backup, rest: floor } = figureOf(seen, field);
      return ratioRow({ what, product: backup, floor, show, better: 'lower', method, ...rest });
    };
    const took = made.seconds.toSorted((a, b) => a - b)[Math.floor(made.seconds.length / 2)];
    return {
      rows: [
        rowOf('p99 of a message during a backup', 'p99', milliseconds, { limit: LIMIT }),
        rowOf('p50 of a message during a backup', 'p50', milliseconds),
        { what: 'a backup under load', value: `${round(took, 1)} s`, target: '', met: true, method: `median of ${made.seconds.length}; archive of ${megabytes(made.size)}` },
      ],
      raw: { seen, made },
    };
  } finally {
    await daemon.stop();
    await provider.stop();
    await home.remove();
  }
};
