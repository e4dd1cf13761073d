/** What the frames of a run mean for one answer, whichever protocol it is written in. */
import { SvcError } from '@svc/api';
import type { LeftOut } from '@svc/ext-llm/contract';
import type { RunFrame, RunFrames } from '@svc/ext-runs/contract';
import { callsIn } from './completion.js';

/** The run waits for results of the client's tools: the answer ends, and the topic goes on. */
export const isOurLast = (frame: RunFrame): boolean => frame.final || callsIn(frame) !== undefined;

/** `adjusted` comes with the first thing that the model says. */
export const showsSomething = (frame: RunFrame): boolean => frame.type !== 'phase' || frame.data.phase === 'waiting' || frame.data.phase === 'adjusted';

export const leftOutIn = (frame: RunFrame): readonly LeftOut[] =>
  frame.type === 'phase' ? (frame.data.left_out ?? frame.data.client?.left_out ?? []) : frame.type === 'done' ? (frame.data.result.left_out ?? []) : [];

export function failureOf(frame: RunFrame): SvcError {
  const { code, error, status, hint }: RunFrames['error'] = frame.type === 'error' ? frame.data : { code: 'internal_error', error: 'The run ended without an answer.', status: 500 };
  // The run has begun and may have had effects: a client must not repeat it by itself.
  return new SvcError(code, error, { status, hint, headers: { 'x-should-retry': 'false' } });
}
