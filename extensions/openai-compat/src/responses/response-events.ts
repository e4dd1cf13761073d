/** The frames of a run as the events of a streamed response: each with its name, and numbered without gaps. */
import { type Streams, Type, defineAnswerProjection, defineStreamProjection, follow, reply } from '@svc/api';
import { LeftOut } from '@svc/ext-llm/contract';
import { type ClientCalls, type RunFrame, RunFrames } from '@svc/ext-runs/contract';
import { callsIn } from '../answer/completion.js';
import { failureOf, isOurLast, leftOutIn, showsSomething } from '../answer/frames-read.js';
import { together, warningOf } from '../answer/warning.js';
import { bodyOf, itemOf, messageItem, type ResponseBody, ResponseHead, responseOf, textPart } from './response-object.js';

const shown = { head: ResponseHead, leftOut: Type.Array(LeftOut), after: Type.Optional(Type.String()) };

export const ResponseEvents = defineStreamProjection('openai-compat.response-events', '1.0.0', { format: RunFrames, contentType: 'text/event-stream', args: Type.Object(shown) });
export const ResponseAnswer = defineAnswerProjection('openai-compat.response', '1.0.0', { format: RunFrames, args: Type.Object(shown) });
export const ResponseBegin = defineAnswerProjection('openai-compat.response-begin', '1.0.0', { format: RunFrames, args: Type.Object({ ...shown, topic: Type.String() }) });

interface Said {
  /** Number of the next event. */
  next: number;
  text: string;
  hasMessage: boolean;
}

export const showResponses = (streams: Streams): void => {
  streams.project(ResponseEvents, {
    preamble: ({ head }) => beginningOf(head, fresh()),
    begin: (): Said => ({ ...fresh(), next: 2 }),
    encode: (frame, { head }, said) => eventsOf(frame, head, said),
    until: isOurLast,
  });
  streams.answer(ResponseAnswer, {
    until: isOurLast,
    answer: (frame, { head, leftOut }) => {
      const ended = frame.type === 'done' ? frame.data.result : callsIn(frame);
      if (!ended) throw failureOf(frame);
      return reply(200, responseOf(head, bodyOf(head.id, ended, head.tools)), warningOf(together(leftOut, leftOutIn(frame))));
    },
  });
  streams.answer(ResponseBegin, {
    until: showsSomething,
    answer: (frame, { topic, after, ...rest }) => {
      if (frame.type === 'error') throw failureOf(frame);
      return follow(topic, ResponseEvents, rest, { headers: warningOf(together(rest.leftOut, leftOutIn(frame))), ...(after === undefined ? {} : { after }) });
    },
  });
};

/** The whole stream of an answer whose run already waits. */
export const responseStreamOf = (head: ResponseHead, client: ClientCalls): string => {
  const said = fresh();
  return beginningOf(head, said) + (client.text === '' ? '' : textOf(client.text, head, said)) + endOf(client, head, said);
};

const fresh = (): Said => ({ next: 0, text: '', hasMessage: false });

const event = (said: Said, type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: said.next++, ...data })}\n\n`;

const beginningOf = (head: ResponseHead, said: Said): string => {
  const response = responseOf(head, { status: 'in_progress', output: [] });
  return event(said, 'response.created', { response }) + event(said, 'response.in_progress', { response });
};

function eventsOf(frame: RunFrame, head: ResponseHead, said: Said): string | undefined {
  if (frame.type === 'chunk') return textOf(frame.data.content, head, said);
  if (frame.type === 'error') {
    const { code, error: message } = frame.data;
    const failed: ResponseBody = { status: 'failed', output: said.hasMessage ? [messageItem(head.id, said.text)] : [], error: { code, message } };
    return event(said, 'response.failed', { response: responseOf(head, failed) });
  }
  const ended = frame.type === 'done' ? frame.data.result : callsIn(frame);
  return ended ? endOf(ended, head, said) : undefined;
}

const PLACE = { output_index: 0, content_index: 0 };

function textOf(text: string, head: ResponseHead, said: Said): string {
  const item = messageItem(head.id, '', 'in_progress');
  const opening = said.hasMessage
    ? ''
    : event(said, 'response.output_item.added', { output_index: 0, item }) + event(said, 'response.content_part.added', { item_id: item.id, ...PLACE, part: textPart('') });
  said.hasMessage = true;
  said.text += text;
  return opening + event(said, 'response.output_text.delta', { item_id: item.id, ...PLACE, delta: text, logprobs: [] });
}

function endOf(ended: Parameters<typeof bodyOf>[1], head: ResponseHead, said: Said): string {
  const client = 'calls' in ended ? ended : ended.client;
  // An answer has a message where it has no calls, an empty one too.
  const opening = said.hasMessage || client ? '' : textOf('', head, said);
  const message = said.hasMessage ? messageEnd(head, said) : '';
  const calls = (client?.calls ?? []).map((call, index) => callEvents(call, head, index + (said.hasMessage ? 1 : 0), said)).join('');
  const body = bodyOf(head.id, ended, head.tools, said.text);
  return opening + message + calls + event(said, body.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response: responseOf(head, body) });
}

function messageEnd(head: ResponseHead, said: Said): string {
  const item = messageItem(head.id, said.text);
  return (
    event(said, 'response.output_text.done', { item_id: item.id, ...PLACE, text: said.text, logprobs: [] }) +
    event(said, 'response.content_part.done', { item_id: item.id, ...PLACE, part: textPart(said.text) }) +
    event(said, 'response.output_item.done', { output_index: 0, item })
  );
}

function callEvents(call: ClientCalls['calls'][number], { tools }: ResponseHead, index: number, said: Said): string {
  const item = itemOf(call, tools);
  const [text, end, name] =
    'input' in item ? [item.input, { input: item.input }, 'custom_tool_call_input'] : [item.arguments, { name: call.name, arguments: item.arguments }, 'function_call_arguments'];
  const place = { item_id: item.id, output_index: index };
  return (
    event(said, 'response.output_item.added', { output_index: index, item: itemOf(call, tools, 'in_progress') }) +
    event(said, `response.${name}.delta`, { ...place, delta: text }) +
    event(said, `response.${name}.done`, { ...place, ...end }) +
    event(said, 'response.output_item.done', { output_index: index, item })
  );
}
