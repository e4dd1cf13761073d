/** An installer over a folder of its own, and packages to install: made, packed and signed as authors do it. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSvcError } from '@svc/api';
import { type AllContributions, namesOf } from '../../src/contributions.js';
import type { Installer, InstallerOptions } from '../../src/install/contract.js';
import { createInstaller } from '../../src/install/installer.js';
import type { Policy } from '../../src/install/validate-package.js';
import type { Neighbour } from '../../src/install/validate-place.js';
import { packFolder } from '../../src/package/pack.js';
import { readPackage } from '../../src/package/read-package.js';
import type { SigningKey } from '../../src/signing/keys.js';
import type { Rotation } from '../../src/signing/rotation.js';
import { signFolder } from '../../src/signing/signature.js';
import { NO_CONTRIBUTIONS, packageFiles, type RigPackage, tempFolder, writeFiles } from '../package-rig.js';

export const NOW = '2026-03-01T10:00:00.000Z';
const signedAt = new Date(NOW);

export interface MadePackage extends RigPackage {
  readonly key?: SigningKey;
  readonly rotations?: readonly Rotation[];
}

export interface InstallRig {
  readonly root: string;
  readonly ext: string;
  policy: Policy;
  bundled: Neighbour[];
  open(more?: Partial<InstallerOptions>): Promise<Installer>;
  /** The path of a packed .tgz. */
  pack(made?: MadePackage): Promise<string>;
  /** The path of a folder that is built, and signed with `key`. */
  folder(made?: MadePackage): Promise<string>;
  /** Installs what `pack` makes of it. */
  install(installer: Installer, made: MadePackage): Promise<void>;
  /** Paths below ext/, folders left out. */
  stored(): Promise<string[]>;
  done(): Promise<void>;
}

export const bundledArea = (id: string, manifest: Partial<Neighbour['manifest']> = {}, contributions: Partial<AllContributions> = {}): Neighbour => {
  const all: AllContributions = { ...NO_CONTRIBUTIONS, ...contributions };
  return { id, bundled: true, manifest: { manifest: 1, id, api: '^0.1.0', ...manifest }, contributions: namesOf(all) };
};

export const installRig = async (): Promise<InstallRig> => {
  const { dir: root, done } = await tempFolder();
  const ext = join(root, 'ext');
  let count = 0;
  /** What the daemon would say is installed: what comes with it, then what lies in the store. */
  const neighbours = new Map<string, Neighbour>();
  const rig: InstallRig = {
    root,
    ext,
    policy: { thirdParty: 'any', isolation: 'isolated', registry: undefined, index: undefined },
    bundled: [],
    open: (more = {}) => createInstaller({ dir: ext, apiVersion: '0.1.0', installed: () => [...rig.bundled, ...neighbours.values()], policy: () => rig.policy, clock: { iso: () => NOW }, ...more }),
    folder: async ({ key, rotations, ...made } = {}) => {
      const dir = join(root, `made-${++count}`);
      await writeFiles(dir, packageFiles(made));
      if (key) await signFolder(dir, key, { now: signedAt, ...(rotations ? { rotations } : {}) });
      return dir;
    },
    pack: async (made) => {
      const dir = await rig.folder(made);
      await writeFile(`${dir}.tgz`, (await packFolder(dir)).bytes);
      return `${dir}.tgz`;
    },
    install: async (installer, made) => {
      const staged = await installer.stage(await rig.pack(made));
      const record = await installer.commit(staged, { grants: 'all', trustKey: true });
      const { contributions, manifest } = await readPackage(join(ext, record.folder));
      neighbours.set(record.id, { id: record.id, bundled: false, manifest, contributions: namesOf(contributions) });
    },
    stored: () => filesBelow(ext),
    done: async () => {
      await rm(root, { recursive: true, force: true });
      await done();
    },
  };
  return rig;
};

export const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'taken',
    (error: unknown) => {
      if (isSvcError(error)) return error.code;
      throw error;
    },
  );

/** Paths of all files, folders left out. */
export const filesBelow = async (dir: string): Promise<string[]> => {
  await mkdir(dir, { recursive: true });
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
};
