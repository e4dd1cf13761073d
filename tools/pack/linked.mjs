/**
 * The packages as folders that an extension outside links: `dist/packages/node_modules/@svc/NAME`. What they need of npm, they
 * find in this checkout's node_modules, compiled parts included, so nothing is fetched.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inRoot } from '../build/paths.mjs';
import { FOLDERS, fill, PACKAGES } from './packages.mjs';

const STAMP = path.join(FOLDERS, '.stamp');
/** What the build does not record: the packages bundle these themselves. */
const SOURCES = [...['api', 'client', 'testing'].flatMap((name) => [`kernel/${name}/src`, `kernel/${name}/package.json`]), 'tools/pack'];

/** Fills the folders where they are not what the sources say. Resolves with the folder that contains them. */
export const fillLinked = async () => {
  const stamp = stampOfSources();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return FOLDERS;
  const draft = inRoot(`dist/packages/node_modules/.svc-${process.pid}`);
  try {
    for (const name of Object.keys(PACKAGES)) await fill(name, path.join(draft, name));
    writeFileSync(path.join(draft, '.stamp'), stamp);
    mkdirSync(path.dirname(FOLDERS), { recursive: true });
    rmSync(FOLDERS, { recursive: true, force: true });
    renameSync(draft, FOLDERS);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return FOLDERS;
};

const stampOfSources = () => {
  const hash = createHash('sha256').update(readFileSync(inRoot('dist/release.json')));
  for (const file of ['dist/.build.json', ...SOURCES.flatMap(filesOf)]) {
    const { mtimeMs, size } = statSync(inRoot(file));
    hash.update(`\n${file} ${mtimeMs} ${size}`);
  }
  return hash.digest('hex');
};

const filesOf = (place) => {
  if (statSync(inRoot(place)).isFile()) return [place];
  const entries = readdirSync(inRoot(place), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(inRoot(), path.join(entry.parentPath, entry.name)))
    .sort();
};
