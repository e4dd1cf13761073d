/** Names of workspace files, as a request gives them: what would leave the workspace, and what no file should be called. */
import { posix } from 'node:path';
import { UNSEEN } from '@svc/api';
import { fileErrors } from '../errors.js';

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 1_024;
/** What Windows takes for a device, whatever follows the first dot. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** The router has decoded `%2F` and `%2E` by now, so this is what the disk would see. The folder handle checks links again. Throws `files_outside_workspace`. */
export const workspacePath = (name: string): string => {
  const parts = name.split(/[/\\]/);
  if (name === '' || name.includes('\0') || parts.includes('..') || posix.isAbsolute(name) || name.startsWith('\\') || /^[a-z]:/i.test(name)) throw fileErrors.outside_workspace(name);
  return posix.normalize(name);
};

/** A path that a new file may have: one that means the same on every system. Throws `files_bad_name` beside what `workspacePath` throws. */
export const writablePath = (name: string): string => {
  const path = workspacePath(name);
  if (path === '.' || path.endsWith('/')) throw fileErrors.bad_name(name, 'it names a folder');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw fileErrors.bad_name(name, `it has more than ${MAX_PATH_BYTES} bytes`);
  for (const part of path.split('/')) {
    const why = faultOf(part);
    if (why !== undefined) throw fileErrors.bad_name(shown(name), why);
  }
  return path;
};

const faultOf = (part: string): string | undefined => {
  if (UNSEEN.test(part)) return 'it contains an invisible character';
  if (part.includes('\\')) return 'it contains a backslash';
  if (/[. ]$/.test(part)) return 'it, or a folder in it, ends with a dot or a space';
  if (DEVICE.test(part)) return `"${part}" is a device on Windows`;
  if (Buffer.byteLength(part) > MAX_NAME_BYTES) return `a part of it has more than ${MAX_NAME_BYTES} bytes`;
  return undefined;
};

const shown = (name: string): string => name.replaceAll(new RegExp(UNSEEN, 'g'), '?');

/** What a file from elsewhere is called here: its last part, without what no name should hold. Never empty, at most `maxBytes` long. */
export const displayName = (given: string, fallback: string, maxBytes = 200): string => {
  const last = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .replaceAll(new RegExp(UNSEEN, 'g'), '')
    .replaceAll(/["<>:|?*]/g, '_')
    .replace(/^[. ]+/, '')
    .replace(/[. ]+$/, '');
  const safe = DEVICE.test(plain) ? `_${plain}` : plain;
  return safe === '' ? fallback : cutName(safe, maxBytes);
};

/** Shortened in its middle: what it ends with says what it is. */
const cutName = (name: string, maxBytes: number): string => {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  const letters = [...name.slice(0, name.length - extension.length)];
  let bytes = extension.length;
  let kept = '';
  for (const letter of letters) {
    bytes += Buffer.byteLength(letter);
    if (bytes > maxBytes) break;
    kept += letter;
  }
  return kept.replace(/[. ]+$/, '') + extension;
};
