/**
 * A batch that failed together runs again, each commit behind its own savepoint. What is interrupted takes the whole
 * transaction along: then the others begin anew without the one that was late.
 */
import type { SvcError } from '@svc/api';
import type { Waiting, BatchEndDeps } from '../contract/batch-end.js';
import { LateCommit, lateRefusal, limitsOfPart, partsOf, refusalOf } from '../contract/late-commits.js';
import type { Unit } from '../contract/write-compiler.js';
import { OWN_BOUNDS, THIRD_PARTY_BOUNDS } from './sqlite-bounds.js';
import { CHANGES_TABLE } from './sqlite-dialect.js';
import { mapSqliteError } from './sqlite-errors.js';
import type { SqliteConnection } from './sqlite-connection.js';

export interface Replayed {
  readonly kept: Waiting[];
  readonly refused: Array<[Waiting, SvcError]>;
}

/** Rejects when the undoing of one commit failed. Committed when it resolves. */
export const replay = async (deps: BatchDeps, batch: readonly Waiting[]): Promise<Replayed> => {
  const refused: Replayed['refused'] = [];
  let left = batch;
  for (;;) {
    const outcome = await attempt(deps, left, refused);
    if (outcome.isWhole) return { kept: outcome.left, refused };
    // At most once for each that is late: its owner's others are refused from now on.
    left = outcome.left;
  }
};

interface Attempt {
  readonly left: Waiting[];
  /** False when one was late; what is left runs again. */
  readonly isWhole: boolean;
}

const attempt = async (deps: BatchDeps, batch: readonly Waiting[], refused: Replayed['refused']): Promise<Attempt> => {
  const { connection, rules } = deps;
  const left: Waiting[] = [];
  await connection.exec(`BEGIN IMMEDIATE;DELETE FROM ${CHANGES_TABLE};`);
  for (const [index, waiting] of batch.entries()) {
    const refusal = refusalOf(rules, waiting.unit);
    if (refusal) {
      refused.push([waiting, refusal]);
      continue;
    }
    try {
      await runUnit(deps, waiting.unit);
      left.push(waiting);
    } catch (error) {
      if (error instanceof LateCommit) {
        refused.push([waiting, lateRefusal(rules, error.by, error.ms)]);
        await connection.exec('ROLLBACK;').catch(() => undefined); // the interrupt has undone it
        return { left: [...left, ...batch.slice(index + 1)], isWhole: false };
      }
      await connection.exec('ROLLBACK TO unit;RELEASE unit;');
      refused.push([waiting, mapSqliteError(error)]);
    }
  }
  await connection.exec('COMMIT;');
  return { left, isWhole: true };
};

/** Part by part, each in its maker's time, so that it is known who was late. */
const runUnit = async (deps: BatchDeps, unit: Unit): Promise<void> => {
  const parts = partsOf(unit);
  const used = new Map<string | undefined, number>();
  for (const [index, { by, from }] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const sql = `${index === 0 ? 'SAVEPOINT unit;' : ''}${unit.sql.slice(from, isLast ? undefined : parts[index + 1]?.from)}${isLast ? 'RELEASE unit;' : ''}`;
    const before = used.get(by) ?? 0;
    await deps.deadlines.within(limitsOfPart(deps.rules, by).statementMs - before, deps.connection.interrupt, async (deadline) => {
      deps.connection.setBounds(by === undefined ? OWN_BOUNDS : THIRD_PARTY_BOUNDS);
      try {
        await deps.connection.exec(sql);
        if (by !== undefined) deps.rules.took(by, deadline.ms());
        used.set(by, before + deadline.ms());
      } catch (error) {
        if (by !== undefined && !deadline.isOver) deps.rules.took(by, deadline.ms());
        throw deadline.isOver ? new LateCommit(by, before + deadline.ms()) : error;
      } finally {
        deps.connection.setBounds(OWN_BOUNDS);
      }
    });
  }
};

export interface BatchDeps extends BatchEndDeps {
  readonly connection: SqliteConnection;
}
