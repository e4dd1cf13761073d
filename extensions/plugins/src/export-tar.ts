/** A plugin as a tar.gz: the same bytes for the same files. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Dir } from '@svc/api';
import { pack } from 'tar-stream';
import { filesIn } from './install/staging.js';

const PROGRAM = 0o755;
const TEXT = 0o644;

export const tarOf = async (name: string, dir: Dir): Promise<Uint8Array> => {
  const tar = pack();
  const pieces: Buffer[] = [];
  const read = (async () => {
    for await (const piece of tar) pieces.push(Buffer.from(piece as Uint8Array));
  })();
  for (const [path, data] of await filesIn(dir)) {
    const mode = data[0] === 0x23 && data[1] === 0x21 ? PROGRAM : TEXT;
    tar.entry({ name: `${name}/${path}`, type: 'file', mode, mtime: new Date(0), uid: 0, gid: 0 }, Buffer.from(data));
  }
  tar.finalize();
  await read;
  return promisify(gzip)(Buffer.concat(pieces), { level: 9 });
};

/** Texts as they are, other files in base64. */
export const filesAsJson = async (dir: Dir): Promise<Array<{ path: string; encoding: 'utf8' | 'base64'; content: string }>> => {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  return [...(await filesIn(dir))].map(([path, data]) => {
    try {
      return { path, encoding: 'utf8' as const, content: utf8.decode(data) };
    } catch {
      return { path, encoding: 'base64' as const, content: Buffer.from(data).toString('base64') };
    }
  });
};
