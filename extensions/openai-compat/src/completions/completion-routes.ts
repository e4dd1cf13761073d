/** /v1/completions: a prompt without messages, as clients from before chat completions send it. */
import { documented, follow, Nullable, reply, type RouteDecl, routeGroup, type Static, type Streams, Type, waitFor, defineAnswerProjection, defineStreamProjection } from '@svc/api';
import { RunFrames } from '@svc/ext-runs/contract';
import { openAiErrors } from '../answer/error-object.js';
import { failureOf, leftOutIn, showsSomething } from '../answer/frames-read.js';
import { warningOf } from '../answer/warning.js';
import { ask, type CompatDeps, MAX_SILENCE_MS } from '../asking.js';
import { agentNamed } from '../conversation/model-ids.js';
import { compatErrors } from '../errors.js';
import { ChatRequest } from '../request/chat-request.js';
import { parametersOf } from '../request/parameters.js';
import { answerEach, askedBy, choiceOf, DONE, headOf } from './several-prompts.js';
import { Head, pieceOf, pieces, TextCompletion, textCompletion } from './text-completion.js';

/** Each prompt of a request is a run of its own. */
const MAX_PROMPTS = 16;

const { model, stream, stream_options, temperature, top_p, presence_penalty, frequency_penalty, max_tokens, stop, seed, n } = ChatRequest.properties;

const CompletionRequest = Type.Object(
  {
    ...{ model, stream, stream_options, temperature, top_p, presence_penalty, frequency_penalty, max_tokens, stop, seed, n },
    prompt: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.Unknown({ ...documented({ type: 'string', minLength: 1 }) }), { minItems: 1, maxItems: MAX_PROMPTS })], {
      description: 'A text, or a list of texts, each of which is answered by itself: the answer has a choice for each, by its index. Lists of tokens are refused',
    }),
    echo: Type.Optional(Nullable(Type.Boolean({ ...documented({ enum: [false] }), description: 'Must be false' }))),
    best_of: Type.Optional(Nullable(Type.Integer({ ...documented({ minimum: 1, maximum: 1 }), description: 'Must be 1' }))),
    suffix: Type.Optional(Nullable(Type.String({ ...documented({ maxLength: 0 }), description: 'Must be empty' }))),
  },
  { additionalProperties: true, 'x-name': 'CompletionRequest' },
);

const TextPieces = defineStreamProjection('openai-compat.text-pieces', '1.0.0', { format: RunFrames, contentType: 'text/event-stream', args: Head });
const TextAnswer = defineAnswerProjection('openai-compat.text', '1.0.0', { format: RunFrames, args: Head });
const TextBegin = defineAnswerProjection('openai-compat.text-begin', '1.0.0', { format: RunFrames, args: Type.Object({ head: Head, topic: Type.String() }) });

export const showCompletions = (streams: Streams): void => {
  streams.project(TextPieces, { encode: (frame, head) => pieceOf(frame, head), epilogue: () => DONE });
  streams.answer(TextAnswer, {
    answer: (frame, head) => {
      if (frame.type !== 'done') throw failureOf(frame);
      return reply(200, textCompletion(head, [choiceOf(0, frame.data.result)]), warningOf(leftOutIn(frame)));
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

const route = routeGroup({ area: 'agents' });

export const completionRoute = (deps: CompatDeps & { readonly streams: Streams }): RouteDecl =>
  route({
    id: 'createOpenaiCompletion',
    errorShape: openAiErrors,
    method: 'POST',
    path: '/v1/completions',
    summary: 'Create a completion (old form)',
    description: 'For clients that know no messages. Each prompt is the one user message of a stateless request to the agent. Use `/v1/chat/completions` for anything new.',
    examples: {
      'One prompt': { model: 'svc:assistant', prompt: 'Name three rivers.' },
      'Streamed, with a limit': { model: 'svc:assistant', prompt: ['Once upon a time'], max_tokens: 100, stream: true },
      'Two prompts': { model: 'svc:assistant', prompt: ['Name three rivers.', 'Name three lakes.'] },
      'With a stop text': { model: 'svc:assistant', prompt: 'Q: 1+1?\nA:', stop: ['\n'], temperature: 0 },
    },
    permission: 'runs.send',
    cost: 30,
    body: CompletionRequest,
    errors: [404, 409, 412, 413, 429, 500, 503],
    responses: { 200: TextCompletion },
    streamed: pieces,
    handler: async ({ actor, body, headers, signal }) => {
      const named = await agentNamed(deps.agents, actor, body.model);
      const prompts = promptsOf(body);
      const terms = { maxTokens: body.max_tokens ?? undefined, temperature: body.temperature ?? undefined, parameters: parametersOf(body) };
      const [first = '', ...others] = prompts;
      const asking = { actor, named, terms, headers, sessionId: undefined };
      if (others.length > 0) return answerEach(deps, { ...asking, prompts, model: body.model, isStreamed: body.stream === true, signal });
      const { topic, runId, answerId, leftOut = [] } = await ask(deps, { ...asking, asked: askedBy(first) });
      const head = headOf(deps.clock, answerId, body.model);
      const shown = { headers: { 'x-svc-run': runId, ...warningOf(leftOut) } };
      if (!body.stream) return waitFor(topic, TextAnswer, head, shown);
      return waitFor(topic, TextBegin, { head, topic }, { ...shown, late: { afterMs: MAX_SILENCE_MS, reply: follow(topic, TextPieces, head) } });
    },
  });

/** Throws `unsupported_value`. */
function promptsOf({ prompt, n: count, best_of: best, echo, suffix }: Static<typeof CompletionRequest>): string[] {
  if ((count ?? 1) !== 1) throw compatErrors.unsupported_value('n must be 1: an agent gives one answer to a prompt.');
  if ((best ?? 1) !== 1) throw compatErrors.unsupported_value('best_of must be 1: an agent gives one answer to a prompt.');
  if (echo === true) throw compatErrors.unsupported_value('echo must be false: the answer is that of the agent alone.');
  if ((suffix ?? '') !== '') throw compatErrors.unsupported_value('suffix must be empty: agents do not fill gaps in texts.');
  const prompts = typeof prompt === 'string' ? [prompt] : prompt;
  return prompts.map((text) => {
    if (typeof text !== 'string' || text === '') throw compatErrors.unsupported_value('prompt must be a text, or a list of texts that are not empty. Lists of tokens are not supported.');
    return text;
  });
}
