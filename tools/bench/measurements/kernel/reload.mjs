/** Every area is reloaded while clients send blocking and streamed messages: none may fail, no stream may be cut. */
import { Client } from 'undici';
import { call, makeAgents, makeHome, startDaemon, startProvider } from '../../daemon.mjs';

const BLOCKING = 4;
const STREAMING = 4;

const blocking = async (client, agent, seen) => {
  const response = await client.request({ path: `/api/agents/${agent}/message`, method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"message":"Hello."}' });
  const text = await response.body.text();
  seen.requests += 1;
  if (response.statusCode !== 200) seen.failures.push(`${response.statusCode} ${text.slice(0, 200)}`);
};

const streamed = async (client, agent, seen) => {
  const response = await client.request({ path: `/api/agents/${agent}/message/stream`, method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"message":"Hello."}' });
  const text = await response.body.text();
  seen.streams += 1;
  if (!text.includes('event: done')) seen.cuts.push(`${response.statusCode} ${text.slice(-200)}`);
};

/** The area that answers the reload itself is reloaded too: its answer still comes. */
const reloadAll = async (url, areas, rounds, seen) => {
  for (let round = 0; round < rounds; round += 1) {
    for (const area of areas) {
      await call(url, 'POST', `/api/extensions/${area}/reload`);
      seen.reloads += 1;
    }
  }
};

export const run = async ({ isQuick }) => {
  const rounds = isQuick ? 5 : 25;
  const provider = await startProvider();
  const home = await makeHome(provider.url);
  const daemon = await startDaemon(home);
  const seen = { requests: 0, streams: 0, reloads: 0, failures: [], cuts: [] };
  try {
    const agents = await makeAgents(daemon.url, BLOCKING + STREAMING);
    const { extensions } = await call(daemon.url, 'GET', '/api/extensions');
    const areas = extensions.filter((one) => one.status === 'active' || one.state === 'active').map((one) => one.name);
    let over = false;
    const loops = agents.map(async (agent, index) => {
      const client = new Client(daemon.url);
      while (!over) await (index < BLOCKING ? blocking : streamed)(client, agent, seen).catch((error) => seen.failures.push(String(error)));
      await client.close();
    });
    await reloadAll(daemon.url, areas, rounds, seen).finally(() => {
      over = true;
    });
    await Promise.all(loops);
  } finally {
    await daemon.stop();
    await provider.stop();
    await home.remove();
  }
  const isClean = seen.failures.length === 0 && seen.cuts.length === 0 && seen.reloads > 0;
  const row = {
    what: 'reload of an area under load',
    value: `${seen.failures.length} failed, ${seen.cuts.length} cut`,
    target: '0 failed requests, 0 cut streams',
    met: isClean,
    method: `${seen.reloads} reloads, each area ${rounds} times, beside ${seen.requests} messages and ${seen.streams} streams`,
  };
  return { rows: [row], raw: seen };
};
