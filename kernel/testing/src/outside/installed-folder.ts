/** An extension of somebody else, as its folder holds it after `svc ext build`. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as api from '@svc/api';
import { loadDefinition } from '@svc/core';
import type { InstalledFiles } from '@svc/daemon';
import { type AllContributions, namesOf } from '@svc/installer';

export const bundleOf = (folder: string): string => join(folder, 'dist/index.js');

/** Rejects when a file is missing, and says what makes it. */
export const installedFolder = async (path: string): Promise<InstalledFiles> => {
  const folder = resolve(path);
  const [manifest, contributions, identity] = await Promise.all([
    readJson<api.Manifest>(folder, 'extension.json'),
    readJson<AllContributions>(folder, 'contributions.json'),
    readJson<{ version: string; description?: string }>(folder, 'package.json'),
  ]);
  return {
    id: manifest.id,
    version: identity.version,
    description: identity.description ?? '',
    bundled: false,
    manifest,
    contributions: namesOf(contributions),
    workers: {},
    assets: join(folder, 'dist/assets'),
    load: () => loadDefinition(bundleOf(folder), { api, hostDependencies: [] }),
  };
};

/** The build has judged what it holds. */
const readJson = async <T>(folder: string, name: string): Promise<T> => {
  const text = await readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === 'ENOENT' ? `${folder} has no ${name}: run \`svc ext build\` there first` : error.message);
  });
  return JSON.parse(text);
};
