/** Log lines for a person at a terminal: time, level, area, message, key=value. */
import type { LogLine } from './log-line.js';

const MAX_BUFFERED_BYTES = 1024 * 1024;
const MAX_VALUE_CHARS = 200;
const COLOURS: Readonly<Record<string, string>> = { trace: '90', debug: '90', info: '36', warn: '33', error: '31' };

export type TerminalStream = NodeJS.WritableStream & { isTTY?: boolean; writableLength?: number };

export interface TerminalSink {
  write(line: LogLine): void;
  close(): void;
}

export const createTerminalSink = (stream: TerminalStream, env: Readonly<Record<string, string | undefined>>): TerminalSink => {
  const colour = stream.isTTY === true && !env.NO_COLOR;
  let gone = false;
  // A closed pipe (`svc start | head`) must not take the daemon down.
  const onError = (): void => {
    gone = true;
  };
  stream.on('error', onError);
  return {
    write: (line) => {
      // A terminal that does not read is left behind rather than buffered without end.
      if (gone || (stream.writableLength ?? 0) > MAX_BUFFERED_BYTES) return;
      stream.write(`${render(line, colour)}\n`);
    },
    close: () => {
      gone = true;
      stream.removeListener('error', onError);
    },
  };
};

const render = (line: LogLine, colour: boolean): string => {
  const paint = (text: string, code: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const time = paint(line.timestamp.slice(11, 19), '90');
  const level = paint(line.level.padEnd(5), COLOURS[line.level] ?? '0');
  const fields = Object.entries(line.fields).map(([key, value]) => `${paint(`${key}=`, '90')}${short(value)}`);
  const scope = line.request_id === undefined ? [] : [`${paint('request=', '90')}${line.request_id}`];
  return [time, level, paint(line.target.padEnd(10), '1'), visible(line.message), ...fields, ...scope].join(' ');
};

const short = (value: unknown): string => {
  // Of an error a person at the terminal wants the sentence; the stack is in the file.
  const shown = typeof value === 'object' && value !== null && 'stack' in value && 'message' in value ? value.message : value;
  const text = typeof shown === 'string' && /^[\w./:@-]*$/.test(shown) && shown !== '' ? shown : JSON.stringify(shown);
  return visible(text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text);
};

/** What agents and peers send may hold terminal control sequences, or turn the direction of writing; they are shown, not obeyed. */
const visible = (text: string): string => text.replace(CONTROLS, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`).replace(TURNS, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const TURNS = /[\u202a-\u202e\u2066-\u2069\u2028\u2029]/g;
