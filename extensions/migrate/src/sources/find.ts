/** Where homes of other programs are, and whose a folder is. */
import type { Files, ForeignDir } from '@svc/api';
import { isSvcError } from '@svc/api';
import { migrateErrors } from '../errors.js';
import { isFile, isFolder, namesIn, reasonOf } from './files.js';
import { openHermes } from './hermes.js';
import { openLetta } from './letta.js';
import { openLibreFang } from './librefang.js';
import type { Source, SourceType } from './model.js';
import { openOpenClaw } from './openclaw.js';

/** `file`: one agent file, where not the whole folder is meant. */
const OPENERS: Readonly<Record<SourceType, (dir: ForeignDir, file?: string) => Promise<Source>>> = { openclaw: openOpenClaw, librefang: openLibreFang, letta: openLetta, hermes: openHermes };
const NAMES: ReadonlyMap<string, SourceType> = new Map<string, SourceType>(
  Object.entries({
    openclaw: 'openclaw',
    clawdbot: 'openclaw',
    moltbot: 'openclaw',
    librefang: 'librefang',
    openfang: 'librefang',
    opensvc: 'librefang',
    letta: 'letta',
    hermes: 'hermes',
  }),
);
const HOMES: ReadonlyArray<readonly [SourceType, readonly string[]]> = [
  ['openclaw', ['.openclaw', '.clawdbot', '.moltbot']],
  ['librefang', ['.librefang', '.openfang', '.opensvc']],
  ['letta', ['.letta']],
  ['hermes', ['.hermes']],
];
const PROFILE = /^\.(?:openclaw|clawdbot|moltbot)-[A-Za-z0-9._-]{1,64}$/;

export interface SourceFinder {
  /** Homes that are there. */
  homes(): Promise<Array<{ readonly type: SourceType; readonly path: string }>>;
  /** By the name of a program, or an absolute path. Throws what `migrate` refuses. */
  find(source: string, path?: string): Promise<{ readonly type: SourceType; readonly dir: ForeignDir; readonly path: string }>;
  open(type: SourceType, path: string): Promise<Source>;
}

export interface FinderDeps {
  readonly files: Pick<Files, 'foreign'>;
  userHome(): string | undefined;
  roots(): readonly string[];
}

export const createFinder = (deps: FinderDeps): SourceFinder => {
  const inHome = (path: string): string => (path === '~' || path.startsWith('~/') ? `${deps.userHome() ?? ''}${path.slice(1)}` : path);
  const allowed = async (): Promise<string[]> => {
    const home = deps.userHome();
    const usual = home === undefined ? [] : [...HOMES.flatMap(([, names]) => names), ...(await profilesIn(deps, home))].map((name) => `${home}/${name}`);
    return [...usual, ...deps.roots().map(inHome)];
  };
  const openDir = async (path: string): Promise<ForeignDir> => {
    try {
      return await deps.files.foreign(inHome(path), await allowed());
    } catch (error) {
      throw isSvcError(error) && error.code === 'file_outside_roots'
        ? migrateErrors.outside_roots(path)
        : isSvcError(error) && error.code.startsWith('file_')
          ? migrateErrors.unreadable(reasonOf(error))
          : error;
    }
  };
  const homes = async (): Promise<Array<{ type: SourceType; path: string }>> => {
    const found = new Map<string, SourceType>();
    for (const path of await allowed()) {
      const dir = await deps.files.foreign(path, [path]).catch(() => undefined);
      const type = dir && (await typeOf(dir));
      if (dir && type && !found.has(dir.path)) found.set(dir.path, type);
    }
    return [...found].map(([path, type]) => ({ type, path }));
  };
  return {
    homes,
    find: async (source, path) => {
      const isPath = source.startsWith('/') || source.startsWith('~');
      const wanted = isPath ? undefined : NAMES.get(source.toLowerCase());
      if (!isPath && wanted === undefined) throw migrateErrors.unknown_source(source);
      const place = path === undefined || path === '' ? (isPath ? source : (await homes()).find(({ type }) => type === wanted)?.path) : path;
      if (place === undefined) throw migrateErrors.no_home(source);
      const { folder, file } = partsOf(place);
      const dir = await openDir(folder);
      const type = file !== undefined && (await isFile(dir, file)) ? 'letta' : file === undefined ? await typeOf(dir) : undefined;
      if (type === undefined || (wanted !== undefined && wanted !== type)) throw migrateErrors.nothing_there(place);
      return { type, dir, path: file === undefined ? dir.path : `${dir.path}/${file}` };
    },
    open: async (type, path) => {
      const { folder, file } = partsOf(path);
      const dir = await openDir(folder);
      try {
        return await OPENERS[type](dir, file);
      } catch (error) {
        if (isSvcError(error) && (error.code.startsWith('migrate_') || error.code === 'file_changing')) throw error;
        throw migrateErrors.unreadable(reasonOf(error)).with({ cause: error });
      }
    },
  };
};

/** An agent file of Letta stands for itself, anything else is a folder. */
const partsOf = (path: string): { readonly folder: string; readonly file?: string } => {
  const [, folder, file] = /^(.+)\/([^/]+\.af)$/.exec(path) ?? [];
  return folder === undefined || file === undefined ? { folder: path } : { folder, file };
};

/** Folders such as `.openclaw-work`: the home itself is listed, nothing else of it is read. */
const profilesIn = async ({ files }: FinderDeps, home: string): Promise<string[]> => {
  const dir = await files.foreign(home, [home]).catch(() => undefined);
  return dir ? (await namesIn(dir, '', 'dir').catch((): string[] => [])).filter((name) => PROFILE.test(name)) : [];
};

/** By what only one of them has. */
export const typeOf = async (dir: ForeignDir): Promise<SourceType | undefined> => {
  for (const name of ['openclaw.json', 'clawdbot.json', 'moltbot.json']) if (await isFile(dir, name)) return 'openclaw';
  for (const name of ['data/librefang.db', 'data/openfang.db', 'librefang.db', 'openfang.db']) if (await isFile(dir, name)) return 'librefang';
  if (await isFile(dir, 'state.db')) return 'hermes';
  if ((await namesIn(dir, '', 'file')).some((name) => name.endsWith('.af'))) return 'letta';
  for (const agent of await namesIn(dir, 'agents', 'dir')) {
    if (await isFolder(dir, `agents/${agent}/memory/system`)) return 'letta';
    if (await isFile(dir, `agents/${agent}/agent.toml`)) return 'librefang';
    if ((await isFolder(dir, `agents/${agent}/sessions`)) || (await isFolder(dir, `agents/${agent}/agent`))) return 'openclaw';
  }
  if ((await isFile(dir, 'config.toml')) && ((await isFolder(dir, 'workspaces')) || (await isFolder(dir, 'agents')))) return 'librefang';
  return (await isFile(dir, 'config.yaml')) && (await isFile(dir, 'SOUL.md')) ? 'hermes' : undefined;
};
