/** Members whose functions end with their generation: whoever holds on to one is refused by name. */

/** `alive` throws `daemon_extension_stopped`. Frozen. */
export const whileAlive = <T extends object>(member: T, alive: () => void): T =>
  guarded(member, (fn) => (...args) => {
    alive();
    return fn(...args);
  });

/** The same for members that answer with promises, which are rejected. */
export const rejectedAfter = <T extends object>(member: T, alive: () => void): T =>
  guarded(member, (fn) => (...args) => {
    try {
      alive();
      // Most answer with a promise of their own, which is handed on as it is.
      return Promise.resolve(fn(...args));
    } catch (error) {
      return Promise.reject(error);
    }
  });

type Fn = (...args: never[]) => unknown;

const guarded = <T extends object>(member: T, guard: (fn: Fn) => Fn): T => {
  const entries = Object.entries(member).map(([name, value]: [string, unknown]) => [name, isFn(value) ? guard(value) : value]);
  // The same names with functions of the same signatures.
  return Object.freeze(Object.fromEntries(entries)) as T;
};

const isFn = (value: unknown): value is Fn => typeof value === 'function';
