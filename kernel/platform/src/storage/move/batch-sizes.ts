/** How many rows of a table are read at once: half as many where they are too much for the memory, twice as many where they were not. */
const MOST_ROWS = 1_000;

/** `read` answers undefined when the rows are too much; one row always is not. */
export type Sized<T> = (table: string, read: (limit: number) => Promise<T | undefined>) => Promise<T>;

export const batchSizes = <T>(): Sized<T> => {
  const sizes = new Map<string, number>();
  return async (table, read) => {
    for (let limit = sizes.get(table) ?? MOST_ROWS; ; limit = Math.ceil(limit / 2)) {
      const rows = await read(limit);
      if (rows === undefined) continue;
      sizes.set(table, Math.min(MOST_ROWS, limit * 2));
      return rows;
    }
  };
};
