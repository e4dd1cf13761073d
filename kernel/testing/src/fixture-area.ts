/** An extension of fixtures/areas: whole, built as those of the release are, and part of none. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as api from '@svc/api';
import type * as internal from '@svc/api/internal';
import { loadDefinition } from '@svc/core';
import type { InstalledFiles } from '@svc/daemon';
import { type AllContributions, namesOf } from '@svc/installer';
import { fixtureExtension } from './fixture-extension.js';
import { sharedCode } from './shared-code.js';
import { releaseFile } from './release-file.js';

export interface FixtureArea {
  /** The folder of its sources. */
  readonly sources: string;
  /** The file that its build made. */
  readonly bundle: string;
  /** For `extra` of `bootTestKernel`. */
  readonly installed: InstalledFiles;
}

export const fixtureArea = async (id: string): Promise<FixtureArea> => {
  const dist = dirname(releaseFile());
  const sources = join(dirname(dist), 'fixtures/areas', id);
  const bundle = join(dist, 'fixtures', id, 'index.js');
  const [manifest, contributions] = await Promise.all([readJson<internal.Manifest>(join(sources, 'extension.json')), readJson<AllContributions>(join(sources, 'contributions.json'))]);
  const definition = () => loadDefinition(bundle, { api, hostDependencies: manifest.hostDependencies ?? [], code: sharedCode() });
  const installed = fixtureExtension({ id, manifest, contributions: namesOf(contributions), definition });
  return { sources, bundle, installed: { ...installed, ...(await panelsIn(join(dist, 'fixtures', id, 'panels'))) } };
};

/** What its panels were built to, where it has some. */
const panelsIn = async (folder: string): Promise<Pick<InstalledFiles, 'panels'>> => {
  const index = join(folder, 'index.json');
  return existsSync(index) ? { panels: { folder, files: await readJson(index) } } : {};
};

/** The build has validated what it holds. */
const readJson = async <T>(file: string): Promise<T> => JSON.parse(await readFile(file, 'utf8'));
