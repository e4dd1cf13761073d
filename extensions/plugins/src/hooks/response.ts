/**
 * Which line of a script's output is its response.
 *
 * R1  From the last line upward, the first line that parses as JSON, whatever it is. Lines that are not UTF-8 do not parse.
 * R2  No line parses: the response is lost.
 */

export interface Taken {
  readonly value: unknown;
  /** From 1. */
  readonly line: number;
}

const NEWLINE = 10;

export const responseIn = (output: Uint8Array): Taken | undefined => {
  const bytes = Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let end = bytes.length;
  for (;;) {
    const start = end === 0 ? 0 : bytes.lastIndexOf(NEWLINE, end - 1) + 1;
    const found = parsed(utf8, bytes.subarray(start, end));
    if (found) return { value: found.value, line: lineAt(bytes, start) };
    if (start === 0) return undefined;
    end = start - 1;
  }
};

const parsed = (utf8: { decode(data: Uint8Array): string }, line: Uint8Array): { readonly value: unknown } | undefined => {
  if (line.length === 0) return undefined;
  try {
    return { value: JSON.parse(utf8.decode(line)) };
  } catch {
    return undefined; // a line of a log
  }
};

const lineAt = (bytes: Buffer, start: number): number => {
  let line = 1;
  for (let at = bytes.indexOf(NEWLINE); at !== -1 && at < start; at = bytes.indexOf(NEWLINE, at + 1)) line++;
  return line;
};
