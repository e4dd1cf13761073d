/** Text that comes by calls and is taken by a loop. What was put while nobody took it is taken together. */

export interface Pieces {
  put(text: string): void;
  end(): void;
  taken(): AsyncGenerator<string>;
}

export const createPieces = (): Pieces => {
  let waiting = '';
  let isOver = false;
  let wake: (() => void) | undefined;
  const woken = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    put: (text) => {
      waiting += text;
      woken();
    },
    end: () => {
      isOver = true;
      woken();
    },
    async *taken() {
      for (;;) {
        if (waiting !== '') {
          const text = waiting;
          waiting = '';
          yield text;
        } else if (isOver) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
};
