/** What can be built: the daemon, the command line, each extension, and the tests of each package. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fromRoot, inRoot } from './paths.mjs';

const foldersIn = (dir) =>
  existsSync(dir)
    ? readdirSync(dir, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        .map((entry) => entry.name)
        .sort()
    : [];

/** More than half of the daemon's text: the client of fetch, what migrations are written with, patterns of others, file types. A start needs none of it. */
const NOT_FOR_A_START = ['knex', 'mime-db', 'npm-pick-manifest', 'npm-registry-fetch', 're2js', 'tar-stream', 'undici'];

/** Commands of areas that are written by hand: each file of `cli`, beside what they use in folders. */
const areaCommands = () =>
  foldersIn(inRoot('extensions')).flatMap((folder) =>
    existsSync(inRoot('extensions', folder, 'cli'))
      ? readdirSync(inRoot('extensions', folder, 'cli'))
          .filter((file) => file.endsWith('.ts'))
          .sort()
          .map((file) => `extensions/${folder}/cli/${file}`)
      : [],
  );

const programs = () => [
  { name: 'daemon', kind: 'program', entry: 'kernel/daemon/src/main.ts', whole: 'kernel/daemon/src/program.ts', apart: NOT_FOR_A_START, outdir: 'dist/daemon' },
  { name: 'isolation', kind: 'program', entry: 'kernel/isolation/src/child/program.ts', isSingle: true, outdir: 'dist/isolation' },
  { name: 'cli', kind: 'program', entry: 'kernel/cli/src/main.ts', alone: ['kernel/cli/src/quick.ts'], entries: areaCommands(), outdir: 'dist/cli' },
];

const extension = (folder, room = 'extensions') => {
  const dir = `${room}/${folder}`;
  return { name: `ext:${folder}`, kind: 'extension', id: folder, dir, entry: `${dir}/src/index.ts`, outdir: `dist/ext/${folder}` };
};

/** Areas that tests install: built with them, and never part of a release. */
export const fixtureTargets = () => foldersIn(inRoot('fixtures/areas')).map((folder) => ({ ...extension(folder, 'fixtures/areas'), name: `fixture:${folder}`, outdir: `dist/fixtures/${folder}` }));

/** Targets that run, and a note for each that is not there yet. */
export const runtimeTargets = () => {
  const notes = [];
  const absent = [];
  const targets = [];
  for (const program of programs()) {
    if (existsSync(inRoot(program.entry))) targets.push(program);
    else notes.push(`${program.name}: ${program.entry} is not there`);
  }
  for (const folder of foldersIn(inRoot('extensions'))) {
    const target = extension(folder);
    const missing = [`${target.dir}/extension.json`, target.entry].find((file) => !existsSync(inRoot(file)));
    if (missing) absent.push(folder);
    else targets.push(target);
  }
  if (absent.length) notes.push(`${absent.join(', ')}: without extension.json or src/index.ts`);
  return { targets, notes };
};

/** `*.test.ts` holds claims; `*.program.ts` is a process that a test starts. */
const isTestEntry = (name) => name.endsWith('.test.ts') || name.endsWith('.program.ts');

const testFiles = (dir) =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && isTestEntry(entry.name) && !entry.parentPath.includes('node_modules'))
        .map((entry) => fromRoot(path.join(entry.parentPath, entry.name)))
        .sort()
    : [];

/** Tests are bundled per package, so that a file somebody is editing elsewhere does not stop yours. */
const testGroup = (group, entries) => ({ name: `test:${group}`, kind: 'test', group, entries, outdir: 'dist/test' });

export const testTargets = () => {
  const groups = [];
  for (const room of ['kernel', 'extensions']) {
    for (const folder of foldersIn(inRoot(room))) groups.push(testGroup(`${room}/${folder}`, testFiles(inRoot(room, folder, 'test'))));
  }
  groups.push(testGroup('tools', testFiles(inRoot('tools/test'))));
  const across = testFiles(inRoot('test'));
  const folders = [...new Set(across.map((file) => path.posix.dirname(file).split('/').slice(0, 2).join('/')))];
  for (const folder of folders)
    groups.push(
      testGroup(
        folder,
        across.filter((file) => path.posix.dirname(file).split('/').slice(0, 2).join('/') === folder),
      ),
    );
  return groups.filter((group) => group.entries.length > 0);
};

/** `core`, `kernel/core` and `conformance` all name the tests they look like. */
export const matchesArea = (group, area) => group === area || group.endsWith(`/${area}`) || group.startsWith(`${area}/`);

/** Every extension folder has the name of its id; what the manifest says is read here, checked in manifest-check.mjs. */
export const readManifest = (target) => JSON.parse(readFileSync(inRoot(target.dir, 'extension.json'), 'utf8'));
