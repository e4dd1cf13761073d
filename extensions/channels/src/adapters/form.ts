/** A form with one file, as multipart/form-data (RFC 7578). */
import { createHash } from 'node:crypto';
import type { OutgoingFile } from './adapter.js';

export interface Form {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Nothing in a name ends its quotes or its line. */
const quoted = (name: string): string => name.replaceAll(/["\\\r\n]/g, '_');

export const formOf = (fields: Readonly<Record<string, string | undefined>>, field: string, { name, mediaType, data }: OutgoingFile): Form => {
  // A line of the file can equal a boundary made of its own hash by no design.
  const boundary = `svc-${createHash('sha256').update(data).digest('hex').slice(0, 40)}`;
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const head = given.map(([key, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`).join('');
  const opening = `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${quoted(name)}"\r\ncontent-type: ${mediaType}\r\n\r\n`;
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat([Buffer.from(head + opening), data, Buffer.from(`\r\n--${boundary}--\r\n`)]) };
};
