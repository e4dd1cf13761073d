/** What was shipped: the extensions of dist/release.json, validated by the build, loaded on demand. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Contributions, Manifest } from '@svc/api/internal';
import { type CodeCache, type InstalledFiles, type LoaderOptions, loadDefinition, type PanelFiles } from '@svc/core';
import { daemonErrors } from './errors.js';

export interface Preset {
  readonly extensions: readonly string[];
  readonly essential: readonly string[];
  readonly required_security: readonly string[];
}

export interface Release {
  readonly version: string;
  readonly extensions: readonly InstalledFiles[];
  readonly presets: Readonly<Record<string, Preset>>;
}

interface ReleaseEntry {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly bundle: string;
  readonly workers: Readonly<Record<string, string>>;
  readonly manifest: Manifest;
  readonly contributions: Contributions;
  readonly panels?: PanelFiles;
}

interface ReleaseFile {
  readonly version: string;
  /** Names the declarations that its extensions were compiled against. */
  readonly build: string;
  readonly extensions: readonly ReleaseEntry[];
  readonly presets: Readonly<Record<string, Preset>>;
}

/** `api` is the one instance of @svc/api that every extension shares. Rejects with `daemon_release_broken`. */
export async function readRelease(file: string, api: unknown, code?: CodeCache): Promise<Release> {
  let release: ReleaseFile;
  try {
    release = JSON.parse(await readFile(file, 'utf8')) as ReleaseFile;
  } catch (cause) {
    throw daemonErrors.release_broken(file).with({ cause });
  }
  const root = dirname(file);
  return { version: release.version, presets: release.presets, extensions: release.extensions.map((entry) => toInstalled(root, entry, release.build, { api, code })) };
}

/** Looks for a newer build of one extension in the same file; undefined while nobody wrote it anew. */
export const releaseWatcher = (file: string, api: unknown, code?: CodeCache): ((id: string) => Promise<InstalledFiles | undefined>) => {
  const stampOf = async (): Promise<string> => {
    const { mtimeMs, ino, size } = await stat(file);
    return `${mtimeMs}:${ino}:${size}`;
  };
  let known: Promise<string> | undefined = stampOf();
  known.catch(() => undefined); // told to whoever asks
  let newest: Release | undefined;
  return async (id) => {
    const now = await stampOf();
    if (now !== (await known)) {
      newest = await readRelease(file, api, code);
      known = Promise.resolve(now);
    }
    return newest?.extensions.find((one) => one.id === id);
  };
};

const toInstalled = (root: string, entry: ReleaseEntry, build: string, host: Pick<LoaderOptions, 'api' | 'code'>): InstalledFiles => ({
  id: entry.id,
  version: entry.version,
  description: entry.description,
  bundled: true,
  build,
  manifest: entry.manifest,
  contributions: entry.contributions,
  workers: Object.fromEntries(Object.entries(entry.workers).map(([name, path]) => [name, join(root, path)])),
  assets: join(root, dirname(entry.bundle), 'assets'),
  ...(entry.panels ? { panels: { folder: join(root, dirname(entry.bundle), 'panels'), files: entry.panels } } : {}),
  load: () => loadDefinition(join(root, entry.bundle), { ...host, hostDependencies: entry.manifest.hostDependencies ?? [] }),
});
