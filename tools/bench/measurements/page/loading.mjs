/** What the first load brings, and when one can type. */
import { milliseconds, round } from '../../figures.mjs';
import { ratioRow } from '../../ratios.mjs';
import { visit } from './visit.mjs';

const SLOWER = 4;
const LIMIT_KB = 90;
const READY_LIMIT = 2.5;

/** From the navigation to a field that has taken what is typed, ms; and the bytes on the wire of each answer that came until then, headers included. */
const load = async (browser, url, field) => {
  const { page, debug, close } = await visit(browser, { slower: SLOWER });
  const names = new Map();
  const received = [];
  debug.on('Network.responseReceived', ({ requestId, response }) => names.set(requestId, response));
  debug.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const response = names.get(requestId);
    if (response) received.push({ path: new URL(response.url).pathname, coding: response.headers['content-encoding'], bytes: encodedDataLength });
  });
  await debug.send('Network.enable');
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(field).waitFor();
  await page.locator(field).pressSequentially('x');
  const ms = await page.evaluate(() => performance.now());
  const seen = { ms, bytes: received.reduce((sum, { bytes }) => sum + bytes, 0), received: [...received] };
  await close();
  return seen;
};

/** Loads of both in turn, each with an empty cache. */
export const measureLoads = async (browser, { daemon, floor, loads }) => {
  const seen = { product: [], floor: [] };
  for (let index = 0; index < loads; index += 1) {
    seen.floor.push(await load(browser, floor.url, 'textarea'));
    seen.product.push(await load(browser, daemon.url, '.composer textarea'));
  }
  return seen;
};

const kilobytes = (bytes) => `${round(bytes / 1_000, 1)} KB`;

export const loadRows = ({ product, floor }, agents) => {
  const bytes = (loads) => loads.map((one) => one.bytes);
  const ms = (loads) => loads.map((one) => one.ms);
  const size = ratioRow({
    what: 'first load of the page, compressed',
    product: bytes(product),
    floor: bytes(floor),
    show: kilobytes,
    better: 'lower',
    method: `all answers with their headers, as they came over the wire with Brotli, until one can type, those of the API included; ${agents} agents`,
  });
  const largest = Math.max(...bytes(product));
  return [
    { ...size, ratio: '', target: `≤ ${LIMIT_KB} KB`, met: largest <= LIMIT_KB * 1_000 },
    ratioRow({
      what: `ready to type, processor ${SLOWER} times slower`,
      product: ms(product),
      floor: ms(floor),
      show: milliseconds,
      better: 'lower',
      limit: READY_LIMIT,
      method: `median of ${product.length} loads in turn with a page that is a field and nothing else, each with an empty cache; ${agents} agents`,
    }),
  ];
};
