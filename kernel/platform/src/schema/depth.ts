/** Level by level, so that a value of any depth is measured without a deep call. */
export const isDeeperThan = (value: unknown, max: number): boolean => {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
};
