/** A file of this machine, sent to an agent as an upload. */
import { type DaemonClient, Failure } from '@svc/cli/area';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { lookup } from 'mime-types';
import type { OutputOf } from '@svc/client';

/** Beyond it the daemon refuses as well; so much is never read into memory here. */
const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;

/** The bytes of a file that a person named. Throws a failure that says what is wrong with it. */
export const bytesOfFile = async (file: string, maxBytes: number, fixes: { readonly missing: string; readonly tooLarge?: string }): Promise<Buffer<ArrayBuffer>> => {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new Failure(`There is no file ${file}.`, { code: 'cli_no_file', ...(found === undefined ? {} : { why: 'it is not a file' }), fix: fixes.missing });
  if (found.size > maxBytes) throw new Failure(`${file} is too large.`, { code: 'cli_file_too_large', why: `${found.size} bytes, more than ${maxBytes}`, fix: fixes.tooLarge });
  return readFile(file);
};

export const uploadFile = async (daemon: DaemonClient, agentId: string, file: string, missing: string): Promise<OutputOf<'uploadFile'>> => {
  const body = await bytesOfFile(file, MAX_UPLOAD_BYTES, { missing });
  const filename = path.basename(file);
  const headers = { 'content-type': lookup(filename) || 'text/plain', 'x-filename': encodeURIComponent(filename) };
  return daemon.call('uploadFile', { id: agentId, body }, { headers });
};
