/**
 * Registries of plugins: a folder on the web with an index, or the contents API of a repository.
 *
 * Y1  None is preset. What is downloaded comes from the origin that config.toml names, and from no other one.
 * Y2  An index names the SHA-256 of each file, and each is compared. With `public_key` the index must be signed; without one it must come over https, or be of this machine.
 * Y3  A registry that does not answer has an `error` in the list, and the others are there.
 */
import { type Clock, type ExtensionContext, isSvcError, isTable } from '@svc/api';
import type { PluginRegistry } from '../config.js';
import { pluginErrors } from '../errors.js';
import { HOOKS, isInside, isPluginName, manifestOf } from '../manifest/manifest.js';
import { isSignedBy, sha256Of } from '../manifest/signing.js';
import { MANIFEST, MAX_FILES, parsedToml } from '../plugin-folder.js';
import { admit, type Files, MAX_DEPTH, MAX_FILE_BYTES } from './staging.js';

const MAX_INDEX_BYTES = 2 * 1024 * 1024;
const DEADLINE_MS = 20_000;
const FRESH_MS = 3_600_000;
const MAX_LISTED = 200;

export interface Offered {
  readonly name: string;
  readonly display_name: string;
  readonly version: string;
  readonly description: string;
  readonly author: string;
  readonly hooks: readonly string[];
}

interface Entry extends Offered {
  /** SHA-256 by path. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Listed {
  readonly registry: PluginRegistry;
  readonly plugins: readonly Offered[];
  readonly error: string | undefined;
}

export interface RegistryDeps {
  readonly fetch: ExtensionContext['fetch'];
  readonly egress: ExtensionContext['egress'];
  readonly clock: Clock;
  registries(): readonly PluginRegistry[];
}

export interface Registries {
  list(): Promise<readonly Listed[]>;
  /** Throws `plugins_no_registry`, `plugins_registry_failed`, `plugins_not_found`. */
  download(name: string, registry: string | undefined): Promise<{ readonly files: Files; readonly registry: string }>;
}

export const createRegistries = (deps: RegistryDeps): Registries => {
  const known = new Map<string, { readonly atMs: number; readonly plugins: readonly Offered[] }>();
  const listOne = async (registry: PluginRegistry): Promise<Listed> => {
    const before = known.get(registry.name);
    if (before && deps.clock.mono() - before.atMs < FRESH_MS) return { registry, plugins: before.plugins, error: undefined };
    try {
      const plugins = registry.url === undefined ? await contentsList(deps, registry) : await indexOf(deps, registry);
      const offered = plugins.map(({ name, display_name, version, description, author, hooks }) => ({ name, display_name, version, description, author, hooks }));
      known.set(registry.name, { atMs: deps.clock.mono(), plugins: offered });
      return { registry, plugins: offered, error: undefined };
    } catch (error) {
      return { registry, plugins: [], error: error instanceof Error ? error.message : String(error) };
    }
  };
  return {
    list: () => Promise.all(deps.registries().map(listOne)),
    download: async (name, wanted) => {
      const registry = deps.registries().find((one) => wanted === undefined || one.name === wanted || one.github_repo === wanted);
      if (!registry) throw pluginErrors.no_registry(wanted ?? '');
      return { registry: registry.name, files: registry.url === undefined ? await contentsFiles(deps, registry, name) : await indexFiles(deps, registry, name) };
    },
  };
};

