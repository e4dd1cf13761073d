#!/usr/bin/env node
/**
 * The root's `postinstall`: makes sure that SQLite's native part is there, and says in one line what is missing.
 *
 * npm is told not to run sqlite3's own install script (`allowScripts` in package.json), because that would compile for
 * minutes before anything of ours may speak. Here the order is: right machine, prebuilt file, compiler at hand, compile.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, openSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { WriteStream } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { showProgress } from './build/progress.mjs';
import { nodeProblem, platformProblem } from './requirements.mjs';

const PREBUILT_LIMIT_MS = 60_000;
const COMPILE_LIMIT_MS = 30 * 60_000;
const TAIL_LINES = 15;
const MAX_OUTPUT_CHARS = 100_000;

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('../', import.meta.url));
const answers = (command) => spawnSync(command, ['--version'], { stdio: 'ignore', timeout: 20_000 }).status === 0;

/** Each tool by the names the compiler driver accepts; the first entry is the one people know. */
const TOOLCHAIN = {
  python3: [process.env.PYTHON, process.env.npm_config_python, 'python3', 'python'],
  make: [process.env.MAKE, 'make', 'gmake'],
  'a C++ compiler': [process.env.CXX, 'c++', 'g++', 'clang++'],
};

export const missingTools = (isThere = answers) => Object.keys(TOOLCHAIN).filter((tool) => !TOOLCHAIN[tool].some((name) => name && isThere(name)));

const toolchainProblem = () => {
  const missing = missingTools();
  if (missing.length === 0) return undefined;
  const install = process.platform === 'darwin' ? 'xcode-select --install' : 'sudo apt-get install python3 make g++ (Debian, Ubuntu) or sudo dnf install python3 make gcc-c++ (Fedora)';
  return `No prebuilt SQLite could be fetched for this machine, and ${new Intl.ListFormat('en').format(missing)} to compile it with ${missing.length > 1 ? 'are' : 'is'} missing. Run: ${install}; then npm ci again.`;
};

const loads = () => spawnSync(process.execPath, ['-e', "require('sqlite3')"], { cwd: root, stdio: 'ignore' }).status === 0;

/** Runs one of sqlite3's own build programs in its folder, and shows what is going on meanwhile. */
const inSqlite = (program, args, timeout, what) =>
  new Promise((resolve) => {
    const home = path.dirname(require.resolve('sqlite3/package.json'));
    const shown = showProgress(what, terminal());
    const child = spawn(process.execPath, [createRequire(path.join(home, 'package.json')).resolve(program), ...args], { cwd: home, timeout, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output = `${output}${text}`.slice(-MAX_OUTPUT_CHARS)));
    const end = (status) => {
      shown.end();
      resolve({ status, output });
    };
    child.on('error', () => end(1));
    child.on('close', end);
  });

/** npm shows nothing of what a script says: where there is a terminal, it is written there. */
const terminal = () => {
  try {
    const stream = new WriteStream(openSync('/dev/tty', 'w'));
    return { stream };
  } catch {
    return {};
  }
};

/** What a compiler needs of Node, in the order in which node-gyp looks for them. */
const HEADERS = ['include/node/node_api.h', 'include/node/common.gypi'];

/**
 * The folder that holds the headers of this very Node, where it was installed with them (from nodejs.org, a distribution's
 * packages, nvm). node-gyp would fetch them from nodejs.org instead. What a person set wins.
 */
export const headersFolder = (program = process.execPath, environment = process.env) => {
  const named = environment.npm_config_nodedir || environment.npm_package_config_node_gyp_nodedir;
  if (named) return named;
  const prefix = path.dirname(path.dirname(existsSync(program) ? realpathSync(program) : program));
  return HEADERS.every((file) => existsSync(path.join(prefix, file))) ? prefix : undefined;
};

const compile = async () => {
  const headers = headersFolder();
  const result = await inSqlite(
    'node-gyp/bin/node-gyp.js',
    ['rebuild', ...(headers === undefined ? [] : [`--nodedir=${headers}`])],
    COMPILE_LIMIT_MS,
    'No prebuilt SQLite was found for this machine: it is compiled once, in two to six minutes.',
  );
  if (result.status === 0 && loads()) return undefined;
  const tail = result.output.trim().split('\n').slice(-TAIL_LINES).join('\n');
  return `${tail}\nSQLite could not be compiled; the lines above say why. \`npm run doctor\` looks at the rest of this machine.`;
};

const prepare = async () => {
  const unfit = platformProblem() ?? nodeProblem();
  if (unfit || loads()) return unfit;
  const fetched = await inSqlite('prebuild-install/bin.js', ['-r', 'napi'], PREBUILT_LIMIT_MS, 'Downloading SQLite for this machine (up to a minute).');
  if (fetched.status === 0 && loads()) return undefined;
  return toolchainProblem() ?? compile();
};

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url) && existsSync(path.join(root, 'node_modules/sqlite3'))) {
  const problem = await prepare();
  if (problem) {
    console.error(problem);
    process.exitCode = 1;
  }
}
