/** The first config.toml: short, and saying where more is. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { atomicWrite } from '../../adapters/files/atomic-write.js';
import { errnoOf } from '../errno.js';
import { writeFailed } from '../file/replace-file.js';

export const FIRST_TEXT = `# The settings of svc. What is left out is at its default; the file is read again when it is saved.
# svc config show      every setting, its value, and where that comes from
# svc config check     is this file right
# svc key new --write  a key without which nobody gets in (a must before other machines may reach the daemon)

[api]
# listen_addr = "127.0.0.1:4545"

[log]
level = "info"  # trace, debug, info, warn or error
`;

/** False where there is a file, or whatever else, of that name: nothing is written then. */
export const writeFirst = async (file: string, text: string): Promise<boolean> => {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await atomicWrite(file, text, { mode: 0o600, onlyNew: true });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw writeFailed(error);
  }
};
