/** What comes and goes over the socket. */
import { isTable, type TerminalSize } from '@svc/api';
import { terminalErrors } from './errors.js';

export const DEFAULT_SIZE: TerminalSize = { cols: 120, rows: 40 };
const MAX_COLS = 1_000;
const MAX_ROWS = 500;
const WINDOW = /^@\d{1,6}$/;
const MAX_INPUT_CHARS = 32_768;

export type ClientFrame =
  | { readonly type: 'input'; readonly data: string }
  | ({ readonly type: 'resize' } & TerminalSize)
  | { readonly type: 'switch_window'; readonly window: string }
  | { readonly type: 'unlock'; readonly code: string }
  | { readonly type: 'close' };

const isWithin = (value: unknown, most: number): value is number => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;

export const isWindow = (text: string): boolean => WINDOW.test(text);

/** Of a query. Throws `terminal_bad_size`. */
export const sizeOf = ({ cols, rows }: { readonly cols?: string | undefined; readonly rows?: string | undefined }): TerminalSize => {
  const size = { cols: cols === undefined ? DEFAULT_SIZE.cols : Number(cols), rows: rows === undefined ? DEFAULT_SIZE.rows : Number(rows) };
  if (!isWithin(size.cols, MAX_COLS) || !isWithin(size.rows, MAX_ROWS)) throw terminalErrors.bad_size();
  return size;
};

/** Throws `terminal_bad_frame`. */
export const frameOf = (text: string): ClientFrame => {
  const frame = parsed(text);
  if (!isTable(frame)) throw terminalErrors.bad_frame('it is no JSON object');
  const { type, data, cols, rows, window, code } = frame;
  if (type === 'input' && typeof data === 'string' && data.length <= MAX_INPUT_CHARS) return { type, data };
  if (type === 'resize' && isWithin(cols, MAX_COLS) && isWithin(rows, MAX_ROWS)) return { type, cols, rows };
  if (type === 'switch_window' && typeof window === 'string' && isWindow(window)) return { type, window };
  if (type === 'unlock' && typeof code === 'string' && code.length <= 64) return { type, code };
  if (type === 'close') return { type };
  throw terminalErrors.bad_frame(`"${String(type).slice(0, 40)}" is no frame, or a field of it is wrong`);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

export interface OutputFrame {
  readonly type: 'output';
  readonly data: string;
  /** Base64, where it is no UTF-8. */
  readonly binary?: true;
}

/** Bytes as frames: a letter that is cut stays until its rest comes. */
export const createOutputFrames = (): ((piece: Uint8Array) => OutputFrame | undefined) => {
  let rest: Uint8Array = new Uint8Array();
  return (piece) => {
    const bytes = rest.byteLength === 0 ? piece : Buffer.concat([rest, piece]);
    const whole = bytes.byteLength - cutAtEnd(bytes);
    rest = Buffer.from(bytes.subarray(whole));
    if (whole === 0) return undefined;
    const shown = bytes.subarray(0, whole);
    try {
      return { type: 'output', data: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(shown) };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return { type: 'output', data: Buffer.from(shown).toString('base64'), binary: true };
    }
  };
};

/** How many bytes at the end begin a letter that is not whole. */
const cutAtEnd = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.byteLength); back += 1) {
    const byte = bytes[bytes.byteLength - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
};
