/**
 * What a command changed, found by a look at the folder before and after it.
 *
 * The last look is stored beside the repository; changes are lines of `svc/changes.jsonl`, each with the snapshot before its call.
 * What a call created is noted there, too: also what no snapshot holds.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LeftOutPath } from '../workers/operations.js';
import { exclusionOf, MAX_FILE_BYTES } from './place.js';
import { bytesOfLook, type Look } from './working-folder.js';

/** Paths of one command that are noted by name. */
const MAX_NOTED = 1_000;
const MAX_NOTES_BYTES = 4 * 1024 * 1024;

export interface Changes {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export const comparedLooks = (before: Look, after: Look): Changes => {
  const created: string[] = [];
  const changed: string[] = [];
  const removed: string[] = [];
  for (const path in after) {
    const earlier = before[path];
    if (earlier === undefined) created.push(path);
    else if (earlier !== after[path]) changed.push(path);
  }
  for (const path in before) if (after[path] === undefined) removed.push(path);
  return { created, changed, removed };
};

const ownFolder = (gitdir: string): string => join(gitdir, 'svc');
const lookFile = (gitdir: string): string => join(ownFolder(gitdir), 'look.json');
const notesFile = (gitdir: string): string => join(ownFolder(gitdir), 'changes.jsonl');

interface StoredLook {
  readonly command: string;
  readonly look: Look;
}

/** The newest one, or the one before this command, if it is that. */
export const lastLook = (gitdir: string, command?: string): Look | undefined => {
  const file = lookFile(gitdir);
  if (!existsSync(file)) return undefined;
  // Its own file, written whole.
  const stored = JSON.parse(readFileSync(file, 'utf8')) as StoredLook;
  // A file may be called `constructor`.
  return command === undefined || stored.command === command ? Object.setPrototypeOf(stored.look, null) : undefined;
};

export const storeLook = (gitdir: string, command: string, look: Look): void => {
  const file = lookFile(gitdir);
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.tmp`;
  writeFileSync(temporary, JSON.stringify({ command, look } satisfies StoredLook));
  renameSync(temporary, file);
};

interface Note {
  /** The snapshot before the command. */
  readonly commit: string;
  readonly tool: string;
  /** Files whose content of before is in no snapshot. */
  readonly lost: readonly LeftOutPath[];
  readonly lostMore: number;
  /** Files that were not there before. Left out by earlier builds. */
  readonly created?: readonly string[];
  readonly createdMore?: number;
}

interface Noted {
  readonly gitdir: string;
  readonly commit: string;
  readonly tool: string;
  /** Of a command. */
  readonly before: Look;
  readonly changes: Changes;
  isTracked(path: string): Promise<boolean>;
}

export const noteChanges = async ({ gitdir, commit, tool, before, changes, isTracked }: Noted): Promise<void> => {
  const lost: LeftOutPath[] = [];
  let more = 0;
  for (const path of [...changes.changed, ...changes.removed]) {
    if (await isTracked(path)) continue;
    if (lost.length >= MAX_NOTED) more += 1;
    else lost.push({ path, why: exclusionOf(path) ?? (bytesOfLook(before[path] ?? '0') > MAX_FILE_BYTES ? 'too_large' : 'not_tracked') });
  }
  const created = changes.created.slice(0, MAX_NOTED);
  if (lost.length + created.length === 0) return;
  const file = notesFile(gitdir);
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify({ commit, tool, lost, lostMore: more, created, createdMore: changes.created.length - created.length } satisfies Note)}\n`);
  if (statSync(file).size > MAX_NOTES_BYTES) dropOldest(file);
};

const dropOldest = (file: string): void => {
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(`${file}.tmp`, lines.slice(Math.floor(lines.length / 2)).join('\n'));
  renameSync(`${file}.tmp`, file);
};

/** What commands changed after any of these snapshots, and no snapshot holds. */
export const lostSince = (gitdir: string, commits: ReadonlySet<string>): { lost: LeftOutPath[]; more: number } => {
  const byPath = new Map<string, LeftOutPath>();
  let more = 0;
  for (const note of notesSince(gitdir, commits)) {
    for (const one of note.lost) byPath.set(one.path, one);
    more += note.lostMore;
  }
  return { lost: [...byPath.values()], more };
};

/** What calls created after any of these snapshots. */
export const createdSince = (gitdir: string, commits: ReadonlySet<string>): { created: string[]; more: number } => {
  const paths = new Set<string>();
  let more = 0;
  for (const { created = [], createdMore = 0 } of notesSince(gitdir, commits)) {
    for (const path of created) paths.add(path);
    more += createdMore;
  }
  return { created: [...paths], more };
};

const notesSince = (gitdir: string, commits: ReadonlySet<string>): Note[] => {
  const file = notesFile(gitdir);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => noteOf(line) ?? [])
    .filter(({ commit }) => commits.has(commit));
};

/** A line that a kill cut off is none. */
const noteOf = (line: string): Note | undefined => {
  try {
    return line === '' ? undefined : (JSON.parse(line) as Note);
  } catch {
    return undefined;
  }
};

/** What a crash left: temporary files of an earlier life of the daemon. */
export const sweepTemporary = (gitdir: string): void => {
  for (const folder of [gitdir, ownFolder(gitdir), ...objectFolders(gitdir)]) {
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder)) if (name.endsWith('.tmp')) rmSync(join(folder, name), { force: true });
  }
};

export const objectFolders = (gitdir: string): string[] => {
  const objects = join(gitdir, 'objects');
  return existsSync(objects)
    ? readdirSync(objects)
        .filter((name) => /^[0-9a-f]{2}$/.test(name))
        .map((name) => join(objects, name))
    : [];
};
