/** /v1/completions: a prompt without messages, as clients from before chat completions send it. */
import { type Clock, follow, type MediaAnswer, Nullable, reply, type RouteDecl, routeGroup, type Static, type Streams, Type, waitFor, defineAnswerProjection, defineStreamProjection } from '@svc/api';
import { type RunFrame, RunFrames, type RunResult } from '@svc/ext-runs/contract';
import { finishOf, usageOf, usedFor } from '../answer/completion.js';
import { errorObject, openAiErrors } from '../answer/error-object.js';
import { failureOf, leftOutIn, showsSomething } from '../answer/frames-read.js';
import { warningOf } from '../answer/warning.js';
import { ask, type CompatDeps, MAX_SILENCE_MS } from '../asking.js';
import { agentNamed } from '../conversation/model-ids.js';
import { compatErrors } from '../errors.js';
import { ChatRequest } from '../request/chat-request.js';
import { parametersOf } from '../request/parameters.js';

const { model, stream, stream_options, temperature, top_p, presence_penalty, frequency_penalty, max_tokens, stop, seed, n } = ChatRequest.properties;

const CompletionRequest = Type.Object(
  {
    ...{ model, stream, stream_options, temperature, top_p, presence_penalty, frequency_penalty, max_tokens, stop, seed, n },
    prompt: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.Unknown(), { minItems: 1, maxItems: 1 })], { description: 'A text, or a list with one text. Lists of tokens are refused' }),
    echo: Type.Optional(Nullable(Type.Boolean({ description: 'Must be false' }))),
    best_of: Type.Optional(Nullable(Type.Integer({ description: 'Must be 1' }))),
    suffix: Type.Optional(Nullable(Type.String({ description: 'Must be empty' }))),
  },
  { additionalProperties: true, 'x-name': 'CompletionRequest' },
);

const Usage = Type.Object({ prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() });
const Choice = Type.Object({
  index: Type.Integer(),
  text: Type.String(),
  finish_reason: Nullable(Type.String()),
  logprobs: Nullable(Type.Object({ tokens: Type.Array(Type.String()) }), { description: 'Always null' }),
});
const TextCompletion = Type.Object(
  { id: Type.String(), object: Type.Literal('text_completion'), created: Type.Integer(), model: Type.String(), choices: Type.Array(Choice), usage: Type.Optional(Usage) },
  { 'x-name': 'TextCompletion' },
);
const pieces: MediaAnswer = {
  description: 'pieces of one as server-sent events when stream is true, or an error, and [DONE] at the end',
  contentType: 'text/event-stream',
  events: { '': Type.Union([TextCompletion, Type.Literal('[DONE]')]) },
};

const Head = Type.Object({ id: Type.String(), created: Type.Integer(), model: Type.String() });
type Head = Static<typeof Head>;

const TextPieces = defineStreamProjection('openai-compat.text-pieces', '1.0.0', { format: RunFrames, contentType: 'text/event-stream', args: Head });
const TextAnswer = defineAnswerProjection('openai-compat.text', '1.0.0', { format: RunFrames, args: Head });
const TextBegin = defineAnswerProjection('openai-compat.text-begin', '1.0.0', { format: RunFrames, args: Type.Object({ head: Head, topic: Type.String() }) });

export const showCompletions = (streams: Streams): void => {
  streams.project(TextPieces, { encode: pieceOf, epilogue: () => 'data: [DONE]\n\n' });
  streams.answer(TextAnswer, {
    answer: (frame, head) => {
      if (frame.type !== 'done') throw failureOf(frame);
      return reply(200, textCompletion(head, frame.data.result.response, frame.data.result), warningOf(leftOutIn(frame)));
    },
  });
  streams.answer(TextBegin, {
    until: showsSomething,
    answer: (frame, { head, topic }) => {
      if (frame.type === 'error') throw failureOf(frame);
      return follow(topic, TextPieces, head, { headers: warningOf(leftOutIn(frame)) });
    },
  });
};

const pieceOf = (frame: RunFrame, head: Head): string | undefined => {
  if (frame.type === 'chunk') return line(textCompletion(head, frame.data.content));
  if (frame.type === 'error') return line({ error: errorObject(frame.data.status, { error: frame.data.error, code: frame.data.code }) });
  return frame.type === 'done' ? line(textCompletion(head, '', frame.data.result)) : undefined;
};

const line = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

const textCompletion = (head: Head, text: string, result?: RunResult) => ({
  ...head,
  object: 'text_completion' as const,
  choices: [{ index: 0, text, finish_reason: result ? finishOf(result) : null, logprobs: null }],
  ...(result ? { usage: usageOf(usedFor(result)) } : {}),
});

const route = routeGroup({ area: 'agents' });

export const completionRoute = (deps: CompatDeps & { readonly clock: Clock }): RouteDecl =>
  route({
    id: 'createOpenaiCompletion',
    errorShape: openAiErrors,
    method: 'POST',
    path: '/v1/completions',
    summary: 'Create a completion (old form)',
    description: 'For clients that know no messages. The prompt is one user message of a stateless request to the agent. Use `/v1/chat/completions` for anything new.',
    examples: {
      'One prompt': { model: 'svc:assistant', prompt: 'Name three rivers.' },
      'Streamed, with a limit': { model: 'svc:assistant', prompt: ['Once upon a time'], max_tokens: 100, stream: true },
      'With a stop text': { model: 'svc:assistant', prompt: 'Q: 1+1?\nA:', stop: ['\n'], temperature: 0 },
    },
    permission: 'runs.send',
    cost: 30,
    body: CompletionRequest,
    errors: [404, 409, 412, 413, 429, 500, 503],
    responses: { 200: TextCompletion },
    streamed: pieces,
    handler: async ({ actor, body, headers }) => {
      const named = await agentNamed(deps.agents, actor, body.model);
      const asked = { parts: [{ type: 'text' as const, text: promptOf(body) }], history: [] };
      const terms = { maxTokens: body.max_tokens ?? undefined, temperature: body.temperature ?? undefined, parameters: parametersOf(body) };
      const { topic, runId, answerId, leftOut = [] } = await ask(deps, { actor, named, asked, terms, headers, sessionId: undefined });
      const head = { id: `cmpl-${answerId}`, created: Math.floor(deps.clock.now() / 1_000), model: body.model };
      const shown = { headers: { 'x-svc-run': runId, ...warningOf(leftOut) } };
      if (!body.stream) return waitFor(topic, TextAnswer, head, shown);
      return waitFor(topic, TextBegin, { head, topic }, { ...shown, late: { afterMs: MAX_SILENCE_MS, reply: follow(topic, TextPieces, head) } });
    },
  });

function promptOf({ prompt, n: count, best_of: best, echo, suffix }: Static<typeof CompletionRequest>): string {
  if ((count ?? 1) !== 1 || (best ?? 1) !== 1) throw compatErrors.unsupported_value('n and best_of must be 1: an agent gives one answer.');
  if (echo === true || (suffix ?? '') !== '') throw compatErrors.unsupported_value('echo and suffix are not supported.');
  const text = typeof prompt === 'string' ? prompt : prompt[0];
  if (typeof text !== 'string' || text === '') throw compatErrors.unsupported_value('prompt must be a text, or a list with one text.');
  return text;
}
