/** The text of config.toml as a person's editor left it. The daemon and the CLI read it alike. */
import { errnoOf } from '../errno.js';
import { encodingOf } from '@svc/api';
import { open } from 'node:fs/promises';
import { constants } from 'node:fs';

/** A settings file is a few kilobytes; what is larger is something else. */
const MAX_BYTES = 4 * 1024 * 1024;
const BYTE_ORDER_MARK = /^\uFEFF/;
const SNIFFED_BYTES = 1_000;

export interface ConfigText {
  /** Null when there is no file, or none that can be read. */
  readonly text: string | null;
  /** Why it cannot be read although something is there. */
  readonly unreadable: string | undefined;
}

/** Windows programs write UTF-16; without a byte order mark it is known by its zero bytes. */
const textOf = (bytes: Buffer): ConfigText => {
  const encoding = encodingOf(bytes);
  const fix = 'Save it as UTF-8: in the editor, or with iconv -f UTF-16 -t UTF-8';
  if (encoding !== 'utf-8') return { text: null, unreadable: `it is UTF-16 text (${encoding}), and settings are UTF-8. ${fix}` };
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return { text: null, unreadable: `it has zero bytes, as UTF-16 text without a byte order mark has, and settings are UTF-8. ${fix}` };
  return { text: bytes.toString('utf8').replace(BYTE_ORDER_MARK, ''), unreadable: undefined };
};

/** Never waits: a pipe or a device in the file's place is refused instead of read to an end that does not come. */
export const readConfigFile = async (file: string): Promise<ConfigText> => {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return { text: null, unreadable: `it is ${found.isDirectory() ? 'a folder' : found.isFIFO() ? 'a named pipe' : 'not a regular file'}` };
      if (found.size > MAX_BYTES) return { text: null, unreadable: `it has ${found.size} bytes, and a settings file at most ${MAX_BYTES}` };
      return textOf(await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errnoOf(error) ?? 'unknown error';
    if (code === 'ENOENT') return { text: null, unreadable: undefined };
    return { text: null, unreadable: code === 'ENXIO' ? 'it is a socket or a device' : code };
  }
};
