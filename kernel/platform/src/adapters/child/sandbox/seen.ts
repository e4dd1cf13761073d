/** What a command in the sandbox sees of the files of the system, and its environment. */
import { delimiter, isAbsolute } from 'node:path';
import { isWithin } from '@svc/sandbox';
import { SANDBOX_HOME } from './account-files.js';

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/lib32', '/libx32', '/nix/store'];
const PATHS = ['/usr/local/bin', '/usr/bin', '/bin'];
/** They name folders outside. */
const OUTSIDE = new Set(['TMPDIR', 'TMP', 'TEMP', 'PWD', 'OLDPWD']);

/** `more`: what is bound beside the system. */
export const isSeen = (path: string, more: readonly string[]): boolean => [...SYSTEM, ...more].some((folder) => isWithin(folder, path));

export const insideEnvironment = (env: Readonly<Record<string, string>>, more: readonly string[]): Record<string, string> => {
  const kept = Object.entries(env).filter(([name]) => !OUTSIDE.has(name));
  const paths = (env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder) && isSeen(folder, more));
  return { ...Object.fromEntries(kept), HOME: SANDBOX_HOME, USER: 'agent', PATH: [...new Set([...paths, ...PATHS])].join(delimiter) };
};
