/**
 * Writes that others may carry and nobody may read or make.
 *
 * What a token stands for is known to one map of one storage, by the token's identity: a copy, a proxy, a token of
 * another daemon and an object of the right shape stand for nothing. Nothing is copied when a write is sealed. Whoever
 * made it still has its row objects and may change them, and changes its own write by that and no other: table, owner
 * and statement were fixed when it was sealed, and each column and value is judged where the commit turns it into SQL.
 */
import type { Write } from '@svc/api';
import { storageErrors } from '../contract/errors.js';
import type { WriteOp } from '../contract/write-op.js';

export interface SealedWrites {
  /** `label` is for people: who seals and what it does. */
  seal(label: string, op: WriteOp): Write;
  /** What these stand for, in order. Throws `storage_write_unsealed` for the first that stands for nothing. */
  open(writes: readonly Write[]): WriteOp[];
}

export const createSealedWrites = (): SealedWrites => {
  const ops = new WeakMap<Write, WriteOp>();
  const opened = (write: Write, index: number): WriteOp => {
    const op = ops.get(write);
    if (op === undefined) throw storageErrors.write_unsealed(index, describe(write));
    return op;
  };
  return {
    seal(label, op) {
      const token = Object.freeze({ sealed: label });
      ops.set(token, op);
      return token;
    },
    open: (writes) => writes.map(opened),
  };
};

/** Looks at no property: what was handed in may be a trap. */
const describe = (write: unknown): string => (typeof write === 'object' && write !== null ? 'an object that no ctx.db sealed' : typeof write);
