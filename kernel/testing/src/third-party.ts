/** An extension of somebody else, written inside a test as the one CommonJS file that its build would make. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as api from '@svc/api';
import type * as internal from '@svc/api/internal';
import type { ThirdParty } from '@svc/daemon';
import { deriveContributions } from '@svc/installer/contributions';
import { loadBundle } from '@svc/installer/load-bundle';

export interface ThirdPartySpec {
  readonly id: string;
  readonly version?: string;
  readonly manifest?: Partial<internal.Manifest>;
  /** Of `activate(ctx, api)`; beside it `before` stands at the top of the file. */
  readonly activate: string;
  readonly before?: string;
  /** More members of defineExtension. */
  readonly rest?: string;
  readonly isolation?: ThirdParty['origin']['isolation'];
  /** Default: all that the manifest asks for. */
  readonly grants?: readonly string[];
}

const folders = new Set<string>();

/** Its folder goes with `removeThirdParties`. */
export const thirdParty = async ({ id, version = '1.0.0', manifest: given, activate, before = '', rest = '', isolation = 'isolated', grants }: ThirdPartySpec): Promise<ThirdParty> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-stranger-')));
  folders.add(folder);
  const manifest: internal.Manifest = { manifest: 1, id, api: '^0.1.0', ...given };
  const text = `'use strict';\nconst api = require('@svc/api');\n${before}\nexports.default = api.defineExtension({ activate(ctx) {\n${activate}\n}, ${rest} });\n`;
  await mkdir(join(folder, 'dist'));
  const bundle = join(folder, 'dist/index.js');
  await writeFile(bundle, text);
  await writeFile(join(folder, 'extension.json'), JSON.stringify(manifest));
  const definition = loadBundle(bundle, manifest, { api, require: createRequire(bundle) });
  return {
    id,
    version,
    description: `The third-party extension ${id}`,
    folder,
    manifest,
    contributions: await deriveContributions(definition, manifest, version),
    grants: grants ?? (manifest.grants ?? []).map(({ grant }) => grant),
    origin: { source: folder, publisher: null, trust: 'unsigned', isolation, installedAt: '2026-01-01T00:00:00.000Z' },
  };
};

export const removeThirdParties = async (): Promise<void> => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  folders.clear();
};
