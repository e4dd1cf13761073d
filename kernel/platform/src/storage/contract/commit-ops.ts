/** From the changes of one commit to its place in the queue. */
import type { CommitResult } from '@svc/api';
import type { Compiler, Unit } from './write-compiler.js';
import type { WriteOp } from './write-op.js';
import type { WriteQueue } from './write-queue.js';

/** A commit of nothing at all succeeds without a trip to the database. */
export const createCommit =
  (compile: Compiler, queue: Pick<WriteQueue, 'commit'>) =>
  (ops: readonly WriteOp[]): Promise<CommitResult> => {
    let unit: Unit;
    try {
      unit = compile(ops);
    } catch (error) {
      return Promise.reject(error);
    }
    return unit.sql === '' && unit.events.length === 0 ? Promise.resolve({ changes: unit.changes }) : queue.commit(unit);
  };
