/** The pipes of a child as its starter uses them: bounded in what waits, and never read ahead of who asks. */
import type { Readable, Writable } from 'node:stream';
import type { ChildHandle } from '@svc/api';
import type { TimerClock } from '../../clock/clock.js';
import { execErrors } from '../errors.js';
import { DRAIN_MS } from './ending.js';

/** Written, and not yet taken by the child. */
const MAX_UNSENT_BYTES = 1_048_576;

export const childInput = (stdin: Writable | null, command: string): ChildHandle['stdin'] => ({
  write: (data) =>
    new Promise((resolve, reject) => {
      if (!stdin?.writable) return reject(execErrors.stdin_closed(command));
      if (stdin.writableLength + Buffer.byteLength(data) > MAX_UNSENT_BYTES) return reject(execErrors.stdin_full(command, MAX_UNSENT_BYTES));
      stdin.write(data, (error) => (error ? reject(execErrors.stdin_closed(command).with({ cause: error })) : resolve()));
    }),
  end: () => void stdin?.end(),
});

/**
 * `gone` settles when the child and its tree are: what the pipe holds then is taken in, a few hundred KiB at most, and the pipe closed,
 * whether or not somebody reads on. A third party that nobody could find and that holds the pipe open is not waited for.
 */
export const childOutput = (stream: Readable | null, gone: Promise<unknown>, clock: TimerClock): AsyncIterable<Uint8Array> => {
  const pipe: Pipe = { stream, rest: [], keeps: 'pipe', isOver: stream === null, isBegun: false, wake: () => undefined };
  if (stream) watch(pipe, stream, gone, clock);
  return {
    [Symbol.asyncIterator]: () => {
      if (pipe.isBegun) throw new Error('the output of a child is read once');
      pipe.isBegun = true;
      return pieces(pipe);
    },
  };
};

interface Pipe {
  readonly stream: Readable | null;
  /** Taken from a pipe that is closed, and not yet asked for. */
  readonly rest: Uint8Array[];
  /** Where unread bytes stay: in the pipe while the child lives, in `rest` when it is gone, nowhere when nobody reads on. */
  keeps: 'pipe' | 'rest' | 'nothing';
  isOver: boolean;
  isBegun: boolean;
  wake: () => void;
}

const watch = (pipe: Pipe, stream: Readable, gone: Promise<unknown>, clock: TimerClock): void => {
  let cancel = (): void => undefined;
  const look = (): void => {
    if (pipe.keeps !== 'pipe') takeAll(pipe, stream);
    pipe.wake();
  };
  const over = (): void => {
    cancel();
    pipe.isOver = true;
    pipe.wake();
  };
  stream.on('readable', look);
  stream.once('close', over);
  // A pipe that breaks has said all it will; the exit tells the rest.
  stream.on('error', () => undefined);
  void gone.then(() => {
    if (pipe.keeps === 'pipe') pipe.keeps = 'rest';
    if (pipe.isOver) return;
    cancel = clock.schedule(DRAIN_MS, () => void stream.destroy());
    look();
  });
};

const takeAll = ({ keeps, rest }: Pipe, stream: Readable): void => {
  for (let piece: Buffer | null = stream.read(); piece !== null; piece = stream.read()) if (keeps === 'rest') rest.push(piece);
};

async function* pieces(pipe: Pipe): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const piece: Uint8Array | null = pipe.rest.shift() ?? pipe.stream?.read() ?? null;
      if (piece !== null) yield piece;
      else if (pipe.isOver) return;
      else
        await new Promise<void>((resolve) => {
          pipe.wake = resolve;
        });
    }
  } finally {
    // Nobody reads on: the child must not stand still for it.
    pipe.keeps = 'nothing';
    pipe.rest.length = 0;
    if (pipe.stream) takeAll(pipe, pipe.stream);
  }
}
