#!/usr/bin/env node
/**
 * `npm run dev`: runs the daemon, watches the sources, rebuilds what changed.
 *
 * A changed extension is reloaded in the running daemon, with new routes, tools and settings; a change in the
 * kernel restarts it. Type errors are told as they come and go.
 * Node's own flags go through: `npm run dev -- --inspect` opens the debugger, with source maps.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { watch } from 'chokidar';
import { build } from './build/index.mjs';
import { inRoot, ROOT } from './build/paths.mjs';
import { reportBuild } from './build/report.mjs';
import { runTypes } from './checks/outside-tools.mjs';

/** An editor writes a file in several steps: what changes within this time is one change. */
const SETTLE_MS = 80;
/** How long the daemon may take to end its work before a restart forces it. */
const STOP_MS = 15_000;

const args = process.argv.slice(2);
const nodeFlags = args.filter((arg) => arg.startsWith('--inspect'));
const daemonArgs = args.filter((arg) => !nodeFlags.includes(arg));
let daemon;
/** Extensions of the build that the running daemon started with. */
let known = new Set();

const shippedExtensions = () => new Set(JSON.parse(readFileSync(inRoot('dist/release.json'), 'utf8')).extensions.map(({ id }) => id));

const startDaemon = () => {
  known = shippedExtensions();
  daemon = spawn(process.execPath, ['--enable-source-maps', ...nodeFlags, inRoot('tools/start.mjs'), ...daemonArgs], { cwd: ROOT, stdio: 'inherit' });
};

const stopDaemon = () =>
  new Promise((resolve) => {
    if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return resolve();
    const timer = setTimeout(() => daemon.kill('SIGKILL'), STOP_MS);
    daemon.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    daemon.kill('SIGTERM');
  });

const reload = (id) =>
  new Promise((resolve) => {
    spawn(process.execPath, [inRoot('dist/cli/main.js'), 'ext', 'reload', id], { cwd: ROOT, stdio: 'inherit' }).once('exit', resolve);
  });

/** Types are validated beside the running daemon: an error is told, and stops nothing. */
let checking = false;
let isCheckWanted = false;
const checkTypes = async () => {
  isCheckWanted = true;
  if (checking) return;
  checking = true;
  while (isCheckWanted) {
    isCheckWanted = false;
    // A file of the kernel is part of both projects, and so are its errors.
    const found = await Promise.all(['kernel', 'extensions'].map(runTypes));
    reportTypes(new Set(found.flat().map(({ file, line, rule, message }) => `${file}:${line} ${rule} ${message}`)));
  }
  checking = false;
};

let lastTypes = new Set();
const reportTypes = (lines) => {
  for (const line of lines) if (!lastTypes.has(line)) console.log(`types: ${line}`);
  if (lines.size === 0 && lastTypes.size > 0) console.log('types: all hold again');
  lastTypes = lines;
};

/** One change at a time: what comes meanwhile is looked at once, afterwards. */
const apply = async () => {
  const result = await build();
  void checkTypes();
  if (result.built.length === 0 && result.failures.length === 0) return;
  reportBuild({ ...result, notes: [] });
  const good = result.built.filter((name) => !result.failures.some((failure) => failure.target === name));
  const changedExtensions = good.filter((target) => target.startsWith('ext:')).map((target) => target.slice('ext:'.length));
  // What the running daemon has never heard of, it finds at a start.
  if (good.includes('daemon') || changedExtensions.some((id) => !known.has(id))) {
    await stopDaemon();
    startDaemon();
  } else {
    for (const id of changedExtensions) await reload(id);
  }
};

let timer;
let applying = Promise.resolve();
const changed = () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    applying = applying.then(apply).catch((error) => console.error(`build: ${error.message}`));
  }, SETTLE_MS);
};

reportBuild(await build());
startDaemon();
void checkTypes();
// Editors that write a new file and rename it over the old one are seen as one change.
const rooms = ['kernel', 'extensions', 'schemas'].map((room) => inRoot(room));
const watcher = watch(rooms, { ignoreInitial: true, atomic: SETTLE_MS, ignored: (file) => /[\\/](node_modules|dist)$|contributions\.json$|[~]$|\.sw[px]$/.test(file) });
watcher.on('all', changed);
watcher.on('error', (error) => console.error(`watch: ${error.message}`));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, async () => {
    await Promise.all([watcher.close(), stopDaemon()]);
    process.exit();
  });
