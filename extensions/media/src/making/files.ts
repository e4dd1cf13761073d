/** What was made becomes an upload of whoever asked. */
import { isSvcError } from '@svc/api';
import type { UploadsService } from '@svc/ext-runs/contract';
import type { MadeFile } from '../drivers/driver.js';
import { mediaErrors } from '../errors.js';
import type { Who } from './spending.js';

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly url: string;
}

const NOT_WHAT_IT_SHOULD_BE: ReadonlySet<string> = new Set(['upload_type_mismatch', 'upload_type_unsupported', 'upload_empty']);
/** Pictures of dots alone: others can hold scripts, or are none. */
const PICTURES: ReadonlySet<string> = new Set(['png', 'jpg', 'webp', 'gif']);
const MAX_WORDS = 40;

/** A provider that sends something else has failed; a file without room is the caller's to solve. */
export const storeFile = async (uploads: Pick<UploadsService, 'create'>, { actor, agentId }: Who, provider: string, about: { kind: string; prompt: string }, file: MadeFile): Promise<StoredFile> => {
  if (about.kind === 'image' && !PICTURES.has(endingOf(file.data))) throw mediaErrors.upstream_failed(provider, 'what it sent is no image');
  try {
    const { id, filename, contentType } = await uploads.create(actor, {
      ...(agentId === '' ? {} : { agentId }),
      filename: nameOf(about, file.data),
      ...(file.type === undefined ? {} : { contentType: file.type }),
      data: Buffer.from(file.data).toString('base64'),
    });
    return { id, name: filename, mediaType: contentType, url: `/api/uploads/${id}` };
  } catch (error) {
    if (!isSvcError(error) || !NOT_WHAT_IT_SHOULD_BE.has(error.code)) throw error;
    throw mediaErrors.upstream_failed(provider, `what it sent is no ${about.kind}`).with({ cause: error });
  }
};

/** By the words that it was made of, so that a list of uploads can be read. */
const nameOf = ({ kind, prompt }: { kind: string; prompt: string }, data: Uint8Array): string => {
  const words = prompt
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-/, '')
    .slice(0, MAX_WORDS)
    .replace(/-$/, '');
  return `${kind}${words === '' ? '' : `-${words}`}.${endingOf(data)}`;
};

const endingOf = (data: Uint8Array): string => {
  const head = Buffer.from(data.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\x89PNG')) return 'png';
  if (head.startsWith('\xff\xd8')) return 'jpg';
  if (head.startsWith('RIFF')) return head.endsWith('WEBP') ? 'webp' : 'wav';
  if (head.startsWith('GIF8')) return 'gif';
  if (head.startsWith('OggS')) return 'ogg';
  if (head.startsWith('fLaC')) return 'flac';
  return head.slice(4, 8) === 'ftyp' ? 'mp4' : head.startsWith('\x1a\x45') ? 'webm' : 'mp3';
};
