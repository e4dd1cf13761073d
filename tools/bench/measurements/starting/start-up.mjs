/**
 * From the start of the process to ready, and to the first answer, beside `node -e 0`: in turn, so that both meet the
 * same machine. By every adapter that people use, and the very first start, of which nothing is compiled or stored yet.
 */
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DIST, ROOT, inRoot } from '../../../build/paths.mjs';
import { makeAgents, makeHome, say, startByEntryPoint, startDaemon, startProvider } from '../../daemon.mjs';
import { milliseconds } from '../../figures.mjs';
import { timeOfNode } from '../../processes.mjs';
import { ratioRow } from '../../ratios.mjs';

/** Runs in the journal that the recovery scan has to look through. */
const EARLIER_MESSAGES = 20;
/** What was compiled is kept three seconds after a start. */
const COMPILED_KEPT_MS = 4_000;
const READY_LIMIT = 3;
const ANSWERED_LIMIT = 4.5;
const GONE_POLL_MS = 20;
/** Of dist/, what no release holds. */
const NOT_RELEASED = ['compiled', 'test', 'bench', 'mutation'].map((name) => path.join(DIST, name));

const NPM = [process.env.npm_execpath, path.join(path.dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js')].find((file) => file?.endsWith('npm-cli.js') && existsSync(file));
const CLI = inRoot('kernel/cli/bin/svc.mjs');
const ADAPTERS = { 'npm start': [NPM, 'start'], 'svc start': [CLI, 'start'], 'svc start --foreground': [CLI, 'start', '--foreground'] };
const quiet = { npm_config_loglevel: 'silent', npm_config_update_notifier: 'false' };

const startOnce = async (home, agent) => {
  const daemon = await startDaemon(home);
  try {
    await say(daemon.url, agent, 'Hello.');
    return { ready: daemon.readyMs, answered: performance.now() - daemon.begun };
  } finally {
    await daemon.stop();
  }
};

const isAlive = (pid) => existsSync(`/proc/${pid}`);

/** The process that was started may be another than the daemon: that one has written down who it is. */
const readyByEntryPoint = async (home, args) => {
  const started = await startByEntryPoint({ ...home, env: { ...home.env, ...quiet } }, args, ROOT);
  const { pid } = JSON.parse(await readFile(path.join(home.home, 'daemon.json'), 'utf8'));
  // `svc start` has more to say once the daemon is ready.
  if (args.at(-1) === 'start' && args[0] === CLI) await started.ended;
  process.kill(pid, 'SIGTERM');
  while (isAlive(pid)) await sleep(GONE_POLL_MS);
  await started.ended;
  return started.readyMs;
};

/** A checkout that was just built: its dist/ without compiled code, and a home in which nothing is. */
const firstStart = async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'svc-bench-first-'));
  const home = await makeHome();
  try {
    await cp(DIST, path.join(dir, 'dist'), { recursive: true, filter: (source) => !NOT_RELEASED.includes(source) });
    await symlink(inRoot('node_modules'), path.join(dir, 'node_modules'));
    const daemon = await startDaemon(home, { dist: path.join(dir, 'dist') });
    await daemon.stop();
    return daemon.readyMs;
  } finally {
    await home.remove();
    await rm(dir, { recursive: true, force: true });
  }
};

/** A home with an agent and some runs in it. Resolves with the agent. */
const furnish = async (home) => {
  const daemon = await startDaemon(home);
  try {
    const [agent] = await makeAgents(daemon.url, 1);
    for (let n = 0; n < EARLIER_MESSAGES; n += 1) await say(daemon.url, agent, 'Hello.');
    await sleep(COMPILED_KEPT_MS);
    return agent;
  } finally {
    await daemon.stop();
  }
};

/** A package whose `npm start` does nothing: what npm itself takes. */
const makeEmptyPackage = async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'svc-bench-npm-'));
  await writeFile(path.join(dir, 'package.json'), JSON.stringify({ name: 'nothing', version: '1.0.0', private: true, scripts: { start: 'node -e 0' } }));
  return dir;
};

const gather = async (home, agent, emptyPackage, rounds) => {
  const raw = { node: [], ready: [], answered: [], first: [], npm: [], entryPoints: Object.fromEntries(Object.keys(ADAPTERS).map((entryPoint) => [entryPoint, []])) };
  for (let round = 0; round < rounds; round += 1) {
    raw.node.push(await timeOfNode(['-e', '0']));
    const { ready, answered } = await startOnce(home, agent);
    raw.ready.push(ready);
    raw.answered.push(answered);
    raw.npm.push(await timeOfNode([NPM, 'start'], { env: quiet, cwd: emptyPackage }));
    for (const [entryPoint, args] of Object.entries(ADAPTERS)) raw.entryPoints[entryPoint].push(await readyByEntryPoint(home, args));
    raw.first.push(await firstStart());
  }
  return raw;
};

const rowsOf = (raw, rounds) => {
  const method = `median of ${rounds} starts, each beside one \`node -e 0\``;
  const row = (what, product, limit, more = '') => ratioRow({ what, product, floor: raw.node, show: milliseconds, better: 'lower', limit, method: method + more });
  const npmOwn = raw.npm.map((ms, round) => ms - raw.node[round]);
  const withoutNpm = raw.entryPoints['npm start'].map((ms, round) => ms - npmOwn[round]);
  return [
    row('process start to /api/ready 200', raw.ready, READY_LIMIT),
    row('process start to first answered message', raw.answered, ANSWERED_LIMIT),
    row('first start of a fresh build, empty home, to ready', raw.first, READY_LIMIT, '; dist/ without compiled code'),
    row('`svc start` to ready', raw.entryPoints['svc start'], READY_LIMIT),
    row('`svc start --foreground` to ready', raw.entryPoints['svc start --foreground'], READY_LIMIT),
    row("`npm start` to ready, without npm's own share", withoutNpm, READY_LIMIT, '; less what npm takes for a script that is `node -e 0`'),
    row("npm's own share of `npm start`", npmOwn, undefined, '; `npm start` of a package whose script is `node -e 0`, less that'),
    row('`npm start` to ready, all of it', raw.entryPoints['npm start'], undefined),
  ];
};

export const run = async ({ isQuick }) => {
  const rounds = isQuick ? 5 : 11;
  if (NPM === undefined) throw new Error('npm is not where Node is, and npm_execpath does not say where; run it as `npm run bench`');
  const provider = await startProvider();
  const home = await makeHome(provider.url);
  const emptyPackage = await makeEmptyPackage();
  try {
    const agent = await furnish(home);
    const raw = await gather(home, agent, emptyPackage, rounds);
    return { rows: rowsOf(raw, rounds), raw };
  } finally {
    await provider.stop();
    await home.remove();
    await rm(emptyPackage, { recursive: true, force: true });
  }
};