const get = async ({ fetch, egress }: RegistryDeps, { name }: PluginRegistry, url: string, maxBytes: number): Promise<Uint8Array> => {
  const allowed = egress.allow(new URL(url).origin, 'server');
  try {
    const answer = await fetch(url, { purpose: 'server', timeoutMs: DEADLINE_MS, maxBytes, headers: { accept: 'application/json, */*' } });
    if (answer.status !== 200) {
      answer.cancel();
      throw pluginErrors.registry_failed(name, `${url} answered ${answer.status}.`);
    }
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of answer.body) {
      bytes += piece.length;
      if (bytes > maxBytes) throw pluginErrors.registry_failed(name, `${url} has more than ${maxBytes} bytes.`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } catch (error) {
    if (isSvcError(error) && error.code.startsWith('plugins_')) throw error;
    throw pluginErrors.registry_failed(name, `${url}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await allowed.dispose();
  }
};

const getJson = async (deps: RegistryDeps, registry: PluginRegistry, url: string): Promise<unknown> => {
  const bytes = await get(deps, registry, url, MAX_INDEX_BYTES);
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch {
    throw pluginErrors.registry_failed(registry.name, `${url} is no JSON.`);
  }
};

const isOwnMachine = (url: URL): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);

const indexOf = async (deps: RegistryDeps, registry: PluginRegistry): Promise<readonly Entry[]> => {
  const base = (registry.url ?? '').replace(/\/+$/, '');
  const url = new URL(base);
  if (registry.public_key === undefined && url.protocol !== 'https:' && !isOwnMachine(url))
    throw pluginErrors.registry_failed(registry.name, 'over plain http its index must be signed: set public_key.');
  const bytes = await get(deps, registry, `${base}/index.json`, MAX_INDEX_BYTES);
  if (registry.public_key !== undefined) {
    const signature = Buffer.from(await get(deps, registry, `${base}/index.json.sig`, 4_096))
      .toString('latin1')
      .trim();
    if (!isSignedBy(registry.public_key, bytes, signature)) throw pluginErrors.registry_failed(registry.name, 'index.json is not signed with its public_key.');
  }
  let index: unknown;
  try {
    index = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw pluginErrors.registry_failed(registry.name, 'index.json is no JSON.');
  }
  const plugins = isTable(index) && Array.isArray(index.plugins) ? index.plugins : [];
  return plugins.filter(isTable).flatMap((one) => {
    const name = textOf(one.name);
    const files = isTable(one.files) ? Object.fromEntries(Object.entries(one.files).flatMap(([path, sha]) => (typeof sha === 'string' && isInside(path) ? [[path, sha.toLowerCase()]] : []))) : {};
    if (!isPluginName(name)) return [];
    return [
      {
        name,
        display_name: textOf(one.display_name) || name,
        version: textOf(one.version),
        description: textOf(one.description),
        author: textOf(one.author),
        hooks: Array.isArray(one.hooks) ? one.hooks.map(String) : [],
        files,
      },
    ];
  });
};

const indexFiles = async (deps: RegistryDeps, registry: PluginRegistry, name: string): Promise<Files> => {
  const entry = (await indexOf(deps, registry)).find((one) => one.name === name);
  if (!entry) throw pluginErrors.not_found(name);
  const base = (registry.url ?? '').replace(/\/+$/, '');
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  for (const [path, sha] of Object.entries(entry.files)) {
    const data = await get(deps, registry, `${base}/${name}/${path.split('/').map(encodeURIComponent).join('/')}`, MAX_FILE_BYTES);
    if (sha256Of(data) !== sha) throw pluginErrors.registry_failed(registry.name, `${path} is not the file that its index names.`);
    bytes += data.length;
    admit(files, path, data.length, bytes);
    files.set(path, data);
  }
  return files;
};

const contentsUrl = (registry: PluginRegistry, path: string): string => {
  if (registry.github_repo === undefined || registry.api_url === undefined) throw pluginErrors.registry_failed(registry.name, 'it needs url, or github_repo with api_url.');
  return `${registry.api_url.replace(/\/+$/, '')}/repos/${registry.github_repo}/contents/${path.split('/').map(encodeURIComponent).join('/')}`;
};

interface Content {
  readonly name: string;
  readonly path: string;
  readonly type: string;
}

const contentsOf = async (deps: RegistryDeps, registry: PluginRegistry, path: string): Promise<Content[]> => {
  const listed = await getJson(deps, registry, contentsUrl(registry, path));
  return (Array.isArray(listed) ? listed : []).filter(isTable).map(({ name, path: at, type }) => ({ name: textOf(name), path: textOf(at), type: textOf(type) }));
};

const contentFile = async (deps: RegistryDeps, registry: PluginRegistry, path: string): Promise<Uint8Array> => {
  const file = await getJson(deps, registry, contentsUrl(registry, path));
  if (!isTable(file) || typeof file.content !== 'string' || file.encoding !== 'base64') throw pluginErrors.registry_failed(registry.name, `${path} has no content.`);
  return Buffer.from(file.content, 'base64');
};

const contentsList = async (deps: RegistryDeps, registry: PluginRegistry): Promise<readonly Offered[]> => {
  const folders = (await contentsOf(deps, registry, 'plugins')).filter(({ type, name }) => type === 'dir' && isPluginName(name)).slice(0, MAX_LISTED);
  return Promise.all(
    folders.map(async ({ name }) => {
      const manifest = manifestOf(await parsedToml(Buffer.from(await contentFile(deps, registry, `plugins/${name}/${MANIFEST}`)).toString('utf8')).catch(() => ({ name })));
      return {
        name,
        display_name: manifest.i18n.en?.name ?? name,
        version: manifest.version,
        description: manifest.description,
        author: manifest.author,
        hooks: HOOKS.filter((hook) => manifest.hooks[hook] !== undefined),
      };
    }),
  );
};

const contentsFiles = async (deps: RegistryDeps, registry: PluginRegistry, name: string): Promise<Files> => {
  const root = `plugins/${name}`;
  const files = new Map<string, Uint8Array>();
  const folders = [root];
  let bytes = 0;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const one of await contentsOf(deps, registry, folder)) {
      const path = `${folder}/${one.name}`;
      if (one.name.startsWith('.') || !isInside(path)) continue;
      if (one.type === 'dir') {
        if (folders.length > MAX_FILES || path.split('/').length > MAX_DEPTH) throw pluginErrors.bad_plugin('it has too many folders.');
        folders.push(path);
      } else if (one.type === 'file') {
        const data = await contentFile(deps, registry, path);
        bytes += data.length;
        const own = path.slice(root.length + 1);
        admit(files, own, data.length, bytes);
        files.set(own, data);
      } else throw pluginErrors.bad_plugin(`${path} is a link.`);
    }
  }
  return files;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
