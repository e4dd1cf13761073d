/** The fields of a response, for whoever writes a client. */
import { type MediaAnswer, Nullable, Type } from '@svc/api';
import { ResponseHead } from './response-object.js';

const Item = Type.Object(
  { type: Type.String({ description: '`message`, `function_call` or `custom_tool_call`' }), id: Type.String(), status: Type.String() },
  {
    additionalProperties: true,
    'x-name': 'ResponseItem',
    description: 'A message with `output_text` parts, or a call of a tool of the client with `call_id`, `name` and `arguments`; of a custom tool, with `input`',
  },
);

export const ResponseObject = Type.Object(
  {
    ...ResponseHead.properties,
    object: Type.Literal('response'),
    status: Type.String({ description: '`in_progress`, `completed`, `incomplete`, `failed` or `cancelled`. One that waits for results of tools is completed' }),
    output: Type.Array(Item),
    error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    incomplete_details: Nullable(Type.Object({ reason: Type.String() })),
    reasoning: Type.Object({ effort: Nullable(Type.String()), summary: Nullable(Type.String()) }),
    truncation: Type.String(),
    usage: Nullable(
      Type.Object({
        input_tokens: Type.Integer(),
        input_tokens_details: Type.Object({ cached_tokens: Type.Integer() }),
        output_tokens: Type.Integer(),
        output_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
        total_tokens: Type.Integer(),
      }),
    ),
  },
  { 'x-name': 'OpenaiResponse', description: 'A response' },
);

const Event = Type.Object({ type: Type.String(), sequence_number: Type.Integer() }, { additionalProperties: true, 'x-name': 'ResponseEvent' });

export const responseStream: MediaAnswer = {
  description: 'events of a response when stream is true: `response.created`, `response.output_text.delta` and so on, and `response.completed`, `response.incomplete` or `response.failed` at the end',
  contentType: 'text/event-stream',
  events: { '': Event },
};
