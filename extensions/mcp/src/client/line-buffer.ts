/** The last lines that a server wrote to its standard error. */
const MAX_LINES = 200;
const MAX_CHARS = 1_000;

export interface LineBuffer {
  add(piece: Uint8Array): void;
  /** What was begun is a line. */
  end(): void;
  note(line: string): void;
  lines(): readonly string[];
}

export const createLineBuffer = (): LineBuffer => {
  const kept: string[] = [];
  let open = '';
  let decoder = new TextDecoder();
  const push = (line: string): void => {
    // Escapes of terminals say nothing on a page.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken away.
    const plain = line.replace(/\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g, '').slice(0, MAX_CHARS);
    if (plain.trim() === '') return;
    kept.push(plain);
    if (kept.length > MAX_LINES) kept.shift();
  };
  return {
    add: (piece) => {
      const parts = (open + decoder.decode(piece, { stream: true })).split(/\r\n|[\n\r]/);
      open = (parts.pop() ?? '').slice(0, MAX_CHARS);
      for (const line of parts) push(line);
    },
    end: () => {
      push(open);
      open = '';
      decoder = new TextDecoder();
    },
    note: push,
    lines: () => [...kept],
  };
};
