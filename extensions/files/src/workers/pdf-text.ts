/** Reads the text of a PDF, page by page, off the main thread: a document may be built to take for ever, and then its thread is ended. */
import { getDocumentProxy } from 'unpdf';
import type { PdfInput, PdfOutput } from './pdf-worker.js';

/** The library's own words for how much it says: errors, which are thrown as well. */
const QUIET = 0;

const pdfText = async ({ bytes, maxPages, maxChars }: PdfInput): Promise<PdfOutput> => {
  try {
    // No scripts of the document run in this library, and nothing is fetched: it gets its bytes, and no address.
    const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: QUIET, stopAtErrors: false, disableFontFace: true, useSystemFonts: false });
    try {
      return await textOf(document, Math.min(document.numPages, maxPages), maxChars);
    } finally {
      await document.destroy();
    }
  } catch (error) {
    return { text: '', pages: 0, read: 0, problem: problemOf(error) };
  }
};

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;

const textOf = async (document: Document, last: number, maxChars: number): Promise<PdfOutput> => {
  const pages: string[] = [];
  let chars = 0;
  for (let number = 1; number <= last && chars < maxChars; number++) {
    const text = await pageText(document, number);
    chars += text.length;
    pages.push(text);
  }
  return { text: pages.join('\n\n').trim(), pages: document.numPages, read: pages.length };
};

/** One page that cannot be read costs no other. */
const pageText = async (document: Document, number: number): Promise<string> => {
  try {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return items.map(lettersOf).join('');
  } catch {
    return `[page ${number} cannot be read]`;
  }
};

/** Items without letters mark where something begins. */
const lettersOf = (item: object): string => {
  const letters = 'str' in item ? String(item.str) : '';
  return 'hasEOL' in item && item.hasEOL ? `${letters}\n` : letters;
};

const problemOf = (error: unknown): string => (error instanceof Error && error.name === 'PasswordException' ? 'it is protected by a password' : 'it is damaged, or no PDF');

export default pdfText;
