/**
 * Which files of an agent hold text from outside, so that a text that is written in one conversation and read in another is still known.
 *
 * W1  A file that a tool wrote has the labels of what was written: of addresses from outside in it, and of lines from outside.
 * W2  A command that may have fetched something, or read a labelled file, may have written any file: all that changed while it ran have its labels.
 * W3  A word of a command that only the shell can resolve (`p*.txt`, `$F`, `{a,b}`, `$(ls)`) means all labelled files, and so does a program that may read what it does not name.
 * W4  A folder that is read has the labels of all of its files.
 */
import { posix } from 'node:path';
import type { Db, Dir, TaintLabel } from '@svc/api';
import type { FileRow } from './contract.js';
import type { Source } from './policy/corpus.js';

export interface FileLabels {
  /** Of the file or folder; undefined where it holds nothing from outside. */
  of(agentId: string, path: string): Promise<Source | undefined>;
  /** The first of these words of a command that names such a file, or may. */
  among(agentId: string, words: readonly string[]): Promise<LabelledFile | undefined>;
  /** The first of these paths that is such a file. */
  first(agentId: string, paths: readonly string[]): Promise<LabelledFile | undefined>;
  /** All that the agent has. */
  all(agentId: string): Promise<Source | undefined>;
  wrote(file: { readonly agentId: string; readonly ownerId: string; readonly path: string }, source: Source | undefined): Promise<void>;
  /** A command ran, and may have written any file since then. */
  ran(agent: { readonly agentId: string; readonly ownerId: string }, time: { readonly since: string; readonly untilMs: number }, source: Source): Promise<void>;
}

export interface LabelledFile {
  readonly path: string;
  readonly source: Source;
}

interface FileDeps {
  readonly db: Db;
  readonly workspaces: Dir;
  readonly clock: { iso(): string; now(): number };
}

const MAX_ROWS = 2_000;
/** A command that names more may name any of them. */
const MAX_WORDS = 200;
const OUTSIDE = Symbol('no file of the workspace');
/** More times than this are put together to one. */
const MAX_TIMES = 200;
/** A disk may round times. */
const SLACK_MS = 1_000;
const MAX_PATH_CHARS = 1_000;

