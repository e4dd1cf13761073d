/** From a source to a package that was validated: nothing of it is visible yet, and nothing is left of it when it is refused. */
import { installErrors } from '../errors.js';
import { digestOf, hashFiles, packageFilesIn } from '../package/package-files.js';
import { readPackage } from '../package/read-package.js';
import { fetchSource } from '../sources/fetch-source.js';
import type { Announced } from '../sources/npm.js';
import { parseSource, type Source, withoutSecrets } from '../sources/source.js';
import type { InstalledRecord } from '../store/records.js';
import type { OpenStore } from '../store/open-store.js';
import { askedGrants, type ServiceWords } from './consent.js';
import type { Installer, InstallerOptions, StageOptions } from './contract.js';
import { isolationFor, type ValidatedPackage, validatePackage } from './validate-package.js';
import { validateApiRange, validateId, validateNeighbours } from './validate-place.js';
import type { Staged } from './staged.js';

export const createStaging = (options: InstallerOptions, store: OpenStore): Pick<Installer, 'stage' | 'stagePending'> => {
  const validated = (dir: string): Promise<ValidatedPackage> =>
    validatePackage(dir, options.apiVersion, { keys: store.keys(), thirdParty: options.policy().thirdParty, wasSigned: (id) => store.find(id)?.trust === 'signed' });

  /** Of a folder in development nothing is fixed, so nothing vouches for it. */
  const validatedLink = async (dir: string): Promise<ValidatedPackage> => {
    if (options.policy().thirdParty === 'none') throw installErrors.not_allowed();
    const hashed = async (): Promise<string> => digestOf(await hashFiles(dir, await packageFilesIn(dir)));
    const before = await hashed();
    const content = await readPackage(dir);
    validateApiRange(content.manifest, options.apiVersion);
    // What is shown to whoever agrees is what the digest names: a build that goes on writes both.
    if ((await hashed()) !== before) throw installErrors.changing(content.manifest.id);
    return { ...content, digest: before, key: undefined };
  };

  const place = (found: ValidatedPackage, of: Pick<Staged, 'source' | 'dir' | 'stage'>, expect: StageOptions['expect'], isLinked = false): Staged => {
    const { id } = found.manifest;
    const installed = options.installed();
    validateId(id, installed);
    const replaces = store.find(id);
    if (expect === 'new' && replaces) throw installErrors.installed(id, replaces.version);
    if (typeof expect === 'object' && expect.id !== id) throw installErrors.other_id(expect.id, id);
    const { isolation, why } = isolationFor(found.key?.keyId ?? null, found.key ? store.keys() : [], options.policy());
    const faults = options.isolationFaults?.(found) ?? [];
    if (faults.length > 0) throw installErrors.cannot_isolate(id, faults);
    validateNeighbours(found, installed, options.apiVersion);
    const trust = isLinked ? 'linked' : found.key ? 'signed' : 'unsigned';
    return {
      ...of,
      ...found,
      id,
      version: found.package.version,
      trust,
      isolation,
      isolationWhy: why,
      grants: askedGrants(found.manifest, found.contributions.routes, replaces?.grants ?? [], servicesOf(installed)),
      replaces,
    };
  };

  const stageLink = async (source: Source, text: string, expect: StageOptions['expect']): Promise<Staged> => {
    if (source.kind !== 'folder') throw installErrors.source('only a folder can be linked');
    return place(await validatedLink(source.path), { source: withoutSecrets(text), dir: source.path, stage: undefined }, expect, true);
  };

  return {
    stage: async (text, { expect, link = false, onProgress = () => undefined, signal } = {}) => {
      const source = await parseSource(text);
      await store.change(store.sweep);
      if (link) return stageLink(source, text, expect);
      const work = await store.packages.newStage();
      try {
        const { announced, dir } = await fetchSource(source, work, options.policy(), { signal, onProgress });
        onProgress({ step: 'judge' });
        const found = await validated(dir);
        signal?.throwIfAborted();
        holdTo(found, source, announced, store.find(found.manifest.id));
        return place(found, { source: withoutSecrets(text), dir, stage: work }, expect);
      } catch (error) {
        await store.packages.dropStage(work);
        throw error;
      }
    },
    stagePending: async (id) => {
      await store.change(async () => undefined);
      const { pending, source } = store.known(id);
      if (!pending) throw installErrors.none_pending(id);
      const dir = store.packages.dirOf(pending);
      return place(await validated(dir), { source, dir, stage: undefined }, { id });
    },
  };
};

const servicesOf =
  (installed: ReturnType<InstallerOptions['installed']>): ServiceWords =>
  (name) =>
    installed.find(({ manifest }) => Object.hasOwn(manifest.provides ?? {}, name))?.contributions.services?.[name];

/** What was fetched is what was asked for: an index and a registry may name one thing and give another. */
const holdTo = ({ digest, manifest, package: { name, version } }: ValidatedPackage, source: Source, announced: Announced | undefined, installed: InstalledRecord | undefined): void => {
  if (source.kind === 'id' && manifest.id !== source.id) throw installErrors.not_asked_for(source.id, manifest.id);
  if (!announced) return;
  if (name !== announced.name || version !== announced.version)
    throw installErrors.checksum(`${announced.name}@${announced.version}`, `its package.json says ${JSON.stringify(`${name}@${version}`.slice(0, 300))}`);
  if (installed?.version === version && installed.digest !== digest && installed.source.startsWith('npm:')) throw installErrors.republished(manifest.id, version);
};
