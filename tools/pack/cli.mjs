/** @svc/cli: the command svc and the daemon that it starts, with the extensions that ship: what the build made, without its source maps. */
import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { readRecord, toolFingerprint } from '../build/freshness.mjs';
import { inRoot } from '../build/paths.mjs';
import { readManifest, runtimeTargets } from '../build/targets.mjs';
import { rangeOf, versionOf } from './dependencies.mjs';

/** What stands outside the bundles: native, or started as a file of its own. */
export const OUTSIDE = ['pg', 'piscina', 'sqlite3'];
const BIN = 'kernel/cli/bin/svc.mjs';

const builtFiles = (targets) => {
  const record = readRecord(toolFingerprint());
  return [...targets.flatMap(({ name }) => record.targets[name].outputs), 'dist/release.json', 'dist/commands.json', 'dist/ext/package.json'].filter((file) => !file.endsWith('.map'));
};

const copy = (file, folder) => {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  cpSync(inRoot(file), path.join(folder, file));
};

export const fillCli = async (folder) => {
  const { targets } = runtimeTargets();
  // The command finds the daemon where it stands here, so the places are the same.
  for (const file of [...builtFiles(targets), BIN]) copy(file, folder);
  const extensions = targets.filter(({ kind }) => kind === 'extension');
  const fromHost = extensions.flatMap((target) => (readManifest(target).hostDependencies ?? []).map((name) => [name, rangeOf(name, [target.dir])]));
  return {
    type: 'module',
    bin: { svc: `./${BIN}` },
    exports: { './dist/release.json': './dist/release.json', './package.json': './package.json' },
    files: ['dist', BIN],
    dependencies: Object.fromEntries([...OUTSIDE.map((name) => [name, rangeOf(name, ['kernel/platform'])]), ...fromHost, ['@svc/api', versionOf('api')]].sort()),
  };
};
