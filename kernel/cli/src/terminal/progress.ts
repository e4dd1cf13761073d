/** One calm line while something takes a moment; nothing where nobody watches, and nothing for what is quick. */
import type { Terminal } from './terminal.js';

const SHOW_AFTER_MS = 300;
const STEP_MS = 500;

export interface Progress {
  /** Call it as often as you like. */
  tick(): void;
  /** Takes the line away. */
  end(): void;
}

export const progress = (out: Terminal, label: string): Progress => {
  const startedAt = Date.now();
  let shown = '';
  const draw = (text: string): void => {
    if (text === shown) return;
    process.stderr.write(`\r${text}${' '.repeat(Math.max(0, shown.length - text.length))}`);
    shown = text;
  };
  const isWatched = out.isTty && process.stderr.isTTY === true;
  return {
    tick: () => {
      const elapsed = Date.now() - startedAt;
      if (isWatched && elapsed >= SHOW_AFTER_MS) draw(`${label}${'.'.repeat(1 + (Math.floor(elapsed / STEP_MS) % 3))}`);
    },
    end: () => {
      if (shown !== '') process.stderr.write(`\r${' '.repeat(shown.length)}\r`);
      shown = '';
    },
  };
};

/** Shows the line for as long as the work takes. */
export const watched = async <T>(out: Terminal, label: string, work: Promise<T>): Promise<T> => {
  const line = progress(out, label);
  const timer = setInterval(() => line.tick(), SHOW_AFTER_MS / 3);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    line.end();
  }
};
