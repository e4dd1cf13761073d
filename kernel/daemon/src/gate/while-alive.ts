/** Members whose functions end with their generation: whoever holds on to one is refused by name. */

/** `alive` throws `daemon_extension_stopped`. The members stay the same object for all calls, frozen. */
export const whileAlive = <T extends object>(member: T, alive: () => void): T => {
  const guarded = Object.entries(member).map(([name, value]: [string, unknown]) => [name, isCallable(value) ? guard(value, alive) : value]);
  // The same names with functions of the same signatures.
  return Object.freeze(Object.fromEntries(guarded)) as T;
};

const guard =
  (fn: (...args: never[]) => unknown, alive: () => void) =>
  (...args: never[]): unknown => {
    alive();
    return fn(...args);
  };

const isCallable = (value: unknown): value is (...args: never[]) => unknown => typeof value === 'function';
