/** A form with one file, as multipart/form-data (RFC 7578). */
import { createHash } from 'node:crypto';

/** Servers tell a recording's kind by the end of its name. */
const ENDINGS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/ogg': 'ogg',
  'audio/opus': 'ogg',
  'audio/flac': 'flac',
  'audio/x-flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/m4a': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/webm': 'webm',
};

interface Form {
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly file: { readonly name: string; readonly type: string; readonly data: Uint8Array };
}

export const formOf = ({ fields, file }: Form): { readonly type: string; readonly bytes: Uint8Array } => {
  // A line of the file can equal a boundary made of its own hash by no design.
  const boundary = `svc-${createHash('sha256').update(file.data).digest('hex').slice(0, 40)}`;
  const parts: Uint8Array[] = [];
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) parts.push(Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`));
  const filename = `recording.${ENDINGS[file.type] ?? 'bin'}`;
  parts.push(Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${file.name}"; filename="${filename}"\r\ncontent-type: ${file.type}\r\n\r\n`), file.data);
  parts.push(Buffer.from(`\r\n--${boundary}--\r\n`));
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(parts) };
};
