/** An answer as the command's declaration says: a table, a record, or one line. */
import { type CommandColumn, isTable } from '@svc/api';
import type { ResolvedCommand } from '@svc/installer/commands';
import type { Cli } from '../cli.js';
import { agoText, bytesText, duration, facts, table } from '../terminal/layout.js';
import { oneLine, printable } from '../terminal/terminal.js';

const MAX_CELL_CHARS = 2_000;

type Values = Readonly<Record<string, unknown>>;

export const printAnswer = (cli: Cli, { output }: ResolvedCommand, answer: unknown, given: Values): void => {
  if (output.kind === 'line') cli.out.line(`${cli.out.green('✓')} ${lineOf(output.text, answer, given)}`);
  else if (output.kind === 'record') for (const line of facts(recordOf(answer, output.fields), cli.out.width)) cli.out.line(line);
  else printTable(cli, output, answer);
};

const at = (value: unknown, field: string): unknown => field.split('.').reduce<unknown>((found, name) => (isTable(found) ? found[name] : undefined), value);

const lineOf = (text: string, answer: unknown, given: Values): string => text.replaceAll(/\{([^{}]+)\}/g, (_whole, name: string) => oneLine(plain(at(answer, name) ?? given[name]), MAX_CELL_CHARS));

const plain = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const recordOf = (answer: unknown, fields: ReadonlyArray<string | CommandColumn> | undefined): Array<[string, string]> => {
  const now = Date.now();
  // What is not there needs no line, and a text of several lines keeps them.
  return (fields ?? (isTable(answer) ? Object.keys(answer) : [])).flatMap((one): Array<[string, string]> => {
    const { field, title = field.replaceAll('_', ' ') } = typeof one === 'string' ? { field: one } : one;
    const text = typeof one === 'string' ? plain(at(answer, field)) : cellOf(at(answer, field), one, now);
    const lines = printable(text).split('\n');
    return lines.every((line) => line === '') ? [] : lines.map((line, index) => [index === 0 ? title : '', line]);
  });
};

const printTable = (cli: Cli, { columns, empty, rows: field }: Extract<ResolvedCommand['output'], { kind: 'table' }>, answer: unknown): void => {
  const found = field === undefined ? answer : at(answer, field);
  const rows = Array.isArray(found) ? found : [];
  if (rows.length === 0) {
    cli.out.line(printable(empty));
    return;
  }
  const now = Date.now();
  const cells = rows.map((row) => columns.map((column) => cellOf(at(row, column.field), column, now)));
  const heads = columns.map(({ field, givesWay, shrinks, title }) => ({ title: printable(title ?? headOf(field)), shrinks: shrinks === true, givesWay: givesWay === true }));
  const paint = (text: string, column: number, row: number): string => (row < 0 || columns[column]?.format === 'ago' ? cli.out.dim(text) : text);
  for (const line of table(heads, cells, cli.out.width, paint)) cli.out.line(line);
  const more = moreOf(answer, rows.length);
  if (more !== undefined) cli.out.note(cli.out.dim(more));
};

const headOf = (field: string): string => (field.split('.').at(-1) ?? field).replaceAll('_', ' ').toUpperCase();

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, min: 60, h: 3_600, d: 86_400 };

const cellOf = (value: unknown, { format, none = '', unit = 's', zero }: CommandColumn, now: number): string => {
  if (value === 0 && zero !== undefined) return zero;
  if (value === undefined || value === null) return none;
  if (format === 'percent' && typeof value === 'number') return `${value} %`;
  if (format === 'yes' && typeof value === 'boolean') return value ? 'yes' : 'no';
  if (format === 'duration' && typeof value === 'number') return duration(value * (UNIT_SECONDS[unit] ?? 1));
  if (format === 'ago') return agoText(String(value), now);
  if (format === 'bytes' && typeof value === 'number') return bytesText(value);
  if (format === 'number' && typeof value === 'number') return value.toLocaleString('en-US');
  if (format === 'usd' && typeof value === 'number') return `$${value.toFixed(value !== 0 && Math.abs(value) < 0.01 ? 4 : 2)}`;
  return oneLine(plain(value), MAX_CELL_CHARS);
};

/** Both ways in which the interface hands out pages. */
const moreOf = (answer: unknown, shown: number): string | undefined => {
  if (!isTable(answer)) return undefined;
  if (typeof answer.next === 'string') return `There are more: --after ${answer.next}`;
  const offset = typeof answer.offset === 'number' ? answer.offset : 0;
  return typeof answer.total === 'number' && answer.total > offset + shown ? `There are ${answer.total}: --offset ${offset + shown} shows those after these.` : undefined;
};
