/**
 * The folders of plugins: what is in them, and whether they are switched on.
 *
 * F1  A plugin is a folder with a plugin.toml. Its name is the folder's.
 * F2  A path that leaves the folder, also by a link, is refused.
 * F3  What svc puts there itself begins with a dot, and belongs to no digest and no export.
 */
import { type Dir, type DirEntry, isSvcError, isTable } from '@svc/api';
import { pluginErrors } from './errors.js';
import { isInside, isPluginName, type Manifest, manifestOf } from './manifest/manifest.js';
import { sha256Of } from './manifest/signing.js';

export const MANIFEST = 'plugin.toml';
/** What its hooks may write to. */
export const CACHE = '.cache';
const DISABLED = '.disabled';
const MAX_MANIFEST_BYTES = 262_144;
const MAX_PLUGINS = 200;
export const MAX_FILES = 500;
const MAX_SCRIPT_BYTES = 32 * 1024 * 1024;

export interface Plugin {
  readonly name: string;
  readonly dir: Dir;
  /** The text of plugin.toml. */
  readonly text: string;
  readonly manifest: Manifest;
  /** Why plugin.toml cannot be read; the manifest is empty then. */
  readonly fault: string | undefined;
  readonly enabled: boolean;
}

export interface PluginFolders {
  list(): Promise<readonly Plugin[]>;
  find(name: string): Promise<Plugin | undefined>;
  /** Throws `plugins_not_found`. */
  get(name: string): Promise<Plugin>;
  setEnabled(plugin: Plugin, enabled: boolean): Promise<void>;
  remove(name: string): Promise<void>;
  dirOf(name: string): Dir;
}

export const createPluginFolders = (root: Dir): PluginFolders => {
  const find = async (name: string): Promise<Plugin | undefined> => {
    if (!isPluginName(name) || (await root.stat(name))?.kind !== 'dir') return undefined;
    const dir = root.dir(name);
    if ((await dir.stat(MANIFEST)) === undefined) return undefined;
    const enabled = (await dir.stat(DISABLED)) === undefined;
    try {
      const text = await dir.readText(MANIFEST, { maxBytes: MAX_MANIFEST_BYTES });
      return { name, dir, text, manifest: manifestOf(await parsedToml(text)), fault: undefined, enabled };
    } catch (error) {
      return { name, dir, text: '', manifest: manifestOf({ name }), fault: reasonOf(error), enabled };
    }
  };
  return {
    find,
    get: async (name) => {
      const found = await find(name);
      if (!found) throw pluginErrors.not_found(name);
      return found;
    },
    list: async () => {
      const entries = await root.list('', { limit: MAX_PLUGINS });
      const all = await Promise.all(entries.filter(({ kind, name }) => kind === 'dir' && isPluginName(name)).map(({ name }) => find(name)));
      return all.filter((one) => one !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    setEnabled: async ({ dir }, enabled) => void (await (enabled ? dir.remove(DISABLED) : dir.write(DISABLED, 'svc plugins enable\n'))),
    remove: async (name) => void (await root.remove(name)),
    dirOf: (name) => root.dir(name),
  };
};

/** Rejects with what is wrong in the text. */
export const parsedToml = async (text: string): Promise<Record<string, unknown>> => {
  const { default: toml } = await import('@iarna/toml');
  const value: unknown = toml.parse(text);
  return isTable(value) ? value : {};
};

export const reasonOf = (error: unknown): string => (error instanceof Error ? (error.message.split('\n')[0] ?? 'it cannot be read') : 'it cannot be read');

/** Its own files and folders, by path. */
export const filesOf = async (dir: Dir): Promise<readonly DirEntry[]> => {
  const found: DirEntry[] = [];
  const folders = [''];
  for (let folder = folders.shift(); folder !== undefined && found.length <= MAX_FILES; folder = folders.shift()) {
    for (const entry of await dir.list(folder, { limit: MAX_FILES + 1 })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name.slice(entry.name.lastIndexOf('/') + 1)}`;
      const own = path.slice(path.lastIndexOf('/') + 1);
      if (own.startsWith('.') || own === 'node_modules') continue;
      found.push({ ...entry, name: path });
      if (entry.kind === 'dir') folders.push(path);
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
};

export const digestOf = async (dir: Dir): Promise<string> => {
  const lines: string[] = [];
  for (const { name, kind } of await filesOf(dir)) if (kind === 'file') lines.push(`${name}\0${sha256Of(await dir.read(name, { maxBytes: MAX_SCRIPT_BYTES }))}`);
  return sha256Of(lines.join('\n'));
};

export type ScriptFault = { readonly kind: 'PathTraversal' | 'ScriptNotFound' | 'IntegrityError'; readonly message: string };

/** Why a hook cannot run as it is; undefined where it can. */
export const scriptFault = async ({ dir, manifest }: Pick<Plugin, 'dir' | 'manifest'>, path: string): Promise<ScriptFault | undefined> => {
  if (!isInside(path)) return { kind: 'PathTraversal', message: `the path ${path} leaves the folder of the plugin` };
  const wanted = manifest.integrity?.[path];
  try {
    const info = await dir.stat(path);
    if (info === undefined) return { kind: 'ScriptNotFound', message: `there is no file ${path}` };
    if (info.kind !== 'file') return { kind: 'PathTraversal', message: `${path} is a link or no file` };
    if (manifest.integrity === undefined) return undefined;
    if (wanted === undefined) return { kind: 'IntegrityError', message: `[integrity] does not name ${path}` };
    return sha256Of(await dir.read(path, { maxBytes: MAX_SCRIPT_BYTES })) === wanted ? undefined : { kind: 'IntegrityError', message: `${path} was changed after it was signed` };
  } catch (error) {
    if (isSvcError(error)) return { kind: 'PathTraversal', message: `${path}: ${error.message}` };
    throw error;
  }
};
