/** Each with how many of the same key stand before it; from 0. */
export const numbered = <T>(list: readonly T[], keyOf: (one: T) => string): Array<{ readonly nth: number; readonly of: T }> => {
  const counts = new Map<string, number>();
  return list.map((of) => {
    const key = keyOf(of);
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    return { nth, of };
  });
};
