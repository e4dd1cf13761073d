/**
 * Carries out one batch of commits: all in one transaction; when that fails, whose fault it was
 * is found without taking the others down (Q3, Q4 of write-queue.ts).
 */
import type { SvcError } from '@svc/api';
import { type BatchEndDeps, isOneCommitsFault, refuse, settle, timed, type Waiting } from '../contract/batch-end.js';
import { storageErrors } from '../contract/errors.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { CHANGES_TABLE } from './sqlite-dialect.js';
import { mapSqliteError } from './sqlite-errors.js';

export interface BatchDeps extends BatchEndDeps {
  readonly connection: SqliteConnection;
}

/** Never rejects: each commit's end is told to whoever waits for it. */
export const runBatch = async (deps: BatchDeps, batch: readonly Waiting[]): Promise<void> => {
  try {
    await timed(deps, () => deps.connection.exec(transactionOf(batch)));
  } catch (error) {
    await recover(deps, batch, error);
    return;
  }
  await finish(deps, batch);
};

const transactionOf = (batch: readonly Waiting[]): string => {
  let sql = batch.some(({ unit }) => unit.counted) ? `BEGIN IMMEDIATE;DELETE FROM ${CHANGES_TABLE};` : 'BEGIN IMMEDIATE;';
  for (const { unit } of batch) sql += unit.sql;
  return `${sql}COMMIT;`;
};

/** After COMMIT: nothing may lead back to running the batch again. */
const finish = async (deps: BatchDeps, committed: readonly Waiting[]): Promise<void> => {
  try {
    if (committed.some(({ unit }) => unit.counted)) await readCounts(deps.connection, committed);
  } catch (error) {
    for (const waiting of committed) refuse(deps, waiting, storageErrors.io().with({ cause: error }));
    return;
  }
  settle(deps, committed);
};

/** Adds what only the database knew to the commits' results. The rows are this connection's own and outlive the COMMIT. */
const readCounts = async (connection: SqliteConnection, batch: readonly Waiting[]): Promise<void> => {
  const units = new Map(batch.map(({ unit }) => [unit.id, unit]));
  for (const { unit, write, n } of await connection.all(`SELECT unit, write, n FROM ${CHANGES_TABLE}`, [])) {
    const changes = units.get(Number(unit))?.changes;
    const index = Number(write);
    if (changes) changes[index] = (changes[index] ?? 0) + Number(n);
  }
};

/** The batch failed: undo it, then find whose fault it was. */
const recover = async (deps: BatchDeps, batch: readonly Waiting[], cause: unknown): Promise<void> => {
  const error = mapSqliteError(cause);
  await rollback(deps);
  if (batch.length === 1 || !isOneCommitsFault(error)) {
    for (const waiting of batch) refuse(deps, waiting, error);
    return;
  }
  let outcome: Replayed;
  try {
    outcome = await replay(deps.connection, batch);
  } catch (failure) {
    // Not even the undoing of one commit worked: from here on each stands alone.
    deps.log.warn('A batch could not be replayed together; its commits run one by one.', { error: failure });
    await rollback(deps);
    for (const waiting of batch) await runAlone(deps, waiting);
    return;
  }
  for (const [waiting, refusal] of outcome.refused) refuse(deps, waiting, refusal);
  await finish(deps, outcome.kept);
};

interface Replayed {
  readonly kept: Waiting[];
  readonly refused: Array<[Waiting, SvcError]>;
}

const replay = async (connection: SqliteConnection, batch: readonly Waiting[]): Promise<Replayed> => {
  const outcome: Replayed = { kept: [], refused: [] };
  await connection.exec(`BEGIN IMMEDIATE;DELETE FROM ${CHANGES_TABLE};`);
  for (const waiting of batch) {
    try {
      await connection.exec(`SAVEPOINT unit;${waiting.unit.sql}RELEASE unit;`);
      outcome.kept.push(waiting);
    } catch (error) {
      await connection.exec('ROLLBACK TO unit;RELEASE unit;');
      outcome.refused.push([waiting, mapSqliteError(error)]);
    }
  }
  await connection.exec('COMMIT;');
  return outcome;
};

const runAlone = async (deps: BatchDeps, waiting: Waiting): Promise<void> => {
  try {
    await deps.connection.exec(transactionOf([waiting]));
  } catch (error) {
    await rollback(deps);
    refuse(deps, waiting, mapSqliteError(error));
    return;
  }
  await finish(deps, [waiting]);
};

/** Some errors end the transaction by themselves; then there is nothing left to undo. */
const rollback = async (deps: BatchDeps): Promise<void> => {
  try {
    await deps.connection.exec('ROLLBACK;');
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('no transaction is active'))) deps.log.error('A failed batch could not be undone.', { error });
  }
};
