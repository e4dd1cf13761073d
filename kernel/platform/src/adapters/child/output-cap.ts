/** Keeps the beginning of what a child writes, up to a cap per stream; the rest is read and dropped, so that the child never stands still. */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

export interface OutputCap {
  stdout(): string;
  stderr(): string;
  isTruncated(): boolean;
}

export const createOutputCap = (child: ChildProcess, maxBytes: number): OutputCap => {
  const out = collect(child.stdout, maxBytes);
  const err = collect(child.stderr, maxBytes);
  return { stdout: out.text, stderr: err.text, isTruncated: () => out.isTruncated() || err.isTruncated() };
};

const collect = (stream: Readable | null, maxBytes: number): { text: () => string; isTruncated: () => boolean } => {
  const parts: Buffer[] = [];
  let bytes = 0;
  let isTruncated = false;
  stream?.on('data', (chunk: Buffer) => {
    const room = maxBytes - bytes;
    if (chunk.length > room) isTruncated = true;
    if (room <= 0) return;
    parts.push(chunk.subarray(0, room));
    bytes += Math.min(chunk.length, room);
  });
  // A pipe that breaks has said all it will; the exit status tells the rest.
  stream?.on('error', () => undefined);
  return {
    // Without the last call a character that the cap cut in two is left out.
    text: () => new TextDecoder().decode(Buffer.concat(parts), { stream: isTruncated }),
    isTruncated: () => isTruncated,
  };
};
