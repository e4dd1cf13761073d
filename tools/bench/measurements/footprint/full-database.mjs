/** Messages and starts beside a database in which a million runs and ten million entries stand, against an empty one. */
import { makeAgents, makeHome, say, startDaemon, startServer } from '../../daemon.mjs';
import { milliseconds } from '../../figures.mjs';
import { fillRuns } from '../../fill.mjs';
import { figureOf, loadInTurn } from '../../load.mjs';
import { ratioRow } from '../../ratios.mjs';

const LIMIT = 1.1;
const FULL = { agents: 1_000, sessions: 100_000 };
const QUICK = { agents: 1_000, sessions: 10_000 };

/** A home with one agent that has had a run with a tool call. */
const furnish = async (home) => {
  const daemon = await startDaemon(home);
  try {
    const [agent] = await makeAgents(daemon.url, 1);
    await say(daemon.url, agent, 'What time is it, and is the garden door shut?');
    return `/api/agents/${agent}/message`;
  } finally {
    await daemon.stop();
  }
};

const startBoth = async (full, empty, rounds) => {
  const ready = { full: [], empty: [] };
  // The first start after so many writes reads a cold file, and moves it to the write-ahead log.
  await (await startDaemon(full)).stop();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, home] of Object.entries({ empty, full })) {
      const daemon = await startDaemon(home);
      ready[name].push(daemon.readyMs);
      await daemon.stop();
    }
  }
  return ready;
};

export const run = async ({ isQuick }) => {
  const plan = { warmUpSeconds: 4, ...(isQuick ? { ...QUICK, windows: 15, seconds: 1, starts: 9 } : { ...FULL, windows: 25, seconds: 2, starts: 15 }) };
  const provider = await startServer('tools/bench/programs/servers/tool-provider.mjs');
  const [empty, full] = [await makeHome(provider.url), await makeHome(provider.url)];
  const daemons = [];
  try {
    const paths = { empty: await furnish(empty), full: await furnish(full) };
    const rows = await fillRuns(full.home, paths.full.split('/')[3], plan);
    const ready = await startBoth(full, empty, plan.starts);
    daemons.push(await startDaemon(empty), await startDaemon(full));
    const windows = await loadInTurn({ empty: { server: daemons[0], paths: [paths.empty] }, full: { server: daemons[1], paths: [paths.full] } }, plan);
    const beside = `${rows.runs.toLocaleString('en')} runs, ${rows.entries.toLocaleString('en')} entries`;
    const rowOf = (what, seen, method) => ratioRow({ what, product: seen.full, floor: seen.empty, show: milliseconds, better: 'lower', limit: LIMIT, method });
    return {
      rows: [
        rowOf(
          'one client, p50, in a full database',
          figureOf(windows, 'p50'),
          `${beside}; median of ${plan.windows} windows of ${plan.seconds} s, runs with a tool call; floor: the same daemon on an empty database, in turn`,
        ),
        rowOf('process start to ready, with a full database', ready, `${beside}; median of ${plan.starts} starts; floor: on an empty database, in turn`),
      ],
      raw: { rows, windows, ready },
    };
  } finally {
    for (const daemon of daemons) await daemon.stop();
    await provider.stop();
    await empty.remove();
    await full.remove();
  }
};
