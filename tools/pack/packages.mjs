/** What each package that others install is made of, and how it becomes a tarball. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { inRoot } from '../build/paths.mjs';
import { fillApi } from './api.mjs';
import { fillCli } from './cli.mjs';
import { fillClient } from './client.mjs';
import { fillTesting } from './testing.mjs';

const OUT = inRoot('dist/packages');
/** They find each other here, before the sources of the same names in this checkout's node_modules. */
export const FOLDERS = path.join(OUT, 'node_modules/@svc');
const run = promisify(execFile);

/** Fill a folder, and say what of package.json is the package's own. */
export const PACKAGES = { api: fillApi, client: fillClient, cli: fillCli, testing: fillTesting };

const ownFacts = (name) => {
  const { version, description, license } = JSON.parse(readFileSync(inRoot('kernel', name, 'package.json'), 'utf8'));
  return { name: `@svc/${name}`, version, description, license, engines: JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).engines };
};

/** Makes the folder of the package anew; resolves with where it is. */
export const fill = async (name, folder = path.join(FOLDERS, name)) => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const members = await PACKAGES[name](folder);
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify({ ...ownFacts(name), ...members }, null, 2)}\n`);
  const readme = ['README.npm.md', 'README.md'].map((file) => inRoot('kernel', name, file)).find((file) => existsSync(file));
  cpSync(readme, path.join(folder, 'README.md'));
  cpSync(inRoot('LICENSE'), path.join(folder, 'LICENSE'));
  return folder;
};

/** Resolves with the path of the tarball. */
export const pack = async (name) => {
  const folder = await fill(name);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', OUT], { cwd: folder });
  return path.join(OUT, Object.values(JSON.parse(stdout))[0].filename);
};
