/**
 * The fetched catalog as a file of this area: `catalog.json`, with the one before it as `catalog.previous.json`.
 *
 * U4  A file is there whole or not at all, and stands over restarts. One that cannot be read gives way to the previous one,
 *     and that to the shipped one; the start does not fail, and doctor tells.
 * U5  Of the kept and the shipped catalog the newer stands: a newer daemon is not held back by an old file.
 */
import { type Dir, isSvcError, type Logger, type Schemas } from '@svc/api';
import { type Catalog, compareVersions } from '../catalog.js';
import { validateCatalog } from './validate-catalog.js';

const FILE = 'catalog.json';
const PREVIOUS = 'catalog.previous.json';
const SYNC = 'sync.json';
/** What we write ourselves; more is damage. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** The last time that a host was asked and answered. */
export interface Sync {
  /** ISO. */
  readonly at: string;
  /** The version that it had. */
  readonly offered: string;
}

export interface Standing {
  readonly catalog: Catalog;
  readonly from: 'shipped' | 'fetched' | 'previous';
  /** When it was installed here; for the built-in one, when it was created. */
  readonly since: string;
  /** A file that is there and cannot be used. */
  readonly trouble: string | null;
}

export interface StoredCatalog {
  /** What is used now; read once, and again after `swap`. */
  standing(): Promise<Standing>;
  /** Puts this one in place of what stands; false where it is what was fetched before. The daemon's own model stays with it. */
  swap(catalog: Catalog): Promise<boolean>;
  lastSync(): Promise<Sync | undefined>;
  noteSync(sync: Sync): Promise<void>;
}

export interface StoredCatalogDeps {
  readonly data: Dir;
  readonly shipped: () => Promise<Catalog>;
  readonly schemas: Schemas;
  readonly log: Logger;
}

export const createStoredCatalog = (deps: StoredCatalogDeps): StoredCatalog => {
  let standing: Promise<Standing> | undefined;
  const now = (): Promise<Standing> => {
    const next = standing ?? stands(deps);
    standing = next;
    next.catch(() => {
      if (standing === next) standing = undefined;
    });
    return next;
  };
  return {
    standing: now,
    swap: async (catalog) => {
      const before = await now();
      if (before.from === 'fetched' && textOf(before.catalog) === textOf(catalog)) return false;
      // First the copy: whatever happens in between, each of the two files is whole.
      if (before.from === 'fetched') await deps.data.write(PREVIOUS, textOf(before.catalog));
      await deps.data.write(FILE, textOf(catalog));
      standing = undefined;
      return true;
    },
    lastSync: async () => {
      const text = await textIn(deps, SYNC);
      if (text === undefined) return undefined;
      try {
        // Written below; what somebody else put there is no sync.
        const { at, offered } = JSON.parse(text) as Record<string, unknown>;
        return typeof at === 'string' && typeof offered === 'string' && Number.isFinite(Date.parse(at)) ? { at, offered } : undefined;
      } catch {
        return undefined;
      }
    },
    noteSync: (sync) => deps.data.write(SYNC, JSON.stringify(sync)),
  };
};

/** Without the daemon's own model, which every build brings itself. */
const textOf = ({ version, updated, models, aliases }: Catalog): string =>
  JSON.stringify({ version, updated, models: models.filter(({ provider }) => provider !== 'builtin').map(({ source: _, ...model }) => model), aliases: Object.fromEntries(aliases) });

const stands = async (deps: StoredCatalogDeps): Promise<Standing> => {
  const shipped = await deps.shipped();
  const own = shipped.models.filter(({ provider }) => provider === 'builtin');
  let trouble: string | null = null;
  for (const [file, from] of [
    [FILE, 'fetched'],
    [PREVIOUS, 'previous'],
  ] as const) {
    const read = await readStored(deps, file);
    if (read === undefined) continue;
    if (typeof read === 'string') {
      trouble ??= `${file} cannot be used: ${read}.`;
      deps.log.warn('a stored catalog cannot be used, so an older one is in use', { file, why: read });
      continue;
    }
    if (compareVersions(read.catalog.version, shipped.version) < 0) break;
    return { catalog: { ...read.catalog, models: [...read.catalog.models, ...own] }, from, since: read.since, trouble };
  }
  return { catalog: shipped, from: 'shipped', since: shipped.updated, trouble };
};

const readStored = async (deps: StoredCatalogDeps, file: string): Promise<{ catalog: Catalog; since: string } | string | undefined> => {
  const text = await textIn(deps, file);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  const validated = await validateCatalog(value, deps.schemas);
  if (typeof validated === 'string') return validated;
  return { catalog: validated.catalog, since: (await deps.data.stat(file))?.modifiedAt ?? validated.catalog.updated };
};

/** Undefined where there is none. */
const textIn = async ({ data, log }: StoredCatalogDeps, file: string): Promise<string | undefined> => {
  try {
    return (await data.stat(file)) ? await data.readText(file, { maxBytes: MAX_FILE_BYTES }) : undefined;
  } catch (error) {
    log.warn('a stored catalog file cannot be read', { file, error: String(error) });
    return isSvcError(error) ? '' : undefined;
  }
};
