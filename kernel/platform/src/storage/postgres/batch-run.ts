/**
 * Carries out one batch of commits on PostgreSQL (Q3, Q4 of write-queue.ts): all statements in one trip, their counts
 * validated, then COMMIT. What fails is undone and run again, each commit behind its own savepoint.
 *
 * A transaction whose COMMIT was not yet sent took no effect when the connection is lost, and is run again. One whose
 * COMMIT was not answered is looked up; where the database does not say, its end is not known and it is never repeated.
 */
import { isSvcError, type SvcError } from '@svc/api';
import { type BatchEndDeps, refuse, settle, timed, type Waiting } from '../contract/batch-end.js';
import { conflict, storageErrors } from '../contract/errors.js';
import { lateRefusal, limitOfBatch, limitsOfPart, makersOf, refusalOf } from '../contract/late-commits.js';
import type { Statement, Unit } from '../contract/write-compiler.js';
import type { PostgresConnection, StatementResult } from './postgres-connection.js';
import { isLost, type KeyColumns, mapStatementError } from './postgres-errors.js';
import type { PostgresWriter } from './postgres-writer.js';

/** A batch that takes the connection down again and again is at fault itself. */
const MAX_TRIES = 3;

export interface BatchDeps extends BatchEndDeps {
  readonly writer: PostgresWriter;
  readonly keyColumns: KeyColumns;
}

/** What became of a batch before COMMIT. */
interface Prepared {
  readonly kept: ReadonlyArray<{ readonly waiting: Waiting; readonly counts: readonly number[] }>;
  readonly refused: ReadonlyArray<readonly [Waiting, SvcError]>;
}

/** Never rejects: each commit's end is told to whoever waits for it. */
export const runBatch = async (deps: BatchDeps, batch: readonly Waiting[]): Promise<void> => {
  try {
    const done = await timed(deps, () => carryOut(deps, batch));
    for (const [waiting, error] of done.refused) refuse(deps, waiting, error);
    for (const { waiting, counts } of done.kept) for (const [write, n] of counts.entries()) waiting.unit.changes[write] = (waiting.unit.changes[write] ?? 0) + n;
    settle(
      deps,
      done.kept.map(({ waiting }) => waiting),
    );
  } catch (error) {
    const refusal = isSvcError(error) ? error : storageErrors.io().with({ cause: error });
    for (const waiting of batch) refuse(deps, waiting, refusal);
  }
};

const carryOut = async (deps: BatchDeps, batch: readonly Waiting[]): Promise<Prepared> => {
  for (let tries = 1; ; tries += 1) {
    const connection = await deps.writer.connection();
    let prepared: Prepared;
    try {
      prepared = await prepare(deps, connection, batch);
    } catch (error) {
      await deps.writer.drop(connection);
      if (!isLost(error)) throw await mapStatementError(error, deps.keyColumns);
      if (tries === MAX_TRIES) throw storageErrors.io().with({ cause: error });
      continue;
    }
    if (await commit(deps, connection, prepared)) return prepared;
    if (tries === MAX_TRIES) throw storageErrors.busy();
  }
};

/** Everything but the COMMIT. Rejects when the connection is lost, or cannot even undo. */
const prepare = async (deps: BatchDeps, connection: PostgresConnection, taken: readonly Waiting[]): Promise<Prepared> => {
  const refused: Refused = [];
  const batch = taken.some(({ unit }) => unit.parts !== undefined) ? notLate(deps, taken, refused) : taken;
  if (batch.length === 0) return { kept: [], refused };
  if (deps.rules.isWatched(makersOf(batch))) return replay(deps, connection, batch, refused);
  try {
    const limitMs = limitOfBatch(deps.rules, batch);
    const deadline = deps.deadlines.begin(limitMs, connection.cancel);
    let results: StatementResult[];
    try {
      results = await connection.query(deps.writer.begin() + batch.map(({ unit }) => unit.sql).join(''));
    } finally {
      deadline.end();
      if (deadline.ms() > limitMs / 2) deps.rules.watch(makersOf(batch));
    }
    const kept = validateAll(batch, results.slice(deps.writer.beginStatements));
    if (kept) return { kept, refused };
  } catch (error) {
    if (isLost(error)) throw error;
    // Whose fault it was is found below.
  }
  await connection.query('ROLLBACK');
  return replay(deps, connection, batch, refused);
};

type Refused = Array<readonly [Waiting, SvcError]>;

const notLate = (deps: BatchDeps, batch: readonly Waiting[], refused: Refused): Waiting[] =>
  batch.filter((waiting) => {
    const refusal = refusalOf(deps.rules, waiting.unit);
    if (refusal) refused.push([waiting, refusal]);
    return refusal === undefined;
  });

