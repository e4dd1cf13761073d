/** What was said before, kept across starts: one JSON string per line, so that ten lines stay one message. Plain lines of earlier builds are read as they are. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const MAX_KEPT = 500;
/** A pasted file is not worth keeping. */
const MAX_CHARS = 20_000;

export interface ChatHistory {
  /** Oldest first. */
  readonly entries: readonly string[];
  add(text: string): void;
}

export const openHistory = (home: string): ChatHistory => {
  const file = path.join(home, 'chat-history');
  const entries = read(file);
  return {
    get entries() {
      return entries;
    },
    add: (text) => {
      if (text.length > MAX_CHARS || entries.at(-1) === text) return;
      const before = entries.indexOf(text);
      if (before >= 0) entries.splice(before, 1);
      entries.push(text);
      entries.splice(0, entries.length - MAX_KEPT);
      // Without a home there is nothing to come back to.
      if (existsSync(home)) writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
    },
  };
};

const read = (file: string): string[] => {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap(entryOf).slice(-MAX_KEPT);
};

const entryOf = (line: string): string[] => {
  if (line === '') return [];
  if (!line.startsWith('"')) return [line];
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return [line]; // a line of an earlier build that begins with a quote
  }
};
