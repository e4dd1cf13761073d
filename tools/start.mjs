#!/usr/bin/env node
/** `npm start`: builds what is stale and runs the daemon in this process, in the foreground. */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { nodeProblem, platformProblem } from './requirements.mjs';

const root = new URL('../', import.meta.url);

const problem = () => platformProblem() ?? nodeProblem() ?? (existsSync(new URL('node_modules/esbuild', root)) ? undefined : 'The packages are not installed yet; run: npm ci');

/** True when the daemon can be started from dist/. */
const ensureBuilt = async () => {
  const { isStanding, keepStanding, lookAt } = await import('./build/standing.mjs');
  if (isStanding()) return true;
  const { build, recordedFiles, staleTargets } = await import('./build/index.mjs');
  const look = lookAt(recordedFiles());
  if (staleTargets().length === 0) {
    keepStanding(look);
    return true;
  }
  const { reportFailures, summary } = await import('./build/report.mjs');
  const { failures, built, ms } = await build();
  reportFailures(failures);
  const good = built.filter((name) => !failures.some((failure) => failure.target === name));
  if (good.length) console.log(`built ${summary(good)} in ${(ms / 1000).toFixed(1)} s`);
  // A broken extension stops only itself; without these two there is no daemon.
  return !failures.some((failure) => failure.target === 'daemon' || failure.target === 'release');
};

const start = async () => {
  const trouble = problem();
  if (trouble) {
    console.error(trouble);
    return 1;
  }
  // Node 22 keeps compiled code between starts; Node 20 has no such call.
  module.enableCompileCache?.();
  const main = new URL('dist/daemon/main.js', root);
  if (!(await ensureBuilt())) return 1;
  if (!existsSync(main)) {
    console.error('There is no daemon to start: dist/daemon/main.js was not built. Run `npm run build` to see why.');
    return 1;
  }
  const daemon = await import(main.href);
  await daemon.main(['--foreground', ...process.argv.slice(2)]);
  return undefined;
};

// The daemon sets its own exit code when it stops; only a refusal to start is decided here.
const refused = await start();
if (refused !== undefined) process.exitCode = refused;
