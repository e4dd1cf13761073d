/** What was shipped: the extensions of dist/release.json, judged by the build, loaded on demand. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Contributions, Manifest } from '@svc/api';
import { type Installed, loadDefinition } from '@svc/core';
import { daemonErrors } from './errors.js';

export interface Preset {
  readonly extensions: readonly string[];
  readonly essential: readonly string[];
  readonly required_security: readonly string[];
}

export interface InstalledFiles extends Installed {
  /** Absolute path of each worker function's bundle. */
  readonly workers: Readonly<Record<string, string>>;
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
}

interface ReleaseFile {
  readonly version: string;
  readonly extensions: readonly ReleaseEntry[];
  readonly presets: Readonly<Record<string, Preset>>;
}

/** `api` is the one instance of @svc/api that every extension shares. Rejects with `daemon_release_broken`. */
export async function readRelease(file: string, api: unknown): Promise<Release> {
  let release: ReleaseFile;
  try {
    release = JSON.parse(await readFile(file, 'utf8')) as ReleaseFile;
  } catch (cause) {
    throw daemonErrors.release_broken(file).with({ cause });
  }
  const root = dirname(file);
  return { version: release.version, presets: release.presets, extensions: release.extensions.map((entry) => toInstalled(root, entry, api)) };
}

const toInstalled = (root: string, entry: ReleaseEntry, api: unknown): InstalledFiles => ({
  id: entry.id,
  version: entry.version,
  description: entry.description,
  bundled: true,
  manifest: entry.manifest,
  contributions: entry.contributions,
  workers: Object.fromEntries(Object.entries(entry.workers).map(([name, path]) => [name, join(root, path)])),
  load: () => loadDefinition(join(root, entry.bundle), { api, hostDependencies: entry.manifest.hostDependencies ?? [] }),
});
