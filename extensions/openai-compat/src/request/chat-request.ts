/** The body of a chat-completions request. */
import { documented, Nullable, OneOf, type Static, Type, whereFits } from '@svc/api';

/** Texts of the model's ids and of people: longer ones are no names. */
const MAX_NAME_CHARS = 512;
const MAX_STOP_CHARS = 1_000;

const ContentPart = Type.Object(
  { type: Type.String({ description: '`text` or `image_url`; others are refused by their name' }) },
  { additionalProperties: true, 'x-name': 'ChatContentPart', description: '`{type: "text", text}`, or `{type: "image_url", image_url: {url}}` with a base64 data URL of at most 10 MB' },
);

export const ChatMessage = Type.Object(
  {
    role: OneOf(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
    content: Type.Optional(Type.Union([Type.String(), Type.Null(), Type.Array(ContentPart)])),
    tool_calls: Type.Optional(Type.Unknown({ description: 'assistant: the calls of an earlier answer, `[{id, type: "function", function: {name, arguments}}]`' })),
    tool_call_id: Type.Optional(Type.Unknown({ description: 'tool: the call that `content` is the result of' })),
  },
  { additionalProperties: true, 'x-name': 'ChatMessage' },
);
export type ChatMessage = Static<typeof ChatMessage>;

/** Absent and null are the same. */
const Maybe = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Type.Optional(Nullable(schema));

/** Of a tool, and of the schema of an answer. */
export const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const StopText = Type.String({ minLength: 1, maxLength: MAX_STOP_CHARS });

const ResponseFormat = Type.Union(
  [
    Type.Object({ type: OneOf(['text', 'json_object']) }, { additionalProperties: true }),
    Type.Object(
      {
        type: Type.Literal('json_schema'),
        json_schema: Type.Object(
          {
            name: Type.String({ pattern: NAME.source }),
            description: Type.Optional(Type.String({ maxLength: 4_000 })),
            schema: Type.Object({}, { additionalProperties: true, description: 'JSON Schema of the answer, at most 64 KiB as JSON' }),
            strict: Maybe(Type.Boolean()),
          },
          { additionalProperties: true },
        ),
      },
      { additionalProperties: true },
    ),
  ],
  { 'x-name': 'ChatResponseFormat', description: 'The form of the whole answer. Enforced by the model, not the daemon' },
);

const CHOICES = ['auto', 'none', 'required'];

const Named = { properties: { name: { type: 'string', pattern: NAME.source } }, required: ['name'] };

/** The function is in a field of its own, or flat as /v1/responses has it. */
const ToolField = Type.Object(
  { type: Type.String({ description: '`function` or `custom`; others are left out, and `X-Svc-Warning` says so', ...documented({ enum: ['function', 'custom'] }) }) },
  {
    additionalProperties: true,
    ...documented(
      whereFits(
        { properties: { function: {} }, required: ['function'] },
        { properties: { function: { type: 'object', ...Named } } },
        whereFits({ properties: { custom: {} }, required: ['custom'] }, { properties: { custom: { type: 'object', ...Named } } }, Named),
      ),
    ),
  },
);

/** The same in every request that brings tools. */
export const ToolFields = {
  tools: Maybe(
    Type.Array(ToolField, {
      maxItems: 128,
      description:
        'Tools that the client runs: `{type: "function", function: {name, description, parameters, strict}}`. `parameters` is a JSON Schema of at most 64 KiB; all tools together have at most 512 KiB. Tools of type `custom` take one text',
    }),
  ),
  tool_choice: Maybe(
    Type.Union([Type.String(documented({ enum: [...CHOICES] })), Type.Object({ type: Type.String(documented({ enum: [...CHOICES, 'function', 'custom'] })) }, { additionalProperties: true })], {
      description: '`auto`, `none`, `required`, or `{type: "function", function: {name}}`. About the tools of the request: an agent uses its own at any time. A demand holds for the first model call',
    }),
  ),
  parallel_tool_calls: Maybe(Type.Boolean({ description: 'false: at most one call of these tools in an answer' })),
};

export const ChatRequest = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: MAX_NAME_CHARS,
      description:
        '`svc:<agent>`, `svc:<agent>@<session>` (its id or label), `svc:<agent>:stateless`, an agent id or an agent name; anything else is the first agent, but for a `svc:` name that no agent has (404)',
    }),
    messages: Type.Array(ChatMessage, { minItems: 1, description: 'In a stateless request, all messages, at most 10,000; otherwise the last user message and system messages' }),
    stream: Maybe(Type.Boolean({ description: 'Answer with server-sent events' })),
    stream_options: Maybe(Type.Object({ include_usage: Maybe(Type.Boolean({ description: 'Also sends the usage in a separate last chunk' })) }, { additionalProperties: true })),
    temperature: Maybe(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: Maybe(Type.Number({ minimum: 0, maximum: 1 })),
    presence_penalty: Maybe(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: Maybe(Type.Number({ minimum: -2, maximum: 2 })),
    max_tokens: Maybe(Type.Integer({ minimum: 1 })),
    max_completion_tokens: Maybe(Type.Integer({ minimum: 1, description: 'The same under its newer name, which wins' })),
    stop: Maybe(Type.Union([StopText, Type.Array(StopText, { maxItems: 4 })], { description: 'Up to four texts before which the answer ends' })),
    seed: Maybe(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
    response_format: Maybe(ResponseFormat),
    n: Maybe(Type.Integer({ ...documented({ minimum: 1, maximum: 1 }), description: 'Must be 1: an agent gives one answer' })),
    logprobs: Maybe(Type.Boolean({ ...documented({ enum: [false] }), description: 'false: there are none' })),
    user: Maybe(Type.String({ maxLength: MAX_NAME_CHARS, description: 'The end user; each has a separate conversation with the agent' })),
    ...ToolFields,
  },
  { additionalProperties: true, 'x-name': 'ChatRequest' },
);
export type ChatRequest = Static<typeof ChatRequest>;
