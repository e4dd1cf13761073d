/** A command on a pseudo terminal, and its screen as a person sees it: what it writes is read by a terminal emulator. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import xterm from '@xterm/headless';
import { ended, MAIN, optionsOf, type Ran } from '../program.js';

/** Each is ten milliseconds of rest. */
const MAX_TRIES = 1_500;

export interface PseudoTerminal {
  /** Rows that are drawn now, without the empty ones at the end. */
  readonly rows: () => string[];
  type(keys: string): void;
  /** As a terminal sends what was pasted. */
  paste(text: string): void;
  /** Waits until the screen shows this text. */
  shows(text: string): Promise<void>;
  /** Waits until it does not any more. */
  hides(text: string): Promise<void>;
  readonly end: Promise<Ran>;
  readonly child: ChildProcessWithoutNullStreams;
}

export const openTerminal = (args: readonly string[], columns: number, options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string }): PseudoTerminal => {
  const emulator = new xterm.Terminal({ cols: columns, rows: 60, allowProposedApi: true, scrollback: 500 });
  const command = [process.execPath, ...optionsOf(args), MAIN, ...args].map((part) => `'${part}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 60; ${command}`, '/dev/null'], options);
  const end = ended(child);
  child.stdout.on('data', (piece: string) => emulator.write(piece));
  // What the emulator answers to questions about itself goes back, as from a real one.
  emulator.onData((answer) => child.stdin.write(answer));
  const rows = (): string[] => {
    const { active } = emulator.buffer;
    const lines = Array.from({ length: active.length }, (_, index) => active.getLine(index)?.translateToString(true).trimEnd() ?? '');
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  };
  const until = async (wanted: string, ready: () => boolean): Promise<void> => {
    for (let tries = 0; !ready(); tries++) {
      if (tries > MAX_TRIES) throw new Error(`the screen never ${wanted}; it is\n${rows().join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  return {
    rows,
    type: (keys) => child.stdin.write(keys),
    paste: (text) => child.stdin.write(`\u001b[200~${text}\u001b[201~`),
    shows: (text) => until(`showed ${text}`, () => rows().some((row) => row.includes(text))),
    hides: (text) => until(`lost ${text}`, () => !rows().some((row) => row.includes(text))),
    end,
    child,
  };
};
