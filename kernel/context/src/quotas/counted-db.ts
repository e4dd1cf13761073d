/** The rows of a third-party extension: what a commit writes is counted before it is written. */
import type { Db, Row, Scalar, Write } from '@svc/api';
import type { Meter } from './meter.js';

/** What a row takes beside its values. */
const ROW_BYTES = 32;

/** What each write adds, at most; `sql` may add anything, which is seen afterwards. */
interface Size {
  readonly bytes: number;
  /** Whether rows may be gone, or more of them there than the text says. */
  readonly isOpen: boolean;
}

export const countedDb = (db: Db, meter: Meter): Db => {
  const sizes = new WeakMap<Write, Size>();
  const sized = (write: Write, bytes: number, isOpen: boolean): Write => {
    sizes.set(write, { bytes, isOpen });
    return write;
  };
  return {
    ...db,
    insert: (table, rows, options) => sized(db.insert(table, rows, options), bytesOf(rows), false),
    update: (table, key, rows, options) => sized(db.update(table, key, rows, options), bytesOf(rows), true),
    upsert: (table, key, rows) => sized(db.upsert(table, key, rows), bytesOf(rows), true),
    remove: (table, where, options) => sized(db.remove(table, where, options), 0, true),
    sql: (text, args, options) => sized(db.sql(text, args, options), valuesOf(args), true),
    commit: async (writes) => {
      const all = writes.flatMap((write) => sizes.get(write) ?? []);
      const claim = await meter.claim(all.reduce((sum, { bytes }) => sum + bytes, 0));
      try {
        const result = await db.commit(writes);
        claim.keep();
        if (all.some(({ isOpen }) => isOpen)) meter.changed();
        return result;
      } catch (error) {
        claim.drop();
        throw error;
      }
    },
  };
};

const bytesOf = (rows: readonly Row[]): number => rows.reduce((sum, row) => sum + ROW_BYTES + valuesOf(Object.values(row)), 0);

const valuesOf = (values: readonly Scalar[] | readonly unknown[] = []): number => values.reduce<number>((sum, value) => sum + valueBytes(value), 0);

const valueBytes = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  return typeof value === 'object' && value !== null ? Buffer.byteLength(JSON.stringify(value)) : 8;
};
