/** The worker that reads the text of a PDF: what it is given and what it gives. */
import { type Plain, Type, defineWorker } from '@svc/api';

export const PdfInput = Type.Object({
  bytes: Type.Unsafe<Uint8Array>({ description: 'The whole file' }),
  maxPages: Type.Integer(),
  maxChars: Type.Integer({ description: 'Pages after as many are not read' }),
});
export type PdfInput = Plain<typeof PdfInput>;

export const PdfOutput = Type.Object({
  text: Type.String({ description: 'Perhaps somewhat longer than asked for: by what its last page has' }),
  pages: Type.Integer({ description: 'In the document' }),
  read: Type.Integer({ description: 'Pages that the text is of' }),
  problem: Type.Optional(Type.String({ description: 'Why nothing could be read, for a model to know' })),
});
export type PdfOutput = Plain<typeof PdfOutput>;

export const PdfText = defineWorker('files.pdf-text', { input: PdfInput, output: PdfOutput });
