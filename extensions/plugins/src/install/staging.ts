/**
 * Files of a plugin on their way in.
 *
 * I1  Nothing of a plugin is run to install it.
 * I2  Links, devices, more than 500 files, files over 10 MiB and 50 MiB in all are refused, before anything is written to plugins/.
 * I3  plugin.toml is written last: what was cut off is no plugin.
 */
import type { Dir } from '@svc/api';
import { suspicionsOf } from '@svc/ext-taint/contract';
import { pluginErrors } from '../errors.js';
import { isPluginName, type Manifest, manifestOf } from '../manifest/manifest.js';
import { sha256Of, signatureFault } from '../manifest/signing.js';
import { filesOf, MANIFEST, MAX_FILES, parsedToml, reasonOf } from '../plugin-folder.js';

export const MAX_FILE_BYTES = 10 * 1024 * 1024;
export const MAX_ALL_BYTES = 50 * 1024 * 1024;
export const MAX_DEPTH = 10;
const PROGRAM = 0o755;
const TEXT = 0o644;
/** They may reach a model or a person before anybody reads them. */
const READ_TEXTS = /^(readme|skill|prompt)[^/]*\.(md|txt)$/i;

export type Files = ReadonlyMap<string, Uint8Array>;

export interface Staged {
  readonly manifest: Manifest;
  readonly files: Files;
  readonly digest: string;
  readonly suspicions: readonly string[];
}

export const filesIn = async (dir: Dir): Promise<Files> => {
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  for (const { name, kind, sizeBytes } of await filesOf(dir)) {
    if (kind === 'dir') continue;
    if (kind !== 'file') throw pluginErrors.bad_plugin(`${name} is a link or no file.`);
    bytes += sizeBytes;
    admit(files, name, sizeBytes, bytes);
    files.set(name, await dir.read(name, { maxBytes: MAX_FILE_BYTES }));
  }
  return files;
};

/** Throws for one file too many, too large or too deep. */
export const admit = (files: Files, name: string, size: number, all: number): void => {
  if (files.size >= MAX_FILES) throw pluginErrors.bad_plugin(`it has more than ${MAX_FILES} files.`);
  if (size > MAX_FILE_BYTES) throw pluginErrors.bad_plugin(`${name} has more than 10 MiB.`);
  if (all > MAX_ALL_BYTES) throw pluginErrors.bad_plugin('it has more than 50 MiB.');
  if (name.split('/').length > MAX_DEPTH) throw pluginErrors.bad_plugin(`${name} lies too deep.`);
};

/** `name`: as it is called where it comes from; undefined where only the manifest says so. */
export const staged = async (files: Files, name: string | undefined): Promise<Staged> => {
  const text = files.get(MANIFEST);
  if (!text) throw pluginErrors.bad_plugin('it has no plugin.toml.');
  const manifest = manifestOf(
    await parsedToml(Buffer.from(text).toString('utf8')).catch((error: unknown) => Promise.reject(pluginErrors.bad_plugin(`plugin.toml cannot be read: ${reasonOf(error)}`))),
  );
  if (!isPluginName(manifest.name)) throw pluginErrors.bad_name(manifest.name);
  if (name !== undefined && manifest.name !== name) throw pluginErrors.bad_plugin(`it is called "${manifest.name}" and not "${name}".`);
  if (manifest.runtime === undefined) throw pluginErrors.bad_runtime(manifest.runtimeName);
  const signature = signatureFault(manifest.raw);
  if (signature !== undefined) throw pluginErrors.bad_plugin(`${signature}.`);
  for (const [path, wanted] of Object.entries(manifest.integrity ?? {})) {
    const file = files.get(path);
    if (!file || sha256Of(file) !== wanted) throw pluginErrors.bad_plugin(`${path} is not the file that [integrity] names.`);
  }
  const texts = [manifest.description, ...[...files].filter(([path]) => READ_TEXTS.test(path)).map(([, data]) => Buffer.from(data).toString('utf8'))];
  const lines = [...files].map(([path, data]) => `${path}\0${sha256Of(data)}`).sort();
  return { manifest, files, digest: sha256Of(lines.join('\n')), suspicions: [...new Set(texts.flatMap((one) => suspicionsOf(one).map(String)))] };
};

/** Which walls it wants lowered. */
export const wantsOf = ({ allowNetwork, allowFilesystem }: Manifest): string[] => [...(allowNetwork ? ['network'] : []), ...(allowFilesystem ? ['filesystem'] : [])];

export const writeAll = async (dir: Dir, files: Files): Promise<void> => {
  const last = [...files].sort(([a], [b]) => Number(a === MANIFEST) - Number(b === MANIFEST));
  for (const [path, data] of last) await dir.write(path, data, { mode: isProgram(data) ? PROGRAM : TEXT });
};

/** A script that names its interpreter, or a binary. */
const isProgram = (data: Uint8Array): boolean => (data[0] === 0x23 && data[1] === 0x21) || (data[0] === 0x7f && data[1] === 0x45) || (data[0] === 0xcf && data[1] === 0xfa);
