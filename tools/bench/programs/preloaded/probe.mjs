/**
 * Preloaded into a daemon with --expose-gc: answers what its process holds, after a collection.
 *
 * GET / on the socket file that SVC_BENCH_PROBE names answers {heapBytes, rssBytes, externalBytes, resources, files, lag}.
 * `lag` is of the time since the last question, without the collections: [[share, ms], …], each the share of the measured
 * delays that were as long. POST /snapshot?FILE writes a heap snapshot.
 */
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;

/** A delay that was not interrupted is as long as the timer: that much is not lag. */
const lagOf = (delays) => {
  const shares = [];
  let last = 0;
  for (const [percentile, ns] of delays.percentiles) {
    shares.push([(percentile - last) / 100, Math.max(0, ns / NS_PER_MS - RESOLUTION_MS)]);
    last = percentile;
  }
  return { count: delays.count, shares };
};

/** A monitor that is enabled again counts the pause as one delay, so each stretch has a monitor of its own. */
export const watchLag = () => {
  const start = () => {
    const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delays.enable();
    return delays;
  };
  let delays = start();
  return {
    stop: () => {
      delays.disable();
      return lagOf(delays);
    },
    restart: () => {
      delays = start();
    },
  };
};

const countOf = (names) => {
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

const serve = (file) => {
  const lag = watchLag();
  const sample = async () => {
    const seen = lag.stop();
    // What a finalizer lets go in a first collection goes in the second one.
    for (let round = 0; round < 2; round += 1) {
      globalThis.gc();
      await turn();
    }
    const { heapUsed, rss, external } = process.memoryUsage();
    const answer = { heapBytes: heapUsed, rssBytes: rss, externalBytes: external, resources: countOf(process.getActiveResourcesInfo()), files: readdirSync('/proc/self/fd').length, lag: seen };
    lag.restart();
    return answer;
  };
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') writeHeapSnapshot(decodeURIComponent(request.url.split('?')[1]));
    response.end(JSON.stringify(await sample()));
  });
  server.listen(file).unref();
};

const file = process.env.SVC_BENCH_PROBE;
if (isMainThread && file) {
  // Processes that the daemon starts are not asked.
  delete process.env.SVC_BENCH_PROBE;
  serve(file);
}
