/**
 * Carries out one batch of commits: all in one transaction; when that fails, whose fault it was
 * is found without taking the others down (Q3, Q4 of write-queue.ts).
 */
import type { SvcError } from '@svc/api';
import { isOneCommitsFault, refuse, settle, timed, type Waiting } from '../contract/batch-end.js';
import type { Deadline } from '../contract/deadlines.js';
import { storageErrors } from '../contract/errors.js';
import { LateCommit, lateRefusal, limitOfBatch, makersOf, refusalOf } from '../contract/late-commits.js';
import { type BatchDeps, replay } from './batch-replay.js';
import { OWN_BOUNDS, THIRD_PARTY_BOUNDS } from './sqlite-bounds.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { CHANGES_TABLE } from './sqlite-dialect.js';
import { mapSqliteError } from './sqlite-errors.js';

/** Never rejects: each commit's end is told to whoever waits for it. */
export const runBatch = async (deps: BatchDeps, taken: readonly Waiting[]): Promise<void> => {
  const isMixed = taken.some(({ unit }) => unit.parts !== undefined);
  const batch = isMixed ? refuseLate(deps, taken) : taken;
  if (batch.length === 0) return;
  if (isMixed && deps.rules.isWatched(makersOf(batch))) {
    await timed(deps, () => apart(deps, batch));
    return;
  }
  const watch = begin(deps, batch);
  try {
    await timed(deps, () => deps.connection.exec(transactionOf(batch)));
  } catch (error) {
    watch.end();
    await recover(deps, batch, watch.deadline.isOver ? new LateCommit(undefined, watch.deadline.ms()) : error);
    return;
  }
  watch.end();
  await finish(deps, batch);
};

/** Until its end the connection is held to the time and the bounds of these commits. On the way of every message: no promise is made. */
const begin = ({ connection, deadlines, rules }: BatchDeps, batch: readonly Waiting[]): { readonly deadline: Deadline; end(): void } => {
  const makers = makersOf(batch);
  const limitMs = limitOfBatch(rules, batch);
  // Where one of the others needs more, each is run within its own bounds afterwards.
  if (makers.size > 0) connection.setBounds(THIRD_PARTY_BOUNDS);
  const deadline = deadlines.begin(limitMs, connection.interrupt);
  return {
    deadline,
    end: () => {
      deadline.end();
      connection.setBounds(OWN_BOUNDS);
      if (makers.size > 0 && deadline.ms() > limitMs / 2) rules.watch(makers);
    },
  };
};

/** Those that are left. */
const refuseLate = (deps: BatchDeps, batch: readonly Waiting[]): Waiting[] =>
  batch.filter((waiting) => {
    const refusal = refusalOf(deps.rules, waiting.unit);
    if (refusal) refuse(deps, waiting, refusal);
    return refusal === undefined;
  });

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
  await rollback(deps);
  const [first] = batch;
  // Where several had a part in it, whose it was is still to be found.
  if (cause instanceof LateCommit && batch.length === 1 && first && (first.unit.parts?.length ?? 1) === 1) {
    refuse(deps, first, lateRefusal(deps.rules, first.unit.parts?.[0]?.by, cause.ms));
    return;
  }
  if (!(cause instanceof LateCommit)) {
    const error = mapSqliteError(cause);
    const isAlone = batch.length === 1 && first?.unit.parts === undefined;
    if (isAlone || !isOneCommitsFault(error)) {
      for (const waiting of batch) refuse(deps, waiting, error);
      return;
    }
  }
  await apart(deps, batch);
};

/** Each by itself, in one transaction. */
const apart = async (deps: BatchDeps, batch: readonly Waiting[]): Promise<void> => {
  let outcome: { readonly kept: readonly Waiting[]; readonly refused: ReadonlyArray<readonly [Waiting, SvcError]> };
  try {
    outcome = await replay(deps, batch);
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

const runAlone = async (deps: BatchDeps, waiting: Waiting): Promise<void> => {
  const [alone] = refuseLate(deps, [waiting]);
  if (!alone) return;
  const watch = begin(deps, [alone]);
  try {
    await deps.connection.exec(transactionOf([alone]));
  } catch (error) {
    watch.end();
    await rollback(deps);
    refuse(deps, alone, watch.deadline.isOver ? lateRefusal(deps.rules, alone.unit.parts?.[0]?.by, watch.deadline.ms()) : mapSqliteError(error));
    return;
  }
  watch.end();
  await finish(deps, [alone]);
};

/** Some errors end the transaction by themselves; then there is nothing left to undo. */
const rollback = async (deps: BatchDeps): Promise<void> => {
  try {
    await deps.connection.exec('ROLLBACK;');
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('no transaction is active'))) deps.log.error('A failed batch could not be undone.', { error });
  }
};
