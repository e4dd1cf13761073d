/** From the start of the process to ready, and to the first answer, beside `node -e 0`: in turn, so that both meet the same machine. */
import { call, makeAgents, makeHome, say, startDaemon, startProvider } from '../../daemon.mjs';
import { median, milliseconds, times } from '../../figures.mjs';
import { timeOfNode } from '../../processes.mjs';

/** Runs in the journal that the recovery scan has to look through. */
const EARLIER_MESSAGES = 20;

const startOnce = async (home, agent) => {
  const daemon = await startDaemon(home);
  try {
    await say(daemon.url, agent, 'Hello.');
    return { ready: daemon.readyMs, answered: performance.now() - daemon.begun };
  } finally {
    await daemon.stop();
  }
};

/** A home with an agent and some runs in it. Resolves with the agent. */
const furnish = async (home) => {
  const daemon = await startDaemon(home);
  try {
    const [agent] = await makeAgents(daemon.url, 1);
    for (let n = 0; n < EARLIER_MESSAGES; n += 1) await say(daemon.url, agent, 'Hello.');
    await call(daemon.url, 'GET', '/api/status');
    return agent;
  } finally {
    await daemon.stop();
  }
};

export const run = async ({ isQuick }) => {
  const rounds = isQuick ? 5 : 11;
  const provider = await startProvider();
  const home = await makeHome(provider.url);
  const raw = { node: [], ready: [], answered: [] };
  try {
    const agent = await furnish(home);
    for (let round = 0; round < rounds; round += 1) {
      raw.node.push(await timeOfNode(['-e', '0']));
      const { ready, answered } = await startOnce(home, agent);
      raw.ready.push(ready);
      raw.answered.push(answered);
    }
  } finally {
    await provider.stop();
    await home.remove();
  }
  const node = median(raw.node);
  const row = (what, values, limit) => {
    const value = median(values);
    return {
      what,
      value: milliseconds(value),
      floor: milliseconds(node),
      ratio: times(value / node),
      target: `≤ ${limit} ×`,
      met: value / node <= limit,
      method: `median of ${rounds} starts, each beside one \`node -e 0\``,
    };
  };
  return { rows: [row('process start to /api/ready 200', raw.ready, 3), row('process start to first answered message', raw.answered, 6)], raw };
};
