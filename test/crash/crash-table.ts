/** The table that the crash test prints, as Markdown whose columns stand in line on a terminal too. */
import type { Account } from './account.js';

export interface Row {
  readonly where: string;
  readonly points: number | string;
  readonly kills: number;
  readonly account: Account;
}

const HEAD = ['died at', 'points', 'kills', 'acknowledged', 'lost', 'repeated', 'told unknown', 'stuck sessions', 'answered twice'];

export const crashTable = (rows: readonly Row[]): string => {
  const cells = rows.map(({ where, points, kills, account: a }) => [where, points, kills, a.acknowledged, a.lost, a.repeated, a.unknownTold, a.stuck, a.answeredTwice].map(String));
  const widths = HEAD.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(HEAD), rule, ...cells.map(line)].join('\n');
};

/** The family of a point: what its name says before the details. */
export const familyOf = (point: string): string => {
  const [, what = point] = /^(?:before|after|within) (.*)$/.exec(point) ?? [];
  if (what.startsWith('commit')) return what.endsWith('migration') ? 'migrations' : what.startsWith('commit journal') ? 'journal commits' : 'other commits';
  if (what.startsWith('fetch')) return `fetch (${what.split(' ')[1]})`;
  if (what.startsWith('exec')) return 'processes';
  if (what.startsWith('file')) return 'files';
  return 'tool effects';
};
