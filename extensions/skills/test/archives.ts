/** Archives as people and attackers pack them. */
import { deflateRawSync, crc32 } from 'node:zlib';
import { pack } from 'tar-stream';

const LINK = 0o120777;
const FILE = 0o100644;

/** `links`: symbolic links by path. */
export const zipOf = (files: Readonly<Record<string, string | Uint8Array>>, links: Readonly<Record<string, string>> = {}): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const all = [
    ...Object.entries(files).map(([path, data]) => ({ path, data: Buffer.from(data), mode: FILE })),
    ...Object.entries(links).map(([path, data]) => ({ path, data: Buffer.from(data), mode: LINK })),
  ];
  for (const { path, data, mode } of all) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(data);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    common.copy(head, 4);
    parts.push(head, name, packed);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(0x0314, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE((mode << 16) >>> 0, 38);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, name);
    offset += head.length + name.length + packed.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(all.length, 8);
  end.writeUInt16LE(all.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
};

export const tarOf = async (files: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}): Promise<Buffer> => {
  const tar = pack();
  for (const [name, data] of Object.entries(files)) tar.entry({ name }, data);
  for (const [name, linkname] of Object.entries(links)) tar.entry({ name, type: 'symlink', linkname });
  tar.finalize();
  const parts: Uint8Array[] = [];
  // Its declarations leave open what a stream of bytes gives.
  for await (const part of tar as AsyncIterable<Uint8Array>) parts.push(part);
  return Buffer.concat(parts);
};