/** Undefined when a statement did not change the rows that were expected of it. */
const validateAll = (batch: readonly Waiting[], results: readonly StatementResult[]): Prepared['kept'] | undefined => {
  const kept: Array<Prepared['kept'][number]> = [];
  let at = 0;
  for (const waiting of batch) {
    const { statements } = waiting.unit;
    const counts = validate(waiting.unit, results.slice(at, at + statements.length));
    if (isSvcError(counts)) return undefined;
    kept.push({ waiting, counts });
    at += statements.length;
  }
  return kept;
};

/** Rows per write of what was to be counted, or the conflict. */
const validate = (unit: Unit, results: readonly StatementResult[]): number[] | SvcError => {
  const counts = unit.changes.map(() => 0);
  for (const [index, { check }] of unit.statements.entries()) {
    if (!check) continue;
    const rows = results[index]?.rowCount ?? 0;
    if (check.rows === undefined) counts[check.write] = (counts[check.write] ?? 0) + rows;
    else if (check.rows !== rows) return unexpected(check.write);
  }
  return counts;
};

const unexpected = (write: number): SvcError => conflict('a row it expected was not there', { reason: 'expect', write }, undefined);

const replay = async (deps: BatchDeps, connection: PostgresConnection, batch: readonly Waiting[], refused: Refused): Promise<Prepared> => {
  const kept: Array<Prepared['kept'][number]> = [];
  await connection.query(deps.writer.begin());
  for (const waiting of batch) {
    // One before it may have been late.
    if (notLate(deps, [waiting], refused).length === 0) continue;
    const outcome = await tryUnit(deps, connection, waiting.unit);
    if (isSvcError(outcome)) refused.push([waiting, outcome]);
    else kept.push({ waiting, counts: outcome });
  }
  return { kept, refused };
};

/** Statement by statement, so that the first that fails or falls short is the one that is told, as with SQLite. */
const tryUnit = async (deps: BatchDeps, connection: PostgresConnection, unit: Unit): Promise<number[] | SvcError> => {
  await connection.query('SAVEPOINT unit');
  const results: StatementResult[] = [];
  const used = new Map<string | undefined, number>();
  let refusal: SvcError | undefined;
  for (const [index, statement] of unit.statements.entries()) {
    const by = unit.parts?.findLast((part) => part.statement <= index)?.by;
    const before = used.get(by) ?? 0;
    const limitMs = limitsOfPart(deps.rules, by).statementMs;
    await deps.deadlines.within(limitMs - before, connection.cancel, async (deadline) => {
      refusal = await tryStatement(deps, connection, statement, results);
      if (refusal && deadline.isOver) refusal = lateRefusal(deps.rules, by, before + deadline.ms());
      else if (by !== undefined) deps.rules.took(by, deadline.ms());
      used.set(by, before + deadline.ms());
    });
    if (refusal) break;
  }
  await connection.query(refusal ? 'ROLLBACK TO unit;RELEASE unit' : 'RELEASE unit');
  return refusal ?? validate(unit, results);
};

const tryStatement = async (deps: BatchDeps, connection: PostgresConnection, { sql, check }: Statement, results: StatementResult[]): Promise<SvcError | undefined> => {
  try {
    const [result] = await connection.query(sql);
    if (result) results.push(result);
    return check?.rows !== undefined && check.rows !== (result?.rowCount ?? 0) ? unexpected(check.write) : undefined;
  } catch (error) {
    if (isLost(error)) throw error;
    return mapStatementError(error, deps.keyColumns);
  }
};

/** False when it took no effect and may be tried again. Rejects with `storage_io` when that is not known. */
const commit = async (deps: BatchDeps, connection: PostgresConnection, prepared: Prepared): Promise<boolean> => {
  if (prepared.kept.length === 0) {
    await connection.query('ROLLBACK').catch(() => deps.writer.drop(connection)); // nothing to keep
    return true;
  }
  try {
    const [result] = await connection.query('COMMIT');
    if (result?.command !== 'COMMIT') return false;
    deps.writer.committed();
    return true;
  } catch (error) {
    if (!isLost(error)) throw await mapStatementError(error, deps.keyColumns);
    await deps.writer.drop(connection);
    deps.log.warn('The connection was lost while a batch was committed; the database is asked whether it took effect.', { commits: prepared.kept.length });
    return deps.writer.hasCommitted().catch((cause: unknown) => {
      throw storageErrors.io().with({ cause });
    });
  }
};
