/**
 * Several prompts in one request: each is a run of its own, all at the same time, and the answer has a choice for each.
 *
 * M1  The whole answer waits for all of them; the first that fails is the answer. The others are then watched by nobody, and
 *     end as `on_disconnect` says.
 * M2  A stream gives the pieces of all choices as they come, each with its index. The usage beside the end of a choice is that
 *     of all that have ended, so that the last one is that of the request.
 * M3  Sent again under one Idempotency-Key, each prompt finds its own run.
 */
import { type Clock, type MediaReply, reply, stream, type Streams } from '@svc/api';
import { type RunFrame, RunFrames, type RunResult } from '@svc/ext-runs/contract';
import { usageOf, usedFor } from '../answer/completion.js';
import { failureOf, leftOutIn } from '../answer/frames-read.js';
import { together, warningOf } from '../answer/warning.js';
import { ask, type Asking, type Answering, type CompatDeps } from '../asking.js';
import { uuidOf } from '../conversation/derived-ids.js';
import { type Head, pieceOf, sum, textCompletion } from './text-completion.js';

export const DONE = 'data: [DONE]\n\n';
const KEY = 'idempotency-key';

export const askedBy = (prompt: string) => ({ parts: [{ type: 'text' as const, text: prompt }], history: [] });

export const headOf = (clock: Pick<Clock, 'now'>, answerId: string, model: string): Head => ({ id: `cmpl-${answerId}`, created: Math.floor(clock.now() / 1_000), model });

export const choiceOf = (index: number, result: RunResult) => ({ index, text: result.response, result });

export interface SeveralPrompts extends Omit<Asking, 'asked'> {
  readonly prompts: readonly string[];
  readonly model: string;
  readonly isStreamed: boolean;
  readonly signal: AbortSignal;
}

type Deps = Pick<CompatDeps, 'runs' | 'clock'> & { readonly streams: Streams };

export const answerEach = async (deps: Deps, { prompts, model, isStreamed, signal, ...asking }: SeveralPrompts) => {
  const answers = await Promise.all(prompts.map((prompt, index) => ask(deps, { ...asking, asked: askedBy(prompt), headers: headersOf(asking.headers, index) })));
  const head = headOf(deps.clock, answers[0]?.answerId ?? '', model);
  const headers = { 'x-svc-run': answers.map(({ runId }) => runId).join(', ') };
  const asked = answers.map(({ leftOut = [] }) => leftOut);
  if (isStreamed) return streamed(deps.streams, head, answers, { ...headers, ...warningOf(asked.reduce(together)) });
  const finals = await Promise.all(answers.map(({ topic }) => deps.streams.final(RunFrames, topic, signal)));
  const results = finals.map(resultOf);
  return reply(
    200,
    textCompletion(
      head,
      results.map((result, index) => choiceOf(index, result)),
    ),
    { ...headers, ...warningOf([...asked, ...finals.map(leftOutIn)].reduce(together)) },
  );
};

const headersOf = (headers: Asking['headers'], index: number): Asking['headers'] => {
  const key = headers[KEY];
  return key === undefined ? headers : { ...headers, [KEY]: uuidOf(['openai-compat.prompt', key, String(index)]) };
};

const resultOf = (frame: RunFrame): RunResult => {
  if (frame.type !== 'done') throw failureOf(frame);
  return frame.data.result;
};

type Frames = AsyncIterable<RunFrame> & { close(): void };

/** All are followed from the beginning, so that none is taken for one that nobody wants. */
const streamed = (streams: Streams, head: Head, answers: readonly Answering[], headers: Readonly<Record<string, string>>): MediaReply =>
  stream(
    200,
    'text/event-stream',
    piecesOf(
      head,
      answers.map(({ topic }) => streams.follow(RunFrames, topic)),
    ),
    headers,
  );

async function* piecesOf(head: Head, all: readonly Frames[]): AsyncGenerator<Uint8Array> {
  let used = usageOf({ input_tokens: 0, output_tokens: 0 });
  try {
    for await (const [index, frame] of interleaved(all)) {
      const piece = pieceOf(frame, head, index, used);
      if (piece !== undefined) yield Buffer.from(piece);
      if (frame.type === 'done') used = sum(used, usageOf(usedFor(frame.data.result)));
      // As with one prompt, an error is the last thing that is said.
      if (frame.type === 'error') break;
    }
  } finally {
    for (const frames of all) frames.close();
  }
  yield Buffer.from(DONE);
}

async function* interleaved(all: readonly Frames[]): AsyncGenerator<readonly [number, RunFrame]> {
  const readers = all.map((frames) => frames[Symbol.asyncIterator]());
  const read = async (reader: AsyncIterator<RunFrame>, index: number) => ({ reader, index, step: await reader.next() });
  const waiting = new Map(readers.map((reader, index) => [index, read(reader, index)]));
  while (waiting.size > 0) {
    const { reader, index, step } = await Promise.race(waiting.values());
    if (step.done === true || step.value.final) waiting.delete(index);
    else waiting.set(index, read(reader, index));
    if (step.done !== true) yield [index, step.value];
  }
}
