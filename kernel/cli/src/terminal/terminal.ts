/** How the CLI speaks: colours, width, one place for stdout and stderr. Plain as soon as nobody watches. */
import pc from 'picocolors';

const CLEAR = '\u001b[2J\u001b[H';

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
  /** An empty screen, with the cursor at its beginning. */
  clear(): void;
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
    line: (text = '') => void process.stdout.write(`${shown(text, !isPlain)}\n`),
    // Files and programs are given text as it is.
    write: (text) => void process.stdout.write(isTty ? shown(text, !isPlain) : text),
    clear: () => void process.stdout.write(CLEAR),
    note: (text) => void process.stderr.write(`${shown(text, !isPlain)}\n`),
    json: (value) => void process.stdout.write(`${jsonText(value)}\n`),
  };
};

/** Reverses or embeds the direction of writing, or breaks a line: a name with one of them reads as another one. */
const TURNING = '\u202a-\u202e\u2066-\u2069\u2028\u2029';
const TURNS = new RegExp(`[${TURNING}]`, 'gu');
/** Beyond ASCII, JSON has control characters and these as they are. */
const UNSAFE_IN_JSON = new RegExp(`[\\u007f-\\u009f${TURNING}]`, 'gu');
/** The codes that this module writes itself. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes of colours
const PAINT = /(\u001b\[(?:[0-2]|22|3[0-7]|39|90)m)/;

const named = (mark: string): string => `\\u{${mark.codePointAt(0)?.toString(16) ?? ''}}`;

/**
 * Text from a model, a tool or a log may hold escape codes that move the cursor or retitle the
 * window: only line breaks and tabs pass. What turns the direction of writing is shown as what it is.
 */
export const printable = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,500}(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
    .replace(TURNS, named);

/** The last place before a terminal: whatever a command prints, only its colours are codes. */
export const shown = (text: string, isColoured: boolean): string =>
  isColoured
    ? text
        .split(PAINT)
        .map((part, n) => (n % 2 === 1 ? part : printable(part)))
        .join('')
    : printable(text);

/** The same value to each reader of JSON. */
export const jsonText = (value: unknown): string => (JSON.stringify(value, null, 2) ?? 'null').replace(UNSAFE_IN_JSON, (mark) => `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);

/** Printable, on one line, and no longer than `max` characters and a mark that there was more. */
export const oneLine = (text: string, max: number): string => {
  // Marks of the direction of writing and the like are shown as what they are: a line must not read as another one.
  const flat = printable(text)
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, named)
    .replace(/\s+/g, ' ')
    .trim();
  return flat.length > max ? `${flat.slice(0, max)}…` : flat;
};
