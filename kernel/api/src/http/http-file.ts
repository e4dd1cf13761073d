/** A file as an answer: streamed, with validators and one range (RFC 9110, 13 and 14). */
import type { Dir, DirEntry } from '../adapters.js';
import { defineErrors } from '../errors.js';
import { bytes, stream } from './http.js';
import type { Headers, MediaReply } from './reply.js';

export const servedErrors = defineErrors('served', {
  file_missing: { status: 404, retry: false, message: (path: string) => `"${path}" does not exist.` },
});

/** Names a version of a file by its size and the time of its last change; in quotes it is the ETag. */
export const fileRev = ({ sizeBytes, modifiedAt }: Pick<DirEntry, 'sizeBytes' | 'modifiedAt'>): string => `${sizeBytes.toString(36)}-${Date.parse(modifiedAt).toString(36)}`;

interface FileRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/**
 * Answers with the file, or the part that `Range` asks for (206), or 304 where the caller has it, or 416.
 * Several ranges at once are answered with the whole file. Rejects with `served_file_missing`.
 */
export const sendFile = async (req: FileRequest, dir: Pick<Dir, 'stat' | 'readStream'>, path: string, contentType: string, headers: Headers = {}): Promise<MediaReply> => {
  const info = await dir.stat(path);
  if (info?.kind !== 'file') throw servedErrors.file_missing(path);
  const tag = `"${fileRev(info)}"`;
  const known: Headers = { 'accept-ranges': 'bytes', etag: tag, 'last-modified': new Date(info.modifiedAt).toUTCString(), ...headers };
  if (isKnown(req.headers['if-none-match'], tag)) return bytes(304, contentType, '', known);
  const range = rangeOf(req, info, tag);
  if (range === 'unsatisfiable') return bytes(416, contentType, '', { ...known, 'content-range': `bytes */${info.sizeBytes}` });
  const { start, end } = range ?? { start: 0, end: info.sizeBytes };
  const own: Headers = { ...known, 'content-length': String(end - start), ...(range ? { 'content-range': `bytes ${start}-${end - 1}/${info.sizeBytes}` } : {}) };
  return stream(range ? 206 : 200, contentType, dir.readStream(path, { start, end }), own);
};

const isKnown = (asked: string | undefined, tag: string): boolean => (asked ?? '').split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag);

/** The first byte and the one after the last. Undefined: the whole file. */
const rangeOf = ({ headers }: FileRequest, { sizeBytes }: DirEntry, tag: string): { start: number; end: number } | 'unsatisfiable' | undefined => {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range ?? '');
  const [, first = '', last = ''] = match ?? [];
  // A part of another version of the file would be put together with this one.
  if (!match || first + last === '' || (headers['if-range'] !== undefined && headers['if-range'] !== tag)) return undefined;
  const start = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? sizeBytes : Math.min(sizeBytes, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  return start < end ? { start, end } : 'unsatisfiable';
};
