/** Brings the package of a source into a folder of its own, unpacked and validated by the rules of archives. */
import { ARCHIVE_LIMITS, inMegabytes } from '@svc/api';
import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { installErrors } from '../errors.js';
import { unpack } from '../package/unpack.js';
import { downloadArchive } from './download.js';
import type { FetchContext } from './fetching.js';
import { copyPackage } from './folder.js';
import { fetchGit } from './git.js';
import { sourceOfId } from './id-index.js';
import { type Announced, fetchNpm, NPM_REGISTRY } from './npm.js';
import type { Source } from './source.js';

export interface Registries {
  /** Address of an npm registry; undefined: npm's own. */
  readonly registry: string | undefined;
  /** Address of the index of bare ids; undefined: a bare id is a name of npm. */
  readonly index: string | undefined;
}

export interface Fetched {
  readonly dir: string;
  /** What package.json has to say, where a registry announced it. */
  readonly announced: Announced | undefined;
}

/** `work` is an empty folder of ours; the package lies in a folder in it. */
export const fetchSource = async (source: Source, work: string, registries: Registries, context: FetchContext): Promise<Fetched> => {
  const dir = join(work, 'package');
  if (source.kind === 'folder') {
    await copyPackage(source.path, dir);
    return { dir, announced: undefined };
  }
  const archive = join(work, 'package.tgz');
  const announced = await fetchArchive(source, archive, work, registries, context);
  await unpack(archive, dir, { signal: context.signal, onProgress: (done, total) => context.onProgress({ step: 'unpack', done, total }) });
  return { dir, announced };
};

/** `namedBy`: the index that named the source, where a person did not. */
const fetchArchive = async (
  source: Exclude<Source, { readonly kind: 'folder' }>,
  archive: string,
  work: string,
  registries: Registries,
  context: FetchContext,
  namedBy?: string,
): Promise<Announced | undefined> => {
  const named = namedBy === undefined ? {} : { namedBy };
  const registry = registries.registry ?? NPM_REGISTRY;
  switch (source.kind) {
    case 'archive':
      await copyArchive(source.path, archive);
      return undefined;
    case 'url':
      await downloadArchive({ url: source.url, what: 'The package', integrity: `sha256-${Buffer.from(source.sha256, 'hex').toString('base64')}`, ...named }, archive, context);
      return undefined;
    case 'git':
      await fetchGit({ ...source, ...named }, archive, join(work, 'git'), context);
      return undefined;
    case 'npm':
      return fetchNpm(source, archive, registry, context);
    case 'id': {
      if (registries.index === undefined) return fetchNpm({ name: source.id, range: 'latest' }, archive, registry, context);
      const found = await sourceOfId(source.id, registries.index, context);
      return fetchArchive(found.source, archive, work, registries, context, found.namedBy);
    }
  }
};

/** Somebody may write to that file while it is read. */
const copyArchive = async (from: string, to: string): Promise<void> => {
  if ((await stat(from)).size > ARCHIVE_LIMITS.bytes) throw installErrors.archive_size('The package', inMegabytes(ARCHIVE_LIMITS.bytes));
  await copyFile(from, to);
};
