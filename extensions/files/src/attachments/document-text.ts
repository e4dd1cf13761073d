/** The text of an upload as a model reads it: cut where it is long, and a note in its place where there is none. */
import { type Clock, type Dir, type Logger, type Workers, isSvcError } from '@svc/api';
import type { UploadRow } from '../uploads/rows.js';
import { PdfText } from '../workers/pdf-worker.js';

/** Of one document. */
export const MAX_TEXT_CHARS = 200_000;
/** A letter of UTF-8 has four bytes at most. */
const MAX_TEXT_BYTES = 4 * MAX_TEXT_CHARS;
/** A PDF is read as a whole. */
const MAX_PDF_BYTES = 33_554_432;
const MAX_PDF_PAGES = 1_000;
/** How long a PDF may take, those of others before it included. */
const PDF_MS = 30_000;
/** What may come of a PDF that is built to be hard, or of many at once. */
const NOT_READ: Readonly<Record<string, string>> = {
  workers_timeout: 'it takes too long to read',
  workers_cancelled: 'it takes too long to read',
  workers_out_of_memory: 'it takes too much memory to read',
  workers_failed: 'it is damaged, or no PDF',
  workers_busy: 'too many documents are being read at the moment',
};

export interface TextDeps {
  readonly workers: Workers;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

export interface Place {
  readonly dir: Dir;
  readonly path: string;
}

/** At most `maxChars` of it, and a line that says what is missing. */
export const plainText = async ({ size_bytes: sizeBytes }: UploadRow, { dir, path }: Place, maxChars: number): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  // Cut within a letter, its first bytes are left out.
  for await (const piece of dir.readStream(path, { end: Math.min(MAX_TEXT_BYTES, sizeBytes) })) text += decoder.decode(piece, { stream: true });
  if (sizeBytes <= MAX_TEXT_BYTES && text.length <= maxChars) return text;
  return cut(text, maxChars, `of ${sizeBytes.toLocaleString('en')} bytes`);
};

export const pdfText = async (deps: TextDeps, upload: UploadRow, place: Place, maxChars: number): Promise<string> => {
  if (upload.size_bytes > MAX_PDF_BYTES) return note('it is too large to be read here');
  const bytes = await place.dir.read(place.path, { maxBytes: MAX_PDF_BYTES });
  const ended = new AbortController();
  const late = new AbortController();
  void deps.clock.sleep(PDF_MS, ended.signal).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    const { text, pages, read, problem } = await deps.workers.run(PdfText, { bytes, maxPages: MAX_PDF_PAGES, maxChars }, { signal: late.signal });
    if (problem !== undefined) return note(problem);
    if (text === '') return note(`none of its ${pages} pages has any; it may be scanned`);
    return read < pages || text.length > maxChars ? cut(text, maxChars, `of ${pages} pages, ${read} of which were read`) : text;
  } catch (error) {
    const why = isSvcError(error) ? NOT_READ[error.code] : undefined;
    if (why === undefined) throw error;
    deps.log.warn('the text of a PDF could not be read; a note stands in its place', { upload: upload.id, cause: error });
    return note(why);
  } finally {
    ended.abort();
  }
};

const note = (why: string): string => `[its text is not here: ${why}]`;

const cut = (text: string, maxChars: number, whole: string): string => {
  const shown = text.slice(0, maxChars);
  return `${shown}\n[cut: the first ${shown.length.toLocaleString('en')} characters are shown, ${whole}]`;
};
