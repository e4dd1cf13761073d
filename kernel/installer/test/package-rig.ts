/** Folders and packages that tests make. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isSvcError, type SvcError } from '@svc/api';
import { packFolder } from '../src/package/index.js';
import { signFolder, type SigningKey } from '../src/signing/index.js';

export const NO_CONTRIBUTIONS = { routes: [], sockets: [], tools: [], declares: [], taps: [], migrations: [], timers: [], workers: [], config: {} };

const SIGNED_AT = new Date('2026-03-01T10:00:00Z');

export interface RigPackage {
  readonly id?: string;
  readonly version?: string;
  /** Merged into extension.json. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly contributions?: Readonly<Record<string, unknown>>;
  /** Merged into package.json. */
  readonly identity?: Readonly<Record<string, unknown>>;
  /** More files, by their path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The files of a small package that is in order. */
export const packageFiles = ({ id = 'acme-weather', version = '1.0.0', manifest, contributions, identity, files }: RigPackage = {}): Record<string, string> => ({
  'package.json': JSON.stringify({ name: `@acme/${id.replace(/^acme-/, '')}`, version, description: 'Tells the weather.', license: 'MIT', ...identity }),
  'extension.json': JSON.stringify({ manifest: 1, id, api: '^0.1.0', ...manifest }),
  'contributions.json': JSON.stringify({ ...NO_CONTRIBUTIONS, ...contributions }),
  'dist/index.js': `exports.default = { activate() {} }; // ${version}\n`,
  'README.md': '# Weather\n',
  ...files,
});

export const writeFiles = async (dir: string, files: Readonly<Record<string, string | Buffer>>): Promise<void> => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
};

/** The path of a .tgz beside `dir`, which holds the package; signed by the key where there is one. */
export const packedAt = async (dir: string, made: RigPackage, key: SigningKey | null): Promise<string> => {
  await writeFiles(dir, packageFiles(made));
  if (key) await signFolder(dir, key, { now: SIGNED_AT });
  await writeFile(`${dir}.tgz`, (await packFolder(dir)).bytes);
  return `${dir}.tgz`;
};

/** A folder that goes with `done`. */
export const tempFolder = async (): Promise<{ readonly dir: string; done(): Promise<void> }> => {
  const dir = await mkdtemp(join(tmpdir(), 'svc-install-'));
  return { dir, done: () => rm(dir, { recursive: true, force: true }) };
};

/** The named error that this ends with. */
export const refusal = async (work: Promise<unknown>): Promise<SvcError> => {
  try {
    await work;
  } catch (error) {
    if (isSvcError(error)) return error;
    throw error;
  }
  throw new Error('it was not refused');
};
