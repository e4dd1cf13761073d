/** Memory of the tab after a minute of streaming and after an hour: the tokens of each minute are one answer, streamed faster than a model writes. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { megabytes, median, round, times } from '../../figures.mjs';
import { pssBytes } from '../../processes.mjs';
import { openTab } from './bare-browser.mjs';

const LIMIT = 1.2;
const ANSWER_WAIT_MS = 300_000;
const LOAD_WAIT_MS = 30_000;
const REST_MS = 2_000;

/** The process of its one tab is the largest. */
const rendererBytes = async ({ tools }) => {
  const { processInfo } = await tools.send('SystemInfo.getProcessInfo');
  return Math.max(...processInfo.filter(({ type, id }) => type === 'renderer' && existsSync(`/proc/${id}`)).map(({ id }) => pssBytes(id)));
};

/** The process of the tab, the JavaScript heap and the nodes in it, after all garbage was collected. */
const memoryOf = async (browser) => {
  await sleep(REST_MS);
  for (let time = 0; time < 3; time += 1) await browser.tab.send('HeapProfiler.collectGarbage');
  const { usedSize } = await browser.tab.send('Runtime.getHeapUsage');
  const { nodes } = await browser.tab.send('Memory.getDOMCounters');
  await sleep(REST_MS);
  return { tab: await rendererBytes(browser), heap: usedSize, nodes };
};

/** `say` streams one answer. */
const measureTab = async (url, { minutes, say }) => {
  const browser = await openTab(url);
  try {
    await browser.until("document.querySelector('textarea') !== null", LOAD_WAIT_MS);
    await say(browser);
    const first = await memoryOf(browser);
    for (let minute = 1; minute < minutes; minute += 1) await say(browser);
    return { first, last: await memoryOf(browser) };
  } finally {
    await browser.close();
  }
};

const sayToBare = async ({ evaluate, until }) => {
  await evaluate('void run()');
  await until("document.title === 'over'", ANSWER_WAIT_MS);
};

/** As a person does: into the field, and sent. */
const SAY = `(() => {
  const field = document.querySelector('.composer textarea');
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, 'write for a minute');
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  setTimeout(() => field.form.requestSubmit(), 50);
})()`;

const sayToAgent = async ({ evaluate, until }) => {
  await evaluate(SAY);
  await until("document.querySelector('.going') !== null", LOAD_WAIT_MS);
  await until("document.querySelector('.going') === null && document.querySelector('.turn:last-of-type .figures') !== null", ANSWER_WAIT_MS);
};

export const measureMemory = async ({ daemon, floor, agent, minutes, rounds }) => {
  const seen = { product: [], floor: [] };
  for (let index = 0; index < rounds; index += 1) {
    seen.floor.push(await measureTab(floor.url, { minutes, say: sayToBare }));
    seen.product.push(await measureTab(`${daemon.url}/#/chat/${agent}/new`, { minutes, say: sayToAgent }));
  }
  return seen;
};

export const memoryRow = ({ product, floor }, { minutes, tokens }) => {
  const grown = (runs) => median(runs.map(({ first, last }) => last.tab / first.tab));
  const of = (runs, at, what) => megabytes(median(runs.map((one) => one[at][what])));
  const isHour = minutes === 60;
  return {
    what: `memory of the tab after ${isHour ? 'an hour' : `${minutes} minutes`} of streaming, against after a minute`,
    value: `${of(product, 'last', 'tab')}`,
    floor: `${of(floor, 'last', 'tab')}`,
    ratio: times(grown(product)),
    target: `≤ ${LIMIT} ×`,
    met: grown(product) <= LIMIT,
    method: `PSS of its process after three full collections, median of ${product.length}; ${minutes} answers of ${tokens.toLocaleString('en')} tokens in one conversation, at ten times the speed; after a minute ${of(product, 'first', 'tab')} (floor ${of(floor, 'first', 'tab')}, ${round(grown(floor))} ×), JavaScript heap ${of(product, 'first', 'heap')} and ${of(product, 'last', 'heap')}; floor: the same text in a bare page`,
  };
};
