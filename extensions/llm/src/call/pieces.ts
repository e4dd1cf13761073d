/** What a call says while it goes on, for whoever takes it by a loop: what was put while nobody took it is taken together, thoughts before text, and at the end the answer. */
import type { AnswerPiece, LeftOut, ModelAnswer, RetryWait } from '../contract.js';
import type { Discarded } from './model-call.js';

export interface Pieces {
  put(text: string): void;
  think(text: string): void;
  /** Of several that nobody took meanwhile, the last. */
  waits(wait: RetryWait): void;
  /** All that was put so far is void. */
  discarded(discarded: Discarded): void;
  /** The text so far was thought. */
  wasThought(): void;
  /** Before the text. */
  leftOut(parameters: readonly LeftOut[]): void;
  /** The text, then what `answer` comes to. `left` is called when the loop ends before that. */
  taken(answer: Promise<ModelAnswer>, left: () => void): AsyncIterableIterator<AnswerPiece>;
}

type Piece = IteratorResult<AnswerPiece, undefined>;

const DONE: Piece = Object.freeze({ done: true, value: undefined });

/** Written out as an iterator: there is one for each message, and a generator costs several promises for each piece. */
export const createPieces = (): Pieces => {
  let waiting = '';
  let thought = '';
  let why: RetryWait | undefined;
  let unasked: readonly LeftOut[] = [];
  let isTaken = false;
  let voided: Discarded | undefined;
  let isThought = false;
  let isAnswered = false;
  let isOver = false;
  let wake: ((piece: Piece | Promise<Piece>) => void) | undefined;
  const takeText = (): Piece => {
    const text = waiting;
    waiting = '';
    isTaken = true;
    return { done: false, value: { text } };
  };
  const takeThought = (): Piece => {
    const text = thought;
    thought = '';
    return { done: false, value: { thought: text } };
  };
  const takeWhy = (waits: RetryWait): Piece => {
    why = undefined;
    return { done: false, value: { waits } };
  };
  const takeDiscarded = (discarded: Discarded): Piece => {
    voided = undefined;
    return { done: false, value: { discarded } };
  };
  const takeWasThought = (): Piece => {
    isThought = false;
    return { done: false, value: { wasThought: true } };
  };
  const takeLeftOut = (): Piece => {
    const leftOut = unasked;
    unasked = [];
    return { done: false, value: { leftOut } };
  };
  const give = (next: () => Piece | Promise<Piece>): void => {
    const waits = wake;
    wake = undefined;
    waits?.(next());
  };
  const last = (answer: Promise<ModelAnswer>): Promise<Piece> => {
    isOver = true;
    return answer.then((whole) => ({ done: false, value: { answer: whole } }));
  };
  return {
    put: (text) => {
      waiting += text;
      if (text !== '') give(takeText);
    },
    think: (text) => {
      thought += text;
      if (text !== '') give(takeThought);
    },
    waits: (wait) => {
      thought = '';
      if (wake) give(() => takeWhy(wait));
      else why = wait;
    },
    discarded: (discarded) => {
      waiting = '';
      thought = '';
      // Of what nobody took there is nothing to take back.
      if (!isTaken) return;
      isTaken = false;
      if (wake) give(() => takeDiscarded(discarded));
      else voided = discarded;
    },
    wasThought: () => {
      thought += waiting;
      waiting = '';
      if (!isTaken) return;
      isTaken = false;
      if (wake) give(takeWasThought);
      else isThought = true;
    },
    leftOut: (parameters) => {
      unasked = parameters;
      give(takeLeftOut);
    },
    taken: (answer, left) => {
      const ended = (): void => {
        isAnswered = true;
        give(() => last(answer));
      };
      answer.then(ended, ended);
      const pieces: AsyncIterableIterator<AnswerPiece> = {
        [Symbol.asyncIterator]: () => pieces,
        next: () => {
          if (voided) return Promise.resolve(takeDiscarded(voided));
          if (isThought) return Promise.resolve(takeWasThought());
          if (unasked.length > 0) return Promise.resolve(takeLeftOut());
          if (thought !== '') return Promise.resolve(takeThought());
          if (waiting !== '') return Promise.resolve(takeText());
          if (why) return Promise.resolve(takeWhy(why));
          if (isOver) return Promise.resolve(DONE);
          if (isAnswered) return last(answer);
          return new Promise((resolve) => {
            wake = resolve;
          });
        },
        return: () => {
          isOver = true;
          if (!isAnswered) left();
          return Promise.resolve(DONE);
        },
      };
      return pieces;
    },
  };
};
