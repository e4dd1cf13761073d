/** An extension of somebody else, as its folder holds it after `svc ext build`. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as api from '@svc/api';
import type * as internal from '@svc/api/internal';
import { loadDefinition } from '@svc/core';
import type { ThirdParty } from '@svc/daemon';
import type { AllContributions } from '@svc/installer';
import { isolationFaults } from '@svc/isolation';

export const bundleOf = (folder: string): string => join(folder, 'dist/index.js');

/** As it is when a person linked the folder and agreed to all that it asks for. Rejects when a file is missing, and says what makes it. */
export const thirdPartyIn = async (path: string): Promise<ThirdParty> => {
  const folder = resolve(path);
  const [manifest, contributions, identity] = await Promise.all([
    readJson<internal.Manifest>(folder, 'extension.json'),
    readJson<AllContributions>(folder, 'contributions.json'),
    readJson<{ version: string; description?: string }>(folder, 'package.json'),
  ]);
  const faults = isolationFaults({ manifest, contributions });
  if (faults.length > 0) throw new Error(`${manifest.id} cannot run in a process of its own: ${faults.join('; ')}`);
  return {
    id: manifest.id,
    version: identity.version,
    description: identity.description ?? '',
    folder,
    manifest,
    contributions,
    grants: (manifest.grants ?? []).map(({ grant }) => grant),
    origin: { source: folder, publisher: null, trust: 'linked', isolation: 'isolated', installedAt: new Date().toISOString() },
  };
};

/** Its code, loaded into this process. */
export const codeIn = (folder: string): Promise<api.ExtensionDefinition> => loadDefinition(bundleOf(folder), { api, hostDependencies: [] });

/** The build has validated what it holds. */
const readJson = async <T>(folder: string, name: string): Promise<T> => {
  const text = await readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === 'ENOENT' ? `${folder} has no ${name}: run \`svc ext build\` there first` : error.message);
  });
  return JSON.parse(text);
};
