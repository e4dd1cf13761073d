/**
 * Many streams at once, each over a connection of its own, begun one after the other.
 *
 *   node stream-client.mjs '{"origin", "pid", "paths", "beginSeconds": 2, "tokens": 200}'     one stream per path
 *
 * Prints {open, cpuMs, seconds, tokens, gaps, firstTokens, cut}: CPU of the server and tokens seen between the last stream's
 * request and the end of the first stream (open: how many had brought a token by then); the longest gap between two chunks of
 * each stream and its wait for the first token, in milliseconds; and how many ended without all their tokens.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { fineCpuMs } from '../../processes.mjs';

const { origin, pid, paths, beginSeconds, tokens: tokensEach } = JSON.parse(process.argv[2]);
/** One byte that stands in each token and nowhere else of the stream: no chunk can end in the middle of it. */
const MARK = '~'.charCodeAt(0);
const headers = { 'content-type': 'application/json' };

const now = () => ({ cpuMs: fineCpuMs(pid), atMs: performance.now(), tokens: seen.tokens });
const seen = { tokens: 0, flowing: 0, asked: 0, lastAsked: undefined, firstEnd: undefined };

const countIn = (chunk) => {
  let count = 0;
  for (let at = chunk.indexOf(MARK); at !== -1; at = chunk.indexOf(MARK, at + 1)) count += 1;
  return count;
};

const follow = async (path, index) => {
  await sleep((index / paths.length) * beginSeconds * 1_000);
  const client = new Client(origin, { bodyTimeout: 0, headersTimeout: 0 });
  const sentMs = performance.now();
  seen.asked += 1;
  if (seen.asked === paths.length) seen.lastAsked = now();
  const stream = { firstMs: undefined, gapMs: 0, tokens: 0 };
  const response = await client.request({ path, method: 'POST', headers, body: '{"message":"Say it slowly."}' });
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}: ${await response.body.text()}`);
  let lastMs = 0;
  for await (const chunk of response.body) {
    const count = countIn(chunk);
    const atMs = performance.now();
    if (stream.firstMs === undefined) {
      if (count === 0) continue;
      stream.firstMs = atMs - sentMs;
      seen.flowing += 1;
    } else stream.gapMs = Math.max(stream.gapMs, atMs - lastMs);
    lastMs = atMs;
    stream.tokens += count;
    seen.tokens += count;
    if (stream.tokens >= tokensEach) seen.firstEnd ??= { ...now(), open: seen.flowing };
  }
  void client.close();
  return stream;
};

const streams = await Promise.all(paths.map(follow));
const { lastAsked, firstEnd } = seen;
console.log(
  JSON.stringify({
    open: firstEnd.open,
    cpuMs: firstEnd.cpuMs - lastAsked.cpuMs,
    seconds: (firstEnd.atMs - lastAsked.atMs) / 1_000,
    tokens: firstEnd.tokens - lastAsked.tokens,
    gaps: streams.map(({ gapMs }) => gapMs),
    firstTokens: streams.map(({ firstMs }) => firstMs),
    cut: streams.filter(({ tokens }) => tokens < tokensEach).length,
  }),
);
