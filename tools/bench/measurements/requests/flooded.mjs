/** How long others wait for the answer about health while somebody who may only look floods the live socket. The floor is the same daemon before the flood. */
import { createHash } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { inRoot } from '../../../build/paths.mjs';
import { makeHome, startDaemon } from '../../daemon.mjs';
import { milliseconds, percentile } from '../../figures.mjs';
import { startNode } from '../../processes.mjs';

const SOCKETS = 50;
const LIMIT_MS = 100;
const VIEWER = 'sk-bench-viewer';
const PAUSE_MS = 5;

const viewer = `\n[[users]]\nname = "viewer"\nrole = "viewer"\napi_key_hash = "sha256:${createHash('sha256').update(VIEWER).digest('hex')}"\n`;

const askFor = async (url, seconds) => {
  const client = new Client(url);
  const seen = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const begun = performance.now();
    const { body, statusCode } = await client.request({ path: '/api/health', method: 'GET' });
    await body.dump();
    if (statusCode !== 200) throw new Error(`health answered ${statusCode}`);
    seen.push(performance.now() - begun);
    await sleep(PAUSE_MS);
  }
  await client.close();
  return seen;
};

export const run = async ({ isQuick }) => {
  const seconds = isQuick ? 5 : 20;
  const home = await makeHome('http://127.0.0.1:9');
  await appendFile(path.join(home.home, 'config.toml'), viewer);
  const daemon = await startDaemon({ ...home, env: { ...home.env, SVC_API_KEY: 'sk-bench-owner' } });
  let flood;
  try {
    await askFor(daemon.url, 2);
    const floor = await askFor(daemon.url, seconds);
    flood = startNode([inRoot('tools/bench/programs/clients/flood-client.mjs'), daemon.url, VIEWER, String(SOCKETS)]);
    await flood.line();
    const seen = await askFor(daemon.url, seconds);
    const p99 = percentile(seen, 99);
    const row = {
      what: `health while ${SOCKETS} sockets flood, p99`,
      value: milliseconds(p99),
      floor: milliseconds(percentile(floor, 99)),
      target: `≤ ${LIMIT_MS} ms`,
      met: p99 <= LIMIT_MS,
      method: `one caller, ${seen.length} requests in ${seconds} s; ${SOCKETS} sockets of a viewer send frames that are refused as fast as they are read, and connect again when they are closed; worst ${milliseconds(Math.max(...seen))}; floor: the same daemon before, ${floor.length} requests`,
    };
    return { rows: [row], raw: { seen, floor } };
  } finally {
    await flood?.stop();
    await daemon.stop();
    await home.remove();
  }
};
