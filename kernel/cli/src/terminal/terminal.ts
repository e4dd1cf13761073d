/** How the CLI speaks: colours, width, one place for stdout and stderr. Plain as soon as nobody watches. */
import pc from 'picocolors';

type Paint = (text: string) => string;

export interface Terminal {
  /** Columns to fill; Infinity when stdout is a file or a pipe, so that nothing is cut for a program. */
  readonly width: number;
  /** Whether a person sees stdout. */
  readonly isTty: boolean;
  /** Whether a person can also answer. */
  readonly canAsk: boolean;
  readonly isColoured: boolean;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
  line(text?: string): void;
  write(text: string): void;
  /** To stderr: progress, notes and errors, so that stdout stays the result. */
  note(text: string): void;
  json(value: unknown): void;
}

/** `noColor` is the flag; NO_COLOR and a dumb terminal count as well. */
export const createTerminal = (noColor: boolean): Terminal => {
  const isTty = process.stdout.isTTY === true;
  const isPlain = noColor || !isTty || (process.env.NO_COLOR ?? '') !== '' || process.env.TERM === 'dumb';
  const paint = pc.createColors(!isPlain);
  return {
    width: isTty ? Math.max(20, process.stdout.columns || 80) : Number.POSITIVE_INFINITY,
    isTty,
    canAsk: isTty && process.stdin.isTTY === true,
    isColoured: !isPlain,
    bold: paint.bold,
    dim: paint.dim,
    red: paint.red,
    green: paint.green,
    yellow: paint.yellow,
    cyan: paint.cyan,
    line: (text = '') => void process.stdout.write(`${text}\n`),
    write: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(`${text}\n`),
    json: (value) => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
  };
};

/**
 * Text from a model, a tool or a log may hold escape codes that move the cursor or retitle the
 * window; only line breaks and tabs pass.
 */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,500}(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');

/** Printable, on one line, and no longer than `max` characters and a mark that there was more. */
export const oneLine = (text: string, max: number): string => {
  // Marks of the direction of writing and the like are shown as what they are: a line must not read as another one.
  const flat = printable(text)
    .replace(/(?![\u200c\u200d])[\p{Cf}\u2028\u2029]/gu, (mark) => `\\u{${mark.codePointAt(0)?.toString(16) ?? ''}}`)
    .replace(/\s+/g, ' ')
    .trim();
  return flat.length > max ? `${flat.slice(0, max)}…` : flat;
};
