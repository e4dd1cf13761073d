/** Daemons that differ in one part, and what that part costs: windows of the same messages in turn, first one and then the other first. */
import { call, makeAgents, makeHome, startProvider } from './daemon.mjs';
import { inRoot } from '../build/paths.mjs';
import { loadWindow } from './load.mjs';
import { startNode } from './processes.mjs';

export const RELEASE_FILE = inRoot('dist/release.json');

/** `part` is one that programs/servers/composed-daemon.mjs can leave out. */
const startVariant = async ({ env }, { releaseFile = RELEASE_FILE, part = '' }) => {
  const child = startNode([inRoot('tools/bench/programs/servers/composed-daemon.mjs'), releaseFile, part], { env });
  return { url: `http://127.0.0.1:${await child.line()}`, pid: child.pid, stop: child.stop };
};

/** A daemon that has answered a message has all its parts. */
const furnish = async (home, variant, clients) => {
  const daemon = await startVariant(home, variant);
  const agents = await makeAgents(daemon.url, clients);
  await call(daemon.url, 'POST', `/api/agents/${agents[0]}/message`, { message: 'Are you there?' });
  return { daemon, paths: agents.map((id) => `/api/agents/${id}/message`) };
};

/**
 * Windows of two daemons that differ in one part: {whole, without, wholeOne, withoutOne}, the last two of one client alone.
 * `without` is {releaseFile?, part?}.
 */
export const compareVariants = async (without, { clients, windows, seconds, warmUpSeconds }) => {
  const provider = await startProvider();
  const homes = { whole: await makeHome(provider.url), without: await makeHome(provider.url) };
  const sides = {};
  try {
    sides.whole = await furnish(homes.whole, {}, clients);
    sides.without = await furnish(homes.without, without, clients);
    for (const { daemon, paths } of Object.values(sides)) await loadWindow(daemon, paths, warmUpSeconds);
    const seen = { whole: [], without: [], wholeOne: [], withoutOne: [] };
    for (let index = 0; index < windows; index += 1) {
      const order = index % 2 === 0 ? ['whole', 'without'] : ['without', 'whole'];
      for (const name of order) seen[name].push(await loadWindow(sides[name].daemon, sides[name].paths, seconds));
      for (const name of order) seen[`${name}One`].push(await loadWindow(sides[name].daemon, sides[name].paths.slice(0, 1), seconds / 2));
    }
    return seen;
  } finally {
    for (const { daemon } of Object.values(sides)) await daemon.stop();
    for (const home of Object.values(homes)) await home.remove();
    await provider.stop();
  }
};
