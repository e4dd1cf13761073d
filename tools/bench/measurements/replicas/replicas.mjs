/** Three daemons on one PostgreSQL: what a message costs against one daemon alone, and a cap that a thousand calls at once do not pass. */
import { appendFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { startProgram } from '../../bundle.mjs';
import { call, makeAgents, makeHome, startDaemon, startProvider, startServer } from '../../daemon.mjs';
import { perSecond, round } from '../../figures.mjs';
import { figureOf, loadWindowOn } from '../../load.mjs';
import { besides, ratioRow } from '../../ratios.mjs';

const REPLICAS = 3;
const CLIENTS = 30;
/** Windows that differ by less are as warm as each other. */
const SETTLED = 0.05;
const CALLS = 1_000;
const CAP_USD = 1;
const ANSWER_TOKENS = 400;
const LEAST_USED = 0.95;
const CPU_LIMIT = 1.15;

/** Daemons that share a database; stops them in turn. */
const startReplicas = async (count, databaseUrl, providerUrl, settings = '') => {
  const replicas = [];
  for (let index = 0; index < count; index += 1) {
    const home = await makeHome(providerUrl);
    await appendFile(join(home.home, 'config.toml'), `\n[storage]\nurl = "${databaseUrl}"\n${settings}`);
    replicas.push({ home, ...(await startDaemon(home)) });
  }
  return {
    all: replicas,
    stop: async () => {
      for (const { home, stop } of replicas) {
        await stop();
        await home.remove();
      }
    },
  };
};

/** Agents of a database belong to all its daemons; each daemon has clients for its share of them. */
const sharesOf = (replicas, agents) => replicas.map((server, index) => ({ server, paths: agents.filter((_, n) => n % replicas.length === index).map((id) => `/api/agents/${id}/message`) }));

/** Windows until the processor time of a message settles: three daemons compile as much code as one, each with a third of the messages. */
const warmUp = async (part, { warmUpSeconds, warmUpWindows }) => {
  const costs = [];
  const isSettled = () => costs.length >= 3 && Math.abs(costs.at(-1) / costs.at(-2) - 1) < SETTLED && Math.abs(costs.at(-1) / costs.at(-3) - 1) < SETTLED;
  while (costs.length < warmUpWindows && !isSettled()) costs.push((await loadWindowOn(part, warmUpSeconds)).cpuMsPerRequest);
  return costs;
};

/** `one` and `three` have as many clients in all, `threeFull` has as many for each daemon. */
const measureMessages = async ([url, other], plan) => {
  const provider = await startProvider();
  const [one, three] = [await startReplicas(1, url, provider.url), await startReplicas(REPLICAS, other, provider.url)];
  try {
    const agentsOfThree = await makeAgents(three.all[0].url, CLIENTS * REPLICAS);
    const parts = {
      one: sharesOf(one.all, await makeAgents(one.all[0].url, CLIENTS)),
      three: sharesOf(three.all, agentsOfThree.slice(0, CLIENTS)),
      threeFull: sharesOf(three.all, agentsOfThree),
    };
    const warming = { one: await warmUp(parts.one, plan), three: await warmUp(parts.threeFull, plan) };
    const seen = { one: [], three: [], threeFull: [] };
    for (let index = 0; index < plan.windows; index += 1) for (const [name, part] of Object.entries(parts)) seen[name].push(await loadWindowOn(part, plan.seconds));
    return { seen, warming };
  } finally {
    await one.stop();
    await three.stop();
    await provider.stop();
  }
};

/** All calls at once, each daemon a third of them. Gives how they ended, and what the rows of usage say. */
const measureCap = async (url) => {
  const provider = await startServer('tools/bench/programs/servers/spending-provider.mjs');
  const replicas = await startReplicas(REPLICAS, url, provider.url, `\n[budget]\ndaily_limit = ${CAP_USD}\n`);
  try {
    const body = JSON.stringify({ model: 'openai/gpt-4o', max_tokens: ANSWER_TOKENS, messages: [{ role: 'user', content: 'Say hello to the bench, please.' }] });
    const statuses = await Promise.all(
      Array.from({ length: CALLS }, async (_, index) => {
        const response = await fetch(`${replicas.all[index % REPLICAS].url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
        await response.arrayBuffer();
        return response.status;
      }),
    );
    const { total_cost_usd: spent } = await call(replicas.all[0].url, 'GET', '/api/usage');
    return { done: statuses.filter((status) => status === 200).length, refused: statuses.filter((status) => status === 429).length, spent };
  } finally {
    await replicas.stop();
    await provider.stop();
  }
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { windows: 3, seconds: 3, warmUpSeconds: 3, warmUpWindows: 4 } : { windows: 6, seconds: 4, warmUpSeconds: 4, warmUpWindows: 10 };
  const postgres = await startProgram('postgres-server');
  try {
    const [forOne, forThree, forCap] = JSON.parse(await postgres.line());
    const { seen, warming } = await measureMessages([forOne, forThree], plan);
    const cap = await measureCap(forCap);
    const method = `${REPLICAS} daemons against one, each on a database of the same PostgreSQL without fsync, median of ${plan.windows} windows of ${plan.seconds} s in turn, after ${warming.one.length} and ${warming.three.length} windows until the processor time of a message settled; PostgreSQL's own is not in it`;
    const [cpu, rate] = [figureOf(seen, 'cpuMsPerRequest'), figureOf(seen, 'rate')];
    const show = (ms) => `${round(ms)} ms`;
    const isKept = cap.spent <= CAP_USD && cap.spent >= CAP_USD * LEAST_USED && cap.done + cap.refused === CALLS;
    return {
      rows: [
        ratioRow({
          what: 'CPU per message, three replicas',
          product: cpu.three,
          floor: cpu.one,
          method: `${CLIENTS} clients in all; ${method}`,
          show,
          better: 'lower',
          compare: besides,
          limit: CPU_LIMIT,
        }),
        ratioRow({
          what: 'CPU per message, three replicas, each as busy as the one',
          product: cpu.threeFull,
          floor: cpu.one,
          method: `${CLIENTS} clients each; ${method}`,
          show,
          better: 'lower',
          compare: besides,
          limit: CPU_LIMIT,
        }),
        ratioRow({
          what: 'messages, three replicas',
          product: rate.three,
          floor: rate.one,
          method: `${CLIENTS} clients in all; all share ${cpus().length} processors`,
          show: perSecond,
          better: 'higher',
        }),
        ratioRow({
          what: 'messages, three replicas, each as busy as the one',
          product: rate.threeFull,
          floor: rate.one,
          method: `${CLIENTS} clients each; all share ${cpus().length} processors`,
          show: perSecond,
          better: 'higher',
        }),
        {
          what: `spent by ${CALLS.toLocaleString('en')} calls at once against a cap of $${CAP_USD}, three replicas`,
          value: `$${round(cap.spent, 4)}`,
          target: `at most the cap, at least ${LEAST_USED * 100} % of it`,
          met: isKept,
          method: `${cap.done} calls were answered and ${cap.refused} refused with 429; each answer is as long as it may be`,
        },
      ],
      raw: { seen, warming, cap },
    };
  } finally {
    await postgres.stop();
  }
};
