/** What is piped into a command. */
import { Failure } from '../failure.js';

export const readStdin = async (): Promise<string> => {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text;
};

/** As bytes, and no more than so many. */
export const readStdinBytes = async (maxBytes: number): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of process.stdin) {
    const bytes = Buffer.from(part);
    size += bytes.byteLength;
    if (size > maxBytes) throw new Failure('What comes from stdin is too large.', { code: 'cli_file_too_large', why: `more than ${maxBytes} bytes` });
    parts.push(bytes);
  }
  return Buffer.concat(parts);
};
