/** The data of a run's events, for whoever writes a client: the frames of contract.ts, as they leave over SSE. */
import { type MediaAnswer, Type, Uuid } from '@svc/api';
import { RunFrames } from '../contract.js';

/** What every answer of a run says, whatever the channel. */
export const answerFields = {
  response: Type.String(),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  iterations: Type.Integer(),
  cost_usd: Type.Number(),
  session_id: Uuid,
};

const { tool_input: _input, ...shownFrames } = RunFrames.frames;
const { command: _command, ...shownDone } = RunFrames.frames.done.properties;

export const eventStream: MediaAnswer = {
  description: 'Server-sent events: phase, chunk, tool_use and tool_result, then one done or error',
  contentType: 'text/event-stream',
  events: { ...shownFrames, done: Type.Object(shownDone, { description: 'The last event' }) },
};
