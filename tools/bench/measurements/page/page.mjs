/** The page in a real Chromium: what the first load brings, when one can type, how smoothly it writes and scrolls, and what an hour of that leaves. */
import { call, makeAgents, makeHome, say, startDaemon, startServer } from '../../daemon.mjs';
import { fillConversation } from '../../fill.mjs';
import { frameRow, measureScrolling, measureStreams } from './frames.mjs';
import { loadRows, measureLoads } from './loading.mjs';
import { measureMemory, memoryRow } from './memory.mjs';
import { launchBrowser } from './visit.mjs';

const TOKENS_PER_SECOND = 200;
const AGENTS = 500;
const MESSAGES = 10_000;
const MINUTE_TOKENS = 60 * TOKENS_PER_SECOND;
const FASTER = 10;

const answerProvider = (rate, tokens) => startServer('tools/bench/programs/servers/answer-provider.mjs', [String(rate), String(tokens)]);
const barePage = (lines, rate, tokens) => startServer('tools/bench/programs/servers/bare-page.mjs', [String(lines), String(rate), String(tokens)]);

const startServers = async (seconds) => ({
  brief: await startServer('fixtures/providers/instant.mjs'),
  slow: await answerProvider(TOKENS_PER_SECOND, TOKENS_PER_SECOND * seconds),
  fast: await answerProvider(TOKENS_PER_SECOND * FASTER, MINUTE_TOKENS),
  long: await barePage(MESSAGES, TOKENS_PER_SECOND, TOKENS_PER_SECOND * seconds),
  // Nothing to scroll: what a field to type in costs by itself, and text that comes.
  light: await barePage(0, TOKENS_PER_SECOND * FASTER, MINUTE_TOKENS),
});

const useProvider = (daemon, { url }) => call(daemon.url, 'PUT', '/api/providers/openai/url', { base_url: `${url}/v1` });

/** A daemon with so many agents; the first has a conversation of so many messages. */
const startFilled = async (home) => {
  const first = await startDaemon(home);
  const agents = await makeAgents(first.url, AGENTS);
  await say(first.url, agents[0], 'What is **bold**?');
  await first.stop();
  const session = await fillConversation(home.home, agents[0], MESSAGES / 2);
  return { daemon: await startDaemon(home), agents, session };
};

export const run = async ({ isQuick }) => {
  const plan = isQuick ? { loads: 3, seconds: 6, rounds: 1, minutes: 6 } : { loads: 9, seconds: 20, rounds: 3, minutes: 60 };
  const servers = await startServers(plan.seconds);
  const home = await makeHome(servers.brief.url);
  const { daemon, agents, session } = await startFilled(home);
  const browser = await launchBrowser();
  try {
    const loads = await measureLoads(browser, { daemon, floor: servers.light, loads: plan.loads });
    const smooth = await measureScrolling(browser, { daemon, floor: servers.long, agent: agents[0], session, seconds: plan.seconds });
    await useProvider(daemon, servers.slow);
    const written = await measureStreams(browser, { daemon, floor: servers.long, agent: agents[0], session, seconds: plan.seconds, rounds: plan.rounds });
    await browser.close();
    await useProvider(daemon, servers.fast);
    const memory = await measureMemory({ daemon, floor: servers.light, agent: agents[1], minutes: plan.minutes, rounds: 1 });
    return {
      rows: [
        ...loadRows(loads, AGENTS),
        frameRow(
          `an answer of ${TOKENS_PER_SECOND * plan.seconds} tokens at ${TOKENS_PER_SECOND} a second, after ${MESSAGES.toLocaleString('en')} messages, with ${AGENTS} agents`,
          written.product,
          written.floor,
          'floor: text put at the end of as long a list',
        ),
        frameRow(`scrolling ${MESSAGES.toLocaleString('en')} messages`, [smooth.conversation], [smooth.floor], `${smooth.shown} turns were drawn on the way; floor: as many lines in a bare page`),
        frameRow(`scrolling ${AGENTS} agents`, [smooth.agents], [smooth.floor], 'the panel of agents'),
        memoryRow(memory, { minutes: plan.minutes, tokens: MINUTE_TOKENS }),
      ],
      raw: { loads, written, smooth, memory },
    };
  } finally {
    await browser.close();
    await Promise.all([daemon, ...Object.values(servers)].map((one) => one.stop()));
    await home.remove();
  }
};
