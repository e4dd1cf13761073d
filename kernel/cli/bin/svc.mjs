#!/usr/bin/env node
/**
 * Starts the built CLI; builds it once when a fresh checkout has no dist yet.
 * Plain JavaScript, and old syntax only: it must be able to speak to a Node that is too old for the rest.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
const isNodeNewEnough = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;

const leave = (text) => {
  process.stderr.write(`${text}\n`);
  process.exit(1);
};

if (!isNodeNewEnough) leave(`svc needs Node 20.19 or newer (22.12 or newer on the 22 line); this is Node ${process.versions.node}.`);
if (process.platform === 'win32') leave('svc runs on Linux and macOS; on Windows run it inside WSL 2.');

const entry = new URL('../../../dist/cli/main.js', import.meta.url);
if (!existsSync(entry)) {
  const build = fileURLToPath(new URL('../../../tools/build.mjs', import.meta.url));
  process.stderr.write('svc: first run in this checkout, building (about a minute)…\n');
  const built = spawnSync(process.execPath, [build], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (built.status !== 0) leave('svc: the build failed, see above. Fix it, then run `npm run build`.');
}
await import(entry.href);
