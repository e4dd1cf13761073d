/** Who else on this machine can read the home and the settings: what stands there is for the owner alone. */
import { chmod, stat } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { readConfigFile } from './file/config-file.js';
import type { Home } from './home.js';

const OTHERS = 0o077;
/** A setting that looks like a secret and is neither a hash nor the name of a variable; or the address of a database with a password in it. */
const SECRET_LINE = /^\s*"?[\w.-]*(key|token|secret|password|pass)"?\s*=\s*["'][^"'\s]|^\s*url\s*=\s*["']postgres(ql)?:\/\/[^"'/\s]*:[^"'/\s]+@/im;

export interface Exposed {
  readonly path: string;
  readonly mode: number;
  readonly wantedMode: number;
  readonly holdsKey: boolean;
  /** A sentence without its full stop. */
  readonly what: string;
}

export const exposedPaths = async ({ home, configFile }: Pick<Home, 'home' | 'configFile'>): Promise<Exposed[]> => {
  const found: Exposed[] = [];
  const homeMode = await modeOf(home);
  const isHomeOpen = homeMode !== undefined && (homeMode & OTHERS) !== 0;
  if (isHomeOpen) found.push({ path: home, mode: homeMode, wantedMode: 0o700, holdsKey: false, what: `${home} can be entered by other users of this machine (mode ${octal(homeMode)})` });
  const configMode = await modeOf(configFile);
  // Behind a closed folder the file's own mode lets nobody in.
  const isReachable = isHomeOpen || relative(home, dirname(configFile)).startsWith('..');
  if (configMode !== undefined && (configMode & OTHERS) !== 0 && isReachable && (await holdsSecret(configFile)))
    found.push({ path: configFile, mode: configMode, wantedMode: 0o600, holdsKey: true, what: `${configFile} holds a key and can be read by other users of this machine (mode ${octal(configMode)})` });
  return found;
};

/** Takes the others' rights away. Rejects with the system's error where the file is not ours. */
export const closeToOthers = ({ path, wantedMode }: Pick<Exposed, 'path' | 'wantedMode'>): Promise<void> => chmod(path, wantedMode);

const holdsSecret = async (file: string): Promise<boolean> => {
  const { text } = await readConfigFile(file);
  return SECRET_LINE.test(text ?? ''); // not ours to read: then others' rights are not ours to validate
};

const modeOf = async (path: string): Promise<number | undefined> => {
  if (process.platform === 'win32') return undefined;
  const found = await stat(path).catch(() => undefined); // not there yet: it will be made for its owner only
  return found && found.mode & 0o777;
};

const octal = (mode: number): string => mode.toString(8).padStart(3, '0');
