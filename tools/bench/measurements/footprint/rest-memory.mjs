/** Memory before load, right after it, and after a rest: what a busy minute leaves. */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeAgents, makeHome, startDaemon, startProvider } from '../../daemon.mjs';
import { megabytes } from '../../figures.mjs';
import { loadWindow } from '../../load.mjs';
import { pssBytes } from '../../processes.mjs';
import { ratioRow } from '../../ratios.mjs';

const CLIENTS = 32;
const SETTLE_MS = 3_000;
const LIMIT = 1.5;

const measure = async (home, { loadSeconds, restMs }) => {
  const daemon = await startDaemon(home);
  try {
    await sleep(SETTLE_MS);
    const before = pssBytes(daemon.pid);
    const agents = await makeAgents(daemon.url, CLIENTS);
    await loadWindow(
      daemon,
      agents.map((id) => `/api/agents/${id}/message`),
      loadSeconds,
    );
    const after = pssBytes(daemon.pid);
    await sleep(restMs);
    return { before, after, rested: pssBytes(daemon.pid) };
  } finally {
    await daemon.stop();
  }
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { starts: 2, loadSeconds: 10, restMs: 20_000 } : { starts: 3, loadSeconds: 30, restMs: 60_000 };
  const provider = await startProvider();
  const raw = [];
  try {
    for (let start = 0; start < plan.starts; start += 1) {
      const home = await makeHome(provider.url);
      raw.push(await measure(home, plan).finally(home.remove));
    }
  } finally {
    await provider.stop();
  }
  const of = (field) => raw.map((one) => one[field]);
  const rowOf = (what, field, limit) =>
    ratioRow({
      what,
      product: of(field),
      floor: of('before'),
      show: megabytes,
      better: 'lower',
      limit,
      method: `PSS, median of ${plan.starts} starts; ${plan.loadSeconds} s of ${CLIENTS} clients, rest of ${plan.restMs / 1_000} s; floor: idle before it`,
    });
  return { rows: [rowOf('memory right after load', 'after'), rowOf('memory after load and a rest', 'rested', LIMIT)], raw };
};
