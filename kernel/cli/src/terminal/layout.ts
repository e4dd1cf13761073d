/** Plain alignment: tables, facts and wrapped text that fit the terminal. Widths are counted without colour codes. */
import { typed } from '../typed-command.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with the escape character
const COLOUR_CODE = /\u001b\[[0-9;]*m/g;
const GAP = '  ';
const MIN_SHRUNK = 8;

export interface Column {
  readonly title: string;
  /** May be cut with `…` when the line is too long. Ids and names a person must copy are never cut. */
  readonly shrinks?: boolean;
  /** Is left out, the last of them first, where the line is still too long. */
  readonly givesWay?: boolean;
}

export const visibleLength = (text: string): number => [...text.replace(COLOUR_CODE, '')].length;

export const cut = (text: string, width: number): string => {
  const letters = [...text];
  return letters.length <= width ? text : `${letters.slice(0, Math.max(0, width - 1)).join('')}…`;
};

/** Lines no longer than `width`, broken at spaces; a word longer than that stays whole, so that it can be copied. */
export const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (line !== '' && visibleLength(line) + 1 + visibleLength(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '' || lines.length === 0) lines.push(line);
  return lines;
};

const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - visibleLength(text)));

/**
 * Rows under their titles. Too wide for the terminal: the shrinking columns give way first, then those that may be left
 * out; when that is not enough each row becomes a small block of `title value` lines. `paint` colours a cell after it was measured.
 */
export const table = (columns: readonly Column[], rows: ReadonlyArray<readonly string[]>, width: number, paint: Paint = (text) => text): string[] =>
  aligned(columns, rows, width, paint) ?? blocks(columns, rows, width, paint);

type Paint = (text: string, column: number, row: number) => string;

/** Undefined where no row fits. */
const aligned = (columns: readonly Column[], rows: ReadonlyArray<readonly string[]>, width: number, paint: Paint): string[] | undefined => {
  const widths = columns.map((column, index) => Math.max(visibleLength(column.title), ...rows.map((row) => visibleLength(row[index] ?? ''))));
  if (!shrink(columns, widths, width)) {
    const least = columns.findLastIndex(({ givesWay }) => givesWay === true);
    if (least < 0) return undefined;
    const left = rows.map((row) => row.toSpliced(least, 1));
    return aligned(columns.toSpliced(least, 1), left, width, (text, column, row) => paint(text, column < least ? column : column + 1, row));
  }
  const render = (cells: readonly string[], row: number): string =>
    cells
      .map((cell, index) => {
        const isLast = index === cells.length - 1;
        const text = columns[index]?.shrinks ? cut(cell, widths[index] ?? cell.length) : cell;
        return paint(isLast ? text : pad(text, widths[index] ?? 0), index, row);
      })
      .join(GAP);
  return [
    render(
      columns.map((column) => column.title),
      -1,
    ),
    ...rows.map(render),
  ].map((line) => line.trimEnd());
};

/** Narrows `widths` in place; false when even the narrowest does not fit. */
const shrink = (columns: readonly Column[], widths: number[], width: number): boolean => {
  const total = (): number => widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1);
  while (total() > width) {
    let widest = -1;
    for (const [index, column] of columns.entries()) {
      const size = widths[index] ?? 0;
      if (column.shrinks && size > MIN_SHRUNK && (widest < 0 || size > (widths[widest] ?? 0))) widest = index;
    }
    if (widest < 0) return false;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return true;
};

const blocks = (columns: readonly Column[], rows: ReadonlyArray<readonly string[]>, width: number, paint: Paint): string[] =>
  rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...facts(
      columns.flatMap((column, at): Array<[string, string]> => ((row[at] ?? '') === '' ? [] : [[column.title.toLowerCase(), row[at] ?? '']])),
      width,
      (text, at) =>
        paint(
          text,
          columns.findIndex((column) => column.title.toLowerCase() === at),
          index,
        ),
    ),
  ]);

/** `label  value` lines, values aligned and wrapped under themselves, commands in them as they can be typed here. An empty label continues the one above. */
export const facts = (pairs: ReadonlyArray<readonly [label: string, value: string]>, width: number, paint: (text: string, label: string) => string = (text) => text): string[] => {
  const indent = Math.max(0, ...pairs.map(([label]) => label.length)) + 2 + GAP.length;
  return pairs.flatMap(([label, value]) =>
    wrap(typed(value), Math.max(16, width - indent)).map((line, index) => `${GAP}${pad(index === 0 ? label : '', indent - GAP.length)}${paint(line, label)}`.trimEnd()),
  );
};

/** `3 s`, `5 min`, `2 h 10 min`, `4 d 3 h`. */
export const duration = (seconds: number): string => {
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
};

/** `1 byte`, `812 bytes`, `12 kB`, `3.4 MB`. */
export const bytesText = (count: number): string => {
  if (count < 1_000) return count === 1 ? '1 byte' : `${count} bytes`;
  const [value, unit] = count < 1_000_000 ? [count / 1_000, 'kB'] : [count / 1_000_000, 'MB'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${unit}`;
};

/** When it was or will be, as people say it: `just now`, `5 min ago`, `in 3 h`; further than a month, the day. */
export const agoText = (iso: string, now: number): string => {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (Number.isNaN(seconds)) return iso;
  if (Math.abs(seconds) < 60) return 'just now';
  if (Math.abs(seconds) > 30 * 86_400) return iso.slice(0, 10);
  // The larger unit says enough.
  const span = duration(Math.abs(seconds)).split(' ').slice(0, 2).join(' ');
  return seconds < 0 ? `in ${span}` : `${span} ago`;
};