export const createFileLabels = ({ db, workspaces, clock }: FileDeps): FileLabels => {
  const rowsOf = (agentId: string): Promise<FileRow[]> => db.system('which files of an agent hold text from outside').select<FileRow>({ from: 'files', where: { agent_id: agentId }, limit: MAX_ROWS });
  const plain = (agentId: string, path: string): string => plainPath(workspaces.dir(agentId).path, path);
  const labelsOf = async (rows: readonly FileRow[], agentId: string, asked: string): Promise<Source | undefined> => {
    if (rows.length === 0) return undefined;
    const path = plain(agentId, asked);
    if (rows.length === MAX_ROWS) return union(rows.filter(isLabelled));
    const entry = path === '.' ? ({ kind: 'dir' } as const) : await workspaces.dir(agentId).stat(path);
    // One that a command has moved or deleted was there when it began.
    if (!entry) return union(rows.filter((row) => row.path === path && isLabelled(row)));
    if (entry.kind === 'dir') return union(rows.filter(isLabelled));
    const own = rows.find((row) => row.path === path);
    if (own && own.labels === '' && own.changed_until >= entry.changedAt) return undefined;
    // Under another name, through a link, it is the file that changed in that very millisecond.
    return union(rows.filter((row) => isLabelled(row) && (row.path === path || (row.changed_from <= entry.changedAt && entry.changedAt <= row.changed_until))));
  };
  return {
    of: async (agentId, path) => labelsOf(await rowsOf(agentId), agentId, path),
    among: async (agentId, words) => {
      const rows = await rowsOf(agentId);
      if (rows.length === 0) return undefined;
      const { path: workspace } = workspaces.dir(agentId);
      for (const [place, word] of words.entries()) {
        // What the shell makes of a pattern or a variable is not known here: it may be any of them.
        const path = isUnresolved(word) || place >= MAX_WORDS ? undefined : pathOf(workspace, word);
        if (path === OUTSIDE) continue;
        const source = path === undefined ? union(rows.filter(isLabelled)) : await labelsOf(rows, agentId, path);
        if (source) return { path: word, source };
      }
      return undefined;
    },
    first: async (agentId, paths) => {
      const rows = await rowsOf(agentId);
      for (const path of paths) {
        const source = await labelsOf(rows, agentId, path);
        if (source) return { path, source };
      }
      return undefined;
    },
    all: async (agentId) => union((await rowsOf(agentId)).filter(isLabelled)),
    wrote: async ({ agentId, ownerId, path: asked }, source) => {
      const path = plain(agentId, asked);
      // Where nothing is labelled there is nothing to take back.
      if (!source && (await rowsOf(agentId)).length === 0) return;
      const entry = await workspaces.dir(agentId).stat(path);
      const changed = entry?.changedAt ?? clock.iso();
      await db.commit([
        db.remove('files', { agent_id: agentId, path }),
        db.insert('files', [{ agent_id: agentId, owner_id: ownerId, path, changed_from: changed, changed_until: changed, labels: source?.labels.join(' ') ?? '', source: source?.name ?? '' }]),
      ]);
    },
    ran: async ({ agentId, ownerId }, { since, untilMs }, source) => {
      const row = {
        agent_id: agentId,
        owner_id: ownerId,
        path: '',
        changed_from: since,
        changed_until: new Date(untilMs + SLACK_MS).toISOString(),
        labels: source.labels.join(' '),
        source: source.name,
      };
      const times = (await rowsOf(agentId)).filter(({ path }) => path === '');
      if (times.length < MAX_TIMES) return void (await db.commit([db.upsert('files', ['agent_id', 'path', 'changed_from'], [row])]));
      const all = [...times, row];
      const ends = all.map((one) => one.changed_until).sort();
      const whole = {
        ...row,
        changed_from: all.map((one) => one.changed_from).sort()[0] ?? since,
        changed_until: ends.at(-1) ?? row.changed_until,
        labels: union(all)?.labels.join(' ') ?? row.labels,
      };
      await db.commit([db.remove('files', { agent_id: agentId, path: '' }), db.insert('files', [whole])]);
    },
  };
};

/** One name for one file: as tools take it, from the workspace or with the whole path. */
const plainPath = (workspace: string, path: string): string => posix.normalize(path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path).replace(/\/$/, '');

/** A word that the shell replaces: by names that fit, by a variable, by several words. */
const isUnresolved = (word: string): boolean => /[*?$`{~]|\[.+\]/.test(word);

/** Where a word of a command leads, from the workspace; undefined where nobody can say. */
const pathOf = (workspace: string, word: string): string | undefined | typeof OUTSIDE => {
  if (word === '' || word.startsWith('-') || word.includes('\0') || word.length > MAX_PATH_CHARS) return OUTSIDE;
  // By the process or the terminal that has it open.
  if (/^\/(?:proc|dev)\//.test(word)) return word.startsWith('/dev/') ? OUTSIDE : undefined;
  const whole = posix.resolve(workspace, word);
  if (whole === workspace) return '.';
  return whole.startsWith(`${workspace}/`) ? whole.slice(workspace.length + 1) : OUTSIDE;
};

const isLabelled = ({ labels }: FileRow): boolean => labels !== '';

// The column holds what this file wrote.
const sourceOfRow = ({ labels, source }: FileRow): Source => ({ labels: labels.split(' ') as TaintLabel[], name: source });

const union = (rows: readonly FileRow[]): Source | undefined => {
  const [first] = rows;
  if (!first) return undefined;
  return { labels: [...new Set(rows.flatMap((row) => sourceOfRow(row).labels))], name: first.source };
};
