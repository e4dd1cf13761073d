/** The text of an upload as a model reads it: cut where it is long, and a note in its place where there is none. */
import { type Clock, type Dir, encodingOf, type Logger, type Workers, isSvcError } from '@svc/api';
import type { UploadRow } from '../tables.js';
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
/** A megabyte may unpack to gigabytes, outside the memory that a thread is limited to. So much more than before it began, and its thread is ended. */
const MAX_GROWTH_BYTES = 402_653_184;
const POLL_EVERY_MS = 100;
const TOO_LONG = 'it takes too long to read';
const TOO_MUCH = 'it takes too much memory to read';
/** What may come of a PDF that is built to be hard, or of many at once. */
const NOT_READ: Readonly<Record<string, string>> = {
  workers_timeout: TOO_LONG,
  workers_cancelled: TOO_LONG,
  workers_out_of_memory: TOO_MUCH,
  workers_failed: 'it is damaged, or no PDF',
  workers_busy: 'too many documents are being read at the moment',
};

export interface TextDeps {
  readonly workers: Workers;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** What the process takes now. */
  memoryBytes(): number;
}

export interface Place {
  readonly dir: Dir;
  readonly path: string;
}

/** At most `maxChars` of it, and a line that says what is missing. */
export const plainText = async ({ size_bytes: sizeBytes }: UploadRow, { dir, path }: Place, maxChars: number): Promise<string> => {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let text = '';
  // Cut within a letter, its first bytes are left out.
  for await (const piece of dir.readStream(path, { end: Math.min(MAX_TEXT_BYTES, sizeBytes) })) {
    decoder ??= new TextDecoder(encodingOf(piece));
    text += decoder.decode(piece, { stream: true });
  }
  if (sizeBytes <= MAX_TEXT_BYTES && text.length <= maxChars) return text;
  return cut(text, maxChars, `of ${sizeBytes.toLocaleString('en')} bytes`);
};

export const pdfText = async (deps: TextDeps, upload: UploadRow, place: Place, maxChars: number): Promise<string> => {
  if (upload.size_bytes > MAX_PDF_BYTES) return note('it is too large to be read here');
  const bytes = await place.dir.read(place.path, { maxBytes: MAX_PDF_BYTES });
  const watch = watchReading(deps);
  try {
    const { text, pages, read, problem } = await deps.workers.run(PdfText, { bytes, maxPages: MAX_PDF_PAGES, maxChars }, { signal: watch.signal });
    if (problem !== undefined) return note(problem);
    if (text === '') return note(`none of its ${pages} pages has any; it may be scanned`);
    return read < pages || text.length > maxChars ? cut(text, maxChars, `of ${pages} pages, ${read} of which were read`) : text;
  } catch (error) {
    const why = isSvcError(error) ? (watch.verdict() ?? NOT_READ[error.code]) : undefined;
    if (why === undefined) throw error;
    deps.log.warn('the text of a PDF could not be read; a note replaces it', { upload: upload.id, cause: error });
    return note(why);
  } finally {
    watch.end();
  }
};

/** Aborts its signal when the reading takes too long, or too much. */
const watchReading = ({ clock, memoryBytes }: TextDeps): { signal: AbortSignal; verdict(): string | undefined; end(): void } => {
  const ended = new AbortController();
  const over = new AbortController();
  let verdict: string | undefined;
  const look = async (): Promise<void> => {
    const before = memoryBytes();
    for (let ms = 0; verdict === undefined; ms += POLL_EVERY_MS) {
      await clock.sleep(POLL_EVERY_MS, ended.signal);
      if (memoryBytes() - before > MAX_GROWTH_BYTES) verdict = TOO_MUCH;
      else if (ms >= PDF_MS) verdict = TOO_LONG;
    }
    over.abort();
  };
  // It rejects when the reading has ended.
  void look().catch(() => undefined);
  return { signal: over.signal, verdict: () => verdict, end: () => ended.abort() };
};

const note = (why: string): string => `[its text is not here: ${why}]`;

const cut = (text: string, maxChars: number, whole: string): string => {
  const shown = text.slice(0, maxChars);
  return `${shown}\n[cut: the first ${shown.length.toLocaleString('en')} characters are shown, ${whole}]`;
};
