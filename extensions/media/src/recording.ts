/** The recording in a request: the body itself, or the file of a form. */
import { mediaErrors } from './errors.js';

export interface SentRecording {
  readonly data: Uint8Array;
  readonly type: string;
}

const bare = (type: string | undefined): string => (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** Throws `media_not_audio`, `media_no_audio`. */
export const recordingOf = async (contentType: string | undefined, body: Uint8Array): Promise<SentRecording> => {
  const type = bare(contentType);
  if (type === 'multipart/form-data') return fromForm(contentType ?? '', body);
  if (!type.startsWith('audio/')) throw mediaErrors.not_audio(type);
  if (body.byteLength === 0) throw mediaErrors.no_audio();
  return { data: body, type };
};

const fromForm = async (contentType: string, body: Uint8Array): Promise<SentRecording> => {
  let form: FormData;
  try {
    form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData();
  } catch (error) {
    throw mediaErrors.no_audio().with({ cause: error });
  }
  const file = form.get('file');
  if (file === null || typeof file === 'string' || file.size === 0) throw mediaErrors.no_audio();
  if (!bare(file.type).startsWith('audio/')) throw mediaErrors.not_audio(file.type);
  return { data: Buffer.from(await file.arrayBuffer()), type: bare(file.type) };
};
