/** Work on one thing at a time: whoever comes second begins when the first is done, well or not. As many are kept as wait. */
export const createTurns = (): Turns => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const next = (last.get(key) ?? Promise.resolve()).then(work, work);
    const settled = next.then(
      () => undefined,
      () => undefined,
    );
    last.set(key, settled);
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key);
    });
    return next;
  };
};

/** What has the same key waits for one another. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;
