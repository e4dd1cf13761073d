/**
 * The files of a folder that count: those that no ignore file names, folder by folder, the upper ones first.
 * Links are not followed, wherever they lead. What is looked at has an end.
 */
import { type Dir, isSvcError, type Workers } from '@svc/api';
import { SiftEntries, type SiftInput } from '../workers/search-workers.js';

export interface WalkLimits {
  /** Entries of folders. */
  readonly maxEntries: number;
  readonly maxFiles: number;
}

export const WALK_LIMITS: WalkLimits = { maxEntries: 100_000, maxFiles: 20_000 };

/** The later one says more. */
const RULE_FILES = ['.gitignore', '.ignore'];
const MAX_RULE_BYTES = 64 * 1024;
const MAX_RULE_FILES = 500;
/** Folders that are listed at the same time. */
const AT_ONCE = 8;
/** Entries that are sifted in one go. */
const BATCH = 5_000;

export interface Walked {
  readonly files: readonly string[];
  /** Set where there were more than are looked at. */
  readonly isCut: boolean;
}

type Listed = SiftInput['folders'][number];

interface Folder {
  /** With a slash at the end; '' is the workspace. */
  readonly folder: string;
  readonly rules: readonly number[];
}

interface Walk {
  readonly dir: Pick<Dir, 'list' | 'read'>;
  readonly workers: Workers;
  readonly signal: AbortSignal;
  readonly glob: string | null;
  readonly rules: Array<{ readonly folder: string; readonly text: string }>;
  left: number;
}

/** `folder` as `pathIn` gives it: '.' is the workspace. */
export const walk = async (deps: Pick<Walk, 'dir' | 'workers' | 'signal' | 'glob'>, folder: string, { maxEntries, maxFiles }: WalkLimits = WALK_LIMITS): Promise<Walked> => {
  const state: Walk = { ...deps, rules: [], left: maxEntries };
  const files: string[] = [];
  let level: Folder[] = [await startOf(state, folder)];
  while (level.length > 0 && files.length < maxFiles && state.left > 0) {
    const below: Folder[] = [];
    while (level.length > 0 && files.length < maxFiles && state.left > 0) {
      const listed = await listSome(state, level);
      const sifted = await state.workers.run(SiftEntries, { rules: state.rules, folders: listed, glob: state.glob }, { signal: state.signal });
      files.push(...sifted.files);
      below.push(...sifted.folders);
    }
    if (level.length > 0) return { files: files.slice(0, maxFiles), isCut: true };
    level = below;
  }
  return { files: files.slice(0, maxFiles), isCut: level.length > 0 || files.length > maxFiles || state.left <= 0 };
};

/** What the folders above say holds below as well. */
const startOf = async (state: Walk, folder: string): Promise<Folder> => {
  const parts = folder === '.' ? [] : folder.split('/').filter((part) => part !== '');
  let rules: readonly number[] = [];
  for (let depth = 0; depth < parts.length; depth++) {
    const above = parts
      .slice(0, depth)
      .map((part) => `${part}/`)
      .join('');
    const { entries: names } = await namesIn(state, above, MAX_RULE_FILES);
    rules = await withRulesOf(
      state,
      { folder: above, rules },
      names.map(({ name }) => name),
    );
  }
  return { folder: parts.map((part) => `${part}/`).join(''), rules };
};

/** Takes folders from the front of the level, as many as one sifting takes. */
const listSome = async (state: Walk, level: Folder[]): Promise<Listed[]> => {
  const listed: Listed[] = [];
  let entries = 0;
  while (level.length > 0 && entries < BATCH && state.left > 0) {
    state.signal.throwIfAborted();
    const some = await Promise.all(level.splice(0, AT_ONCE).map((one) => listOne(state, one)));
    for (const one of some) {
      entries += one.files.length + one.folders.length;
      listed.push(one);
    }
  }
  return listed;
};

const listOne = async (state: Walk, { folder, rules }: Folder): Promise<Listed> => {
  const { entries } = await namesIn(state, folder, Math.max(1, state.left));
  state.left -= entries.length;
  const named = (kind: 'file' | 'dir'): string[] => entries.filter((entry) => entry.kind === kind).map(({ name }) => name);
  const files = named('file');
  return { folder, rules: [...(await withRulesOf(state, { folder, rules }, files))], files, folders: named('dir').filter((name) => name !== '.git') };
};

/** A folder that went meanwhile, or may not be read, holds nothing. */
const namesIn = async ({ dir }: Walk, folder: string, limit: number): Promise<{ entries: Awaited<ReturnType<Dir['list']>> }> => {
  try {
    return { entries: await dir.list(folder, { limit }) };
  } catch (error) {
    if (isSvcError(error)) return { entries: [] };
    throw error;
  }
};

const withRulesOf = async (state: Walk, { folder, rules }: Folder, names: readonly string[]): Promise<readonly number[]> => {
  const found = [...rules];
  for (const name of RULE_FILES) {
    if (!names.includes(name) || state.rules.length >= MAX_RULE_FILES) continue;
    const text = await ruleText(state, `${folder}${name}`);
    if (text === undefined) continue;
    state.rules.push({ folder, text });
    found.push(state.rules.length - 1);
  }
  return found;
};

/** One that is too long, or gone, says nothing. */
const ruleText = async ({ dir }: Walk, path: string): Promise<string | undefined> => {
  try {
    return new TextDecoder().decode(await dir.read(path, { maxBytes: MAX_RULE_BYTES }));
  } catch (error) {
    if (isSvcError(error)) return undefined;
    throw error;
  }
};
