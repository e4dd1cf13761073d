/** The table that the crash test prints. */
import { markdownTable } from './markdown-table.js';
import { type Account, addAccounts, emptyAccount } from './account.js';

export interface Row {
  readonly where: string;
  /** 0 where the moments were random. */
  points: number;
  kills: number;
  readonly account: Account;
}

const HEAD = ['killed at', 'points', 'kills', 'acknowledged', 'lost', 'repeated', 'told unknown', 'stuck sessions', 'answered twice'];

export const crashTable = (rows: readonly Row[]): string => {
  const total: Row = { where: 'all', points: 0, kills: 0, account: emptyAccount() };
  for (const row of rows) {
    total.points += row.points;
    total.kills += row.kills;
    addAccounts(total.account, row.account);
  }
  return markdownTable(HEAD, [...rows, total].map(cellsOf));
};

const cellsOf = ({ where, points, kills, account }: Row): string[] => [
  where,
  points === 0 ? '-' : String(points),
  ...[kills, account.acknowledged, account.lost, account.repeated, account.unknownReported, account.stuck, account.answeredTwice].map(String),
];

/** Rows by family of point. */
export class CrashRows {
  readonly #rows = new Map<string, Row>();

  of(where: string): Row {
    const row = this.#rows.get(where) ?? { where, points: 0, kills: 0, account: emptyAccount() };
    this.#rows.set(where, row);
    return row;
  }

  all(): Row[] {
    return [...this.#rows.values()];
  }

  problems(): string[] {
    return this.all().flatMap(({ account }) => account.problems);
  }
}

/** The family of a point: what its name says before the details. */
export const familyOf = (point: string): string => {
  const what = point.replace(/^(before|after|within) /, '');
  if (what.startsWith('commit')) return what.includes(': migration') ? 'migrations' : what.startsWith('commit journal') ? 'journal commits' : 'other commits';
  if (what.startsWith('fetch')) return `fetch (${what.split(' ')[1]})`;
  if (what.startsWith('exec')) return 'processes';
  if (what.startsWith('file')) return 'files';
  return 'tool effects';
};
