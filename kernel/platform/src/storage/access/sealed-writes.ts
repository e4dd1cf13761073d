/**
 * Writes that others may carry and nobody may read or make.
 *
 * What a token stands for is in a private field that one storage puts on it: a copy, a proxy, a token of another daemon
 * and an object of the right shape have no such field and stand for nothing. Nothing is copied when a write is sealed.
 * Whoever made it still has its row objects and may change them, and changes its own write by that and no other: table,
 * owner and statement were fixed when it was sealed, and each column and value is validated where the commit turns it into
 * SQL.
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

/** Its constructor gives back what it was given, so that an heir puts its fields there. */
class Bearer {
  constructor(token: object) {
    // biome-ignore lint/correctness/noConstructorReturn: only so can a private field be put on an object that is plain
    return token;
  }
}

export const createSealedWrites = (): SealedWrites => {
  /** Puts the field on the token; a map that knows it by identity costs six times as much, in every write. */
  class Seal extends Bearer {
    readonly #op: WriteOp;

    constructor(token: object, op: WriteOp) {
      super(token);
      this.#op = op;
    }

    static opOf(write: unknown): WriteOp | undefined {
      return typeof write === 'object' && write !== null && #op in write ? write.#op : undefined;
    }
  }
  const opened = (write: Write, index: number): WriteOp => {
    const op = Seal.opOf(write);
    if (op === undefined) throw storageErrors.write_unsealed(index, describe(write));
    return op;
  };
  return {
    seal(label, op) {
      const token: Write = { sealed: label };
      new Seal(token, op);
      return Object.freeze(token);
    },
    open: (writes) => writes.map(opened),
  };
};

/** Looks at no property: what was handed in may be a trap. */
const describe = (write: unknown): string => (typeof write === 'object' && write !== null ? 'an object that no ctx.db sealed' : typeof write);
