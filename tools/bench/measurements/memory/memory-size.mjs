/** What many entries cost: a search among 100,000, and what recall adds to a message of somebody with 10,000. */
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { inRoot } from '../../../build/paths.mjs';
import { call, makeHome, startDaemon, startProvider } from '../../daemon.mjs';
import { median, milliseconds, percentile } from '../../figures.mjs';

const TARGETS = { searchMs: 50, recallMs: 10 };
const AT_ONCE = 2_000;
const ENTRY_WORDS = 12;
const ASKED_WORDS = 4;
const FIRST_AT = Date.UTC(2023, 10, 14);
const SPAN_MS = 700 * 86_400_000;

/** The same numbers in each run (mulberry32). */
const randomOf = (seed) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** Texts of English words, some common and most rare (Zipf): those of the embedder, whose vocabulary begins with the common ones. */
const textsOf = async (random) => {
  const vocabulary = (await readFile(inRoot('extensions/embedder-static/data/vocab.txt'), 'utf8')).split('\n').filter((word) => /^[a-z]{3,}$/.test(word));
  return (words) => Array.from({ length: words }, () => vocabulary[Math.min(vocabulary.length - 1, Math.floor(vocabulary.length ** random()))]).join(' ');
};

const fill = async (url, agent, count, { random, text }) => {
  for (let at = 0; at < count; at += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - at) }, () => ({ content: text(ENTRY_WORDS), created_at: new Date(FIRST_AT + random() * SPAN_MS).toISOString() }));
    await call(url, 'POST', `/api/memory/agents/${agent}/import`, rows);
  }
};

const timed = async (work) => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const withDaemon = async (work) => {
  const provider = await startProvider();
  const home = await makeHome(provider.url);
  await appendFile(path.join(home.home, 'config.toml'), '\n[proactive_memory]\nauto_memorize = false\nmax_memories_per_agent = 1000000\n');
  const daemon = await startDaemon(home);
  try {
    return await work(daemon.url);
  } finally {
    await daemon.stop();
    await provider.stop();
    await home.remove();
  }
};

const measureSearch = (entries, rounds) =>
  withDaemon(async (url) => {
    const random = randomOf(42);
    const text = await textsOf(random);
    const { agent_id: agent } = await call(url, 'POST', '/api/agents', { name: 'many' });
    await fill(url, agent, entries, { random, text });
    const search = () => timed(() => call(url, 'GET', `/api/memory/agents/${agent}/search?q=${encodeURIComponent(`what about ${text(ASKED_WORDS)}`)}`));
    const first = await search();
    for (let round = 0; round < 10; round += 1) await search();
    const times = [];
    const floor = [];
    for (let round = 0; round < rounds; round += 1) {
      times.push(await search());
      floor.push(await timed(() => call(url, 'GET', `/api/memory/agents/${agent}/count`)));
    }
    return { first, times, floor };
  });

const measureRecall = (entries, rounds) =>
  withDaemon(async (url) => {
    const random = randomOf(43);
    const text = await textsOf(random);
    const agents = [];
    for (const [name, proactive] of [
      ['recalls', {}],
      ['recalls-not', { proactive_memory: { auto_retrieve: false } }],
    ])
      agents.push((await call(url, 'POST', '/api/agents', { manifest: { name, ...proactive } })).agent_id);
    await fill(url, agents[0], entries, { random, text });
    const message = async (agent) => {
      const { session_id: session } = await call(url, 'POST', `/api/agents/${agent}/sessions`, {});
      return timed(() => call(url, 'POST', `/api/agents/${agent}/message`, { message: `what about ${text(ASKED_WORDS)}`, session_id: session }));
    };
    const [recalled, plain] = [[], []];
    for (let round = 0; round < rounds + 10; round += 1) {
      const [one, other] = [await message(agents[0]), await message(agents[1])];
      if (round < 10) continue;
      recalled.push(one);
      plain.push(other);
    }
    return { recalled, plain };
  });

export const run = async ({ isQuick }) => {
  const plan = { searched: isQuick ? 20_000 : 100_000, recalled: isQuick ? 2_000 : 10_000, rounds: isQuick ? 100 : 300 };
  const search = await measureSearch(plan.searched, plan.rounds);
  const recall = await measureRecall(plan.recalled, plan.rounds);
  const p99 = percentile(search.times, 99);
  const added = median(recall.recalled) - median(recall.plain);
  return {
    rows: [
      {
        what: `search among ${plan.searched.toLocaleString('en')} memory entries, p99`,
        value: milliseconds(p99),
        floor: milliseconds(percentile(search.floor, 99)),
        target: `≤ ${TARGETS.searchMs} ms`,
        met: p99 <= TARGETS.searchMs,
        method: `p50 ${milliseconds(median(search.times))}, the first, which reads all vectors, ${milliseconds(search.first)}; ${plan.rounds} searches of ${ASKED_WORDS} words, SQLite; floor: their number, asked in turn`,
      },
      {
        what: `what recall adds to a message, ${plan.recalled.toLocaleString('en')} entries, p50`,
        value: milliseconds(added),
        floor: milliseconds(median(recall.plain)),
        target: `≤ ${TARGETS.recallMs} ms`,
        met: added <= TARGETS.recallMs,
        method: `${plan.rounds} messages, each the first of its conversation, in turn with as many to an agent that recalls nothing (the floor); SQLite`,
      },
    ],
    raw: { search, recall },
  };
};
