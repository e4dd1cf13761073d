#!/usr/bin/env node
/** `npm run doctor`: checks whether this machine and checkout can build, test and run? One line each, worst news in the exit code. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { inRoot, ROOT } from './build/paths.mjs';
import { missingTools } from './preflight.mjs';
import { nodeProblem, platformProblem } from './requirements.mjs';

const PORT = 4545;
const COMMAND_LIMIT_MS = 20_000;
/** In the order of test/page/browser.ts. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

const pass = (what, said) => ({ state: 'pass', what, said });
const warn = (what, said) => ({ state: 'warn', what, said });
const fail = (what, said) => ({ state: 'fail', what, said });

/** What a command prints, or undefined when there is no such command. */
const answerOf = (command, ...args) => {
  try {
    return execFileSync(command, args, { encoding: 'utf8', timeout: COMMAND_LIMIT_MS, stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  } catch (error) {
    if (error.code === 'ENOENT' || typeof error.status === 'number') return undefined;
    throw error;
  }
};

const checkNode = () => {
  const trouble = platformProblem() ?? nodeProblem();
  return trouble ? fail('Node.js', trouble) : pass('Node.js', process.version);
};

const checkNpm = () => {
  const version = answerOf('npm', '--version')?.split('\n').at(-1);
  if (!version) return fail('npm', 'not found; it comes with Node.js');
  return Number.parseInt(version, 10) >= 10 ? pass('npm', version) : warn('npm', `${version} is old; 10 or newer is tried here: npm install -g npm`);
};

const checkPackages = () => {
  if (!existsSync(inRoot('node_modules/.package-lock.json'))) return fail('packages', 'not installed; run: npm ci');
  const { packages } = JSON.parse(readFileSync(inRoot('package-lock.json'), 'utf8'));
  const isHere = ([place, entry]) => !place.startsWith('node_modules/') || entry.optional || entry.link || existsSync(inRoot(place, 'package.json'));
  const missing = Object.entries(packages).filter((item) => !isHere(item));
  return missing.length ? fail('packages', `${missing.length} are missing, the first is ${missing[0][0].replace('node_modules/', '')}; run: npm ci`) : pass('packages', 'all installed');
};

const checkSqlite = () => {
  if (answerOf(process.execPath, '-e', "require('sqlite3')") !== undefined && existsSync(inRoot('node_modules/sqlite3'))) return pass('sqlite3', 'loads');
  const missing = missingTools();
  return missing.length ? fail('sqlite3', `does not load, and ${missing.join(', ')} to compile it with is missing`) : fail('sqlite3', 'does not load; compile it with: npm run postinstall');
};

const checkChromium = () => {
  const found = CHROMIUM.find((file) => existsSync(file));
  return found ? pass('chromium', found) : warn('chromium', 'not found; the tests of the web page are skipped (Debian: apt-get install chromium-headless-shell)');
};

const checkPort = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(warn(`port ${PORT}`, error.code === 'EADDRINUSE' ? 'taken; a daemon may be running already' : error.message)));
    server.listen(PORT, '127.0.0.1', () => server.close(() => resolve(pass(`port ${PORT}`, 'free'))));
  });

const checkBuild = async () => {
  try {
    const { staleTargets } = await import('./build/index.mjs');
    const stale = staleTargets();
    if (stale.length === 0) return pass('dist', 'fresh');
    return warn('dist', `${stale.length} ${stale.length === 1 ? 'target is' : 'targets are'} stale; \`npm start\` and \`npm test\` build them`);
  } catch (error) {
    return fail('dist', error.message);
  }
};

const checkGit = () => (answerOf('git', '--version') ? pass('git', answerOf('git', '--version').replace('git version ', '')) : warn('git', 'not found; commits and some tests need it'));

process.chdir(ROOT);
const rows = [checkNode(), checkNpm(), checkPackages(), checkSqlite(), checkChromium(), checkGit(), await checkPort(), await checkBuild()];
const width = Math.max(...rows.map((row) => row.what.length));
for (const { state, what, said } of rows) console.log(`${state}  ${what.padEnd(width)}  ${said}`);
process.exitCode = rows.some((row) => row.state === 'fail') ? 1 : 0;
