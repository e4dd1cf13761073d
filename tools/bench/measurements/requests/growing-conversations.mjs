/**
 * Messages of conversations that grow: each client keeps one session until it holds 80 messages, and begins another then.
 *
 * The floor sends the same requests, so what it pays more for a long conversation than for a new one is the price of writing
 * the request; what the product pays beyond that is its own.
 */
import { inRoot } from '../../../build/paths.mjs';
import { makeAgents, makeHome, startDaemon, startServer } from '../../daemon.mjs';
import { linearFit, median, microseconds, perSecond, round } from '../../figures.mjs';
import { floorPaths, startFloor } from '../../floor.mjs';
import { startNode } from '../../processes.mjs';
import { against, ratioRow } from '../../ratios.mjs';

const CLIENTS = 32;
/** First and last exchange; the request of exchange n holds 2n - 1 messages of conversation. A session of more than 80 messages is compacted. */
const BANDS = [
  [1, 1],
  [2, 3],
  [4, 7],
  [8, 12],
  [13, 17],
  [18, 23],
  [24, 29],
  [30, 36],
  [37, 40],
];
const SHOWN = { 1: 0, 10: 2, 40: 5, 80: 8 };
const LIMITS = { 1: 4, 10: 5, 40: 5, 80: 5 };
const BEYOND_WRITING_LIMIT = 1.5;
const SAME_SIZE = 0.02;

const lengthOf = ([first, last]) => first + last - 1;
const perMessage = ({ cpuMs, messages }) => cpuMs / messages;
const costsAt = (conversations, length) => conversations.map(({ bands }) => perMessage(bands[SHOWN[length]]));
const rateOf = ({ bands }) => bands.reduce((sum, band) => sum + band.messages, 0) / bands.reduce((sum, band) => sum + band.seconds, 0);
const fitOf = ({ bands }) => linearFit(bands.map((band, index) => [lengthOf(BANDS[index]), perMessage(band)]));

/** A floor that sends less, or a product that cut its conversations, would compare different work. */
const checkSizes = ({ floor, product }) => {
  const sizes = [floor, product].map((conversations) => median(conversations.map(({ requestBytes }) => requestBytes)));
  if (Math.abs(sizes[1] / sizes[0] - 1) > SAME_SIZE) throw new Error(`the last request of a conversation has ${sizes[1]} bytes, the floor's ${sizes[0]}`);
  return sizes[1];
};

const beyondWriting = ({ floor, product }) => {
  const at = { new: costsAt(product, 1), long: costsAt(product, 80), floorNew: median(costsAt(floor, 1)), floorLong: median(costsAt(floor, 80)) };
  return { own: at.long.map((cost) => cost - (at.floorLong - at.floorNew)), fresh: at.new };
};

const rowsOf = (seen, bytes, method) => {
  const show = (ms) => `${round(ms)} ms`;
  const atLength = (length) =>
    ratioRow({
      what: `CPU per message, conversation of ${length === '1' ? '1 (new)' : `some ${length}`}`,
      product: costsAt(seen.product, length),
      floor: costsAt(seen.floor, length),
      show,
      better: 'lower',
      limit: LIMITS[length],
      method: `${method}; requests of ${lengthOf(BANDS[SHOWN[length]])} messages`,
    });
  const { own, fresh } = beyondWriting(seen);
  const beyond = against(own, fresh, 'lower');
  const fits = { product: seen.product.map(fitOf), floor: seen.floor.map(fitOf) };
  const slopes = (conversations) => conversations.map(({ slope }) => slope);
  return [
    ...Object.keys(SHOWN).map(atLength),
    {
      what: 'a conversation of some 80 against a new one',
      value: show(median(own)),
      floor: show(median(fresh)),
      ...beyond,
      target: `≤ ${BEYOND_WRITING_LIMIT} ×`,
      met: beyond.ratioValue <= BEYOND_WRITING_LIMIT,
      method: `CPU of the product at 80 without what the floor pays more at 80 than at 1 (writing a request of ${Math.round(bytes / 1_024)} KB); floor: the product's new conversation`,
    },
    {
      what: 'growth of CPU per message of conversation',
      value: microseconds(median(slopes(fits.product))),
      floor: microseconds(median(slopes(fits.floor))),
      target: '',
      met: true,
      method: `slope of a line through all bands; its intercepts ${show(median(fits.product.map(({ intercept }) => intercept)))} and ${show(median(fits.floor.map(({ intercept }) => intercept)))}; no ratio, because the floor hardly grows`,
    },
    ratioRow({
      what: `messages of growing conversations, ${CLIENTS} clients`,
      product: seen.product.map(rateOf),
      floor: seen.floor.map(rateOf),
      show: perSecond,
      better: 'higher',
      limit: 0.3,
      method,
    }),
    ...Object.keys(SHOWN).map((length) => {
      const rates = (conversations) => conversations.map(({ bands }) => bands[SHOWN[length]].messages / bands[SHOWN[length]].seconds);
      return ratioRow({ what: `their rate, conversation of some ${length}`, product: rates(seen.product), floor: rates(seen.floor), show: perSecond, better: 'higher', method });
    }),
  ];
};

export const run = async ({ isQuick }) => {
  const plan = { bands: BANDS, conversations: isQuick ? 8 : 16, warmUps: 3 };
  const provider = await startServer('tools/bench/programs/servers/streaming-provider.mjs');
  const home = await makeHome(provider.url);
  const floor = await startFloor(provider.url);
  const daemon = await startDaemon(home);
  try {
    const agents = await makeAgents(daemon.url, CLIENTS);
    const servers = {
      floor: { origin: floor.url, pid: floor.pid, paths: floorPaths(CLIENTS) },
      product: { origin: daemon.url, pid: daemon.pid, paths: agents.map((id) => `/api/agents/${id}/message`) },
    };
    const client = startNode([inRoot('tools/bench/programs/clients/growing-client.mjs'), JSON.stringify({ ...plan, servers, provider: provider.url })]);
    const seen = JSON.parse(await client.line());
    await client.ended;
    const method = `median of ${plan.conversations} rounds of ${CLIENTS} conversations that grow to 80 messages (questions of 300, answers of 600 letters), tools listed, floor and product in turn`;
    return { rows: rowsOf(seen, checkSizes(seen), method), raw: seen };
  } finally {
    await daemon.stop();
    await floor.stop();
    await provider.stop();
    await home.remove();
  }
};
