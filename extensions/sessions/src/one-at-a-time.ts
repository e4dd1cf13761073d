/**
 * Work that looks at what there is, and is asked for again and again. It is done once at a time. Whoever asks while it is under way
 * waits for the next time, which all of them share: the one under way may have looked before what they mean was there.
 */
export const oneAtATime = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<T> | undefined;
  return async () => {
    await running?.catch(() => undefined); // whoever asked for that one hears of it
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
};
