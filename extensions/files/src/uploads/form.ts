/**
 * A file out of a multipart form (RFC 7578), piece by piece.
 *
 * M1  A form brings one file, in the field `file`. One with another number of them, or that ends too soon, brings none.
 * M2  Parts, names and values are bounded, and what is beyond is refused; of the head of a part no more than 8 KiB is read.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type SvcError, isSvcError } from '@svc/api';
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import { uploadErrors } from '../errors.js';
import type { Incoming } from './examination.js';

const FIELD = 'file';
/** What other fields a page's form may send along; they are not looked at. */
const MAX_FIELDS = 20;
const MAX_PARTS = 22;
const MAX_FIELD_BYTES = 65_536;
const MAX_HEADER_BYTES = 8_192;
const MAX_HEADERS = 20;
/** What a form may take beside its file: the fields, and the heads of all parts. */
export const FORM_BYTES = MAX_FIELDS * MAX_FIELD_BYTES + MAX_PARTS * MAX_HEADER_BYTES;

export interface FormTaker<T> {
  /** Takes the file as it comes. */
  take(file: Incoming): Promise<T>;
  /** The form was no good after all: what was taken goes. */
  drop(taken: T): Promise<void>;
}

export const isForm = (contentType: string | undefined): contentType is string => /^multipart\/form-data\b/i.test(contentType?.trim() ?? '');

/** Throws `upload_form_invalid`, `upload_no_file`, `upload_one_file`, and what `take` and the body throw. */
export const readForm = async <T>(body: AsyncIterable<Uint8Array>, contentType: string, { take, drop }: FormTaker<T>): Promise<T> => {
  const form = await openForm(contentType);
  let file: BusboyFileStream | undefined;
  let taking: Promise<T> | undefined;
  let refusal: unknown;
  const refuse = (why: unknown): void => {
    refusal ??= why;
    file?.destroy(asError(refusal));
    form.destroy(asError(refusal));
  };
  form.on('file', (field, stream, name, _encoding, declared) => {
    // Without a listener its error would end the process.
    stream.on('error', refuse);
    if (taking || field !== FIELD) return refuse(taking ? uploadErrors.one_file() : uploadErrors.no_file());
    file = stream;
    // Whoever stops reading says why; a stream that was closed by that would say something else first.
    taking = take({ name: unescaped(name), declared, bytes: stream.iterator({ destroyOnReturn: false }) });
    taking.catch(refuse);
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) form.on(limit, () => refuse(uploadErrors.form_invalid(`it has more than ${MAX_FIELDS} fields`)));
  form.on('field', (_field, _value, _isNameCut, isCut) => {
    if (isCut) refuse(uploadErrors.form_invalid(`a field has more than ${MAX_FIELD_BYTES} bytes`));
  });
  await pipeline(Readable.from(body, { objectMode: false }), form).catch(refuse);
  const taken = await taking?.catch(() => undefined);
  if (refusal === undefined && taken !== undefined) return taken;
  if (taken !== undefined) await drop(taken);
  throw refusal === undefined ? uploadErrors.no_file() : asRefusal(refusal);
};

const openForm = async (contentType: string): Promise<BusboyInstance> => {
  const { Busboy } = await import('@fastify/busboy');
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fields: MAX_FIELDS, parts: MAX_PARTS, fieldSize: MAX_FIELD_BYTES, headerPairs: MAX_HEADERS, headerSize: MAX_HEADER_BYTES },
      // Only what has a filename is a file; a type alone makes none.
      isPartAFile: (_field, _type, name) => name !== undefined,
    });
  } catch (cause) {
    throw uploadErrors.form_invalid('its content type names no boundary').with({ cause });
  }
};

/** What browsers write for the three characters that a quoted name cannot hold (HTML, multipart/form-data). */
const unescaped = (name: string): string => name.replaceAll(/%(?:22|0a|0d)/gi, decodeURIComponent);

const asError = (value: unknown): Error => (value instanceof Error ? value : new Error(String(value)));

/** The parser's own errors say that the form broke off, or is none. */
const asRefusal = (cause: unknown): SvcError => (isSvcError(cause) ? cause : uploadErrors.form_invalid('it ends too soon, or does not match its boundary').with({ cause }));
