/** Archives as an attacker writes them: byte by byte, so that no library fixes them first. */
import { gzipSync } from 'node:zlib';

export interface RawEntry {
  readonly name: string;
  /** '0' file, '1' hard link, '2' link, '3' device, '5' folder, '6' pipe, 'x' pax header. */
  readonly flag?: string;
  readonly data?: string | Buffer;
  readonly link?: string;
  readonly mode?: number;
  /** What the header says instead of the length of `data`. */
  readonly size?: number;
}

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;

const header = ({ name, flag = '0', link = '', mode = 0o644 }: RawEntry, size: number): Buffer => {
  const block = Buffer.alloc(512);
  block.write(name, 0, 100);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write('        ', 148);
  block.write(flag, 156);
  block.write(link, 157, 100);
  block.write('ustar\0', 257);
  block.write('00', 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
};

export const rawTar = (entries: readonly RawEntry[]): Buffer => {
  const blocks = entries.flatMap((entry) => {
    const data = Buffer.from(entry.data ?? '');
    return [header(entry, entry.size ?? data.length), data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
};

export const rawTgz = (entries: readonly RawEntry[]): Buffer => gzipSync(rawTar(entries));

/** A pax header that gives the next entry another path. */
export const paxPath = (path: string): RawEntry => {
  const record = ` path=${path}\n`;
  let length = Buffer.byteLength(record) + 1;
  while (Buffer.byteLength(`${length}${record}`) !== length) length = Buffer.byteLength(`${length}${record}`);
  return { name: 'PaxHeader', flag: 'x', data: `${length}${record}` };
};
