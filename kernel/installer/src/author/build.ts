/** From the sources of an extension to what can be packed: its bundle, and contributions.json derived from it. */
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as api from '@svc/api';
import type * as internal from '@svc/api/internal';
import { faultsOfForeignWords } from '../commands/declared-commands.js';
import { type AllContributions, deriveContributions } from '../contributions.js';
import { foreignRoute } from '../install/own-routes.js';
import { loadBundle } from '../load-bundle.js';
import { faultsOfSchemas } from '../package/declared-schemas.js';
import { type PackageContent, readDeclared } from '../package/read-package.js';
import { BUNDLE, type Bundler, bundle } from './bundle.js';
import { authorErrors } from './errors.js';
import { withLeftOpen } from './left-open.js';
import { bundlePanels } from './panels.js';

export interface Built extends PackageContent {
  /** What went in, relative to the folder. */
  readonly sources: readonly string[];
  readonly bundleBytes: number;
  /** Whether contributions.json says something else than before. */
  readonly isRewritten: boolean;
}

const CONTRIBUTIONS = 'contributions.json';
const WRITTEN_BY_HAND = ['package.json', 'extension.json'];

/** Rejects with `author_no_extension`, `install_manifest`, `author_bundle`, `author_contributions`, `author_route` and `author_leaks`. */
export const buildExtension = async (dir: string, bundler: Bundler): Promise<Built> => {
  const missing = WRITTEN_BY_HAND.find((file) => !existsSync(join(dir, file)));
  if (missing !== undefined) throw authorErrors.no_extension(dir, missing);
  const declared = await readDeclared(dir);
  const sources = await bundle(dir, bundler);
  const { manifest, package: identity } = declared;
  const panelSources = await bundlePanels(dir, manifest, bundler);
  const file = join(dir, BUNDLE);
  const contributions = await derived(file, manifest, identity.version);
  const foreign = foreignRoute(
    manifest.id,
    contributions,
    (manifest.grants ?? []).map(({ grant }) => grant),
  );
  if (foreign) throw authorErrors.route(manifest.id, foreign.route, foreign.why);
  const isRewritten = await writeIfChanged(join(dir, CONTRIBUTIONS), contributions);
  return { ...declared, contributions, sources: [...new Set([...sources, ...panelSources]), ...WRITTEN_BY_HAND], bundleBytes: (await stat(file)).size, isRewritten };
};

/** Its code runs here once, against recorders. What it leaves open stays open: whoever builds ends its process. */
const derived = async (file: string, manifest: internal.Manifest, version: string): Promise<AllContributions> => {
  const { result, leftOpen } = await withLeftOpen(() => recorded(file, manifest, version));
  if (leftOpen.length > 0) throw authorErrors.leaks(manifest.id, leftOpen);
  return result;
};

const recorded = async (file: string, manifest: internal.Manifest, version: string): Promise<AllContributions> => {
  try {
    const contributions = await deriveContributions(loadBundle(file, manifest, { api, require: createRequire(file) }), manifest, version);
    const faults = faultsOfSchemas(contributions);
    faults.push(...faultsOfForeignWords(contributions));
    if (faults.length > 0) throw new Error(faults.join(' '));
    return contributions;
  } catch (error) {
    throw authorErrors.contributions(manifest.id, error instanceof Error ? error.message : String(error)).with({ cause: error });
  }
};

const writeIfChanged = async (file: string, value: unknown): Promise<boolean> => {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return false;
  await writeFile(file, text);
  return true;
};
