/** The text of config.toml as a person's editor left it. The daemon and the CLI read it alike. */
import { errnoOf } from '../errno.js';
import { open } from 'node:fs/promises';
import { constants } from 'node:fs';

/** A settings file is a few kilobytes; what is larger is something else. */
const MAX_BYTES = 4 * 1024 * 1024;
const BYTE_ORDER_MARK = /^\uFEFF/;

export interface ConfigText {
  /** Null when there is no file, or none that can be read. */
  readonly text: string | null;
  /** Why it cannot be read although something is there. */
  readonly unreadable: string | undefined;
}

/** Never waits: a pipe or a device in the file's place is refused instead of read to an end that does not come. */
export const readConfigFile = async (file: string): Promise<ConfigText> => {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return { text: null, unreadable: `it is ${found.isDirectory() ? 'a folder' : found.isFIFO() ? 'a named pipe' : 'not a regular file'}` };
      if (found.size > MAX_BYTES) return { text: null, unreadable: `it has ${found.size} bytes, and a settings file at most ${MAX_BYTES}` };
      return { text: (await handle.readFile('utf8')).replace(BYTE_ORDER_MARK, ''), unreadable: undefined };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errnoOf(error) ?? 'unknown error';
    if (code === 'ENOENT') return { text: null, unreadable: undefined };
    return { text: null, unreadable: code === 'ENXIO' ? 'it is a socket or a device' : code };
  }
};
