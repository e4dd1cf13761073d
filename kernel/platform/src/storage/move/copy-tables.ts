/** Copies tables in batches, each with its progress in one transaction of the target, and compares what arrived. */
import { isSvcError } from '@svc/api';
import { moveErrors } from './errors.js';
import { PROGRESS_TABLE } from './marks.js';
import type { Cells, MoveEnd, MoveTable } from './move-end.js';
import { createRowSum } from './row-sum.js';

export interface MoveProgress {
  readonly step: 'copy' | 'compare';
  readonly table: string;
  readonly rows: number;
  readonly total: number;
}

export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
  /** Of all its rows, whatever their order; 32 hexadecimal digits. */
  readonly sum: string;
}

export interface Copying {
  readonly source: MoveEnd;
  readonly target: MoveEnd;
  /** U+FFFD in the place of NUL characters, where the target cannot store them. */
  readonly replacesNul: boolean;
  /** Between two batches, with how long the last one took: lets others work. */
  readonly pause?: ((workMs: number) => Promise<void>) | undefined;
  onProgress(progress: MoveProgress): void;
}

interface Place extends CopiedTable {
  readonly place: string | undefined;
  readonly isDone: boolean;
}

/** Goes on where an earlier attempt stopped. */
export const copyTable = async (copying: Copying, table: MoveTable): Promise<CopiedTable> => {
  const { source, target } = copying;
  const begun = await placeOf(target, table.name);
  if (begun.isDone) return { name: table.name, rows: begun.rows, sum: begun.sum };
  const total = Number((await source.query(`SELECT count(*) AS n FROM ${table.name}`))[0]?.n);
  const sum = createRowSum(begun.sum);
  const say = (rows: number): void => copying.onProgress({ step: 'copy', table: table.name, rows, total });
  let { place, rows } = begun;
  say(rows);
  for (;;) {
    const startedMs = performance.now();
    const batch = await source.read(table, place);
    const taken = target.dialect === 'postgres' ? batch.rows.map((row) => withoutNul(copying, table, row)) : batch.rows;
    for (const row of taken) sum.add(row);
    rows += taken.length;
    const isDone = batch.next === undefined;
    const counter = isDone && table.counted !== undefined ? [target.setCounter(table, await source.counter(table))] : [];
    await write(copying, table, taken, [...counter, progressSql(target, { name: table.name, rows, sum: sum.text(), place: batch.next ?? place, isDone })]);
    say(rows);
    if (isDone) return { name: table.name, rows, sum: sum.text() };
    place = batch.next;
    await copying.pause?.(performance.now() - startedMs);
  }
};

/** What the target has, read back. */
export const readBack = async ({ onProgress, target }: Pick<Copying, 'target' | 'onProgress'>, table: MoveTable, total: number): Promise<CopiedTable> => {
  const sum = createRowSum();
  let rows = 0;
  for (let place: string | undefined; ; ) {
    const batch = await target.read(table, place);
    for (const row of batch.rows) sum.add(row);
    rows += batch.rows.length;
    onProgress({ step: 'compare', table: table.name, rows, total });
    if (batch.next === undefined) return { name: table.name, rows, sum: sum.text() };
    place = batch.next;
  }
};

/** Takes away what arrived of a table, so that it is copied anew. */
export const forgetTable = (target: MoveEnd, name: string): string[] => [`DELETE FROM ${name}`, `DELETE FROM ${PROGRESS_TABLE} WHERE name = ${target.literal(name)}`];

const placeOf = async (target: MoveEnd, name: string): Promise<Place> => {
  const [row] = await target.query(`SELECT rows, sum, place, done FROM ${PROGRESS_TABLE} WHERE name = ${target.literal(name)}`);
  if (!row) return { name, rows: 0, sum: '', place: undefined, isDone: false };
  return { name, rows: Number(row.rows), sum: String(row.sum), place: row.place === null ? undefined : String(row.place), isDone: Number(row.done) === 1 };
};

const progressSql = ({ literal }: MoveEnd, { isDone, name, place, rows, sum }: Place): string =>
  `INSERT INTO ${PROGRESS_TABLE}(name, rows, sum, place, done) VALUES(${[name, rows, sum, place ?? null, isDone ? 1 : 0].map(literal).join()})
  ON CONFLICT (name) DO UPDATE SET rows = excluded.rows, sum = excluded.sum, place = excluded.place, done = excluded.done`;

const withoutNul = ({ replacesNul }: Copying, table: MoveTable, row: Cells): Cells => {
  const at = row.findIndex((cell) => cell?.includes('\0'));
  if (at < 0) return row;
  if (!replacesNul) throw moveErrors.move_nul(table.name, table.columns[at]?.name ?? '', keyText(table, row));
  return row.map((cell) => cell?.replaceAll('\0', '\ufffd') ?? null);
};

const write = async ({ target }: Copying, table: MoveTable, rows: readonly Cells[], then: readonly string[]): Promise<void> => {
  try {
    await target.write(table, rows, then);
  } catch (error) {
    throw (await refusedRow(target, table, rows)) ?? error;
  }
};

/** The first row that the target does not take by itself; undefined where it takes each. */
const refusedRow = async (target: MoveEnd, table: MoveTable, rows: readonly Cells[]): Promise<Error | undefined> => {
  for (const row of rows) {
    try {
      // Nothing stays: the last statement fails.
      await target.write(table, [row], [NEVER]);
    } catch (error) {
      const why = isSvcError(error) || !(error instanceof Error) ? String(error) : error.message;
      if (!why.includes(NEVER_THERE)) return moveErrors.move_row(table.name, keyText(table, row), target.place, why).with({ cause: error });
    }
  }
  return undefined;
};

const NEVER_THERE = 'kernel_move_never';
const NEVER = `SELECT 1 FROM ${NEVER_THERE}`;

const keyText = ({ columns, key }: MoveTable, row: Cells): string => key.map((name) => `${name} ${JSON.stringify(row[columns.findIndex((column) => column.name === name)] ?? null)}`).join(', ');
