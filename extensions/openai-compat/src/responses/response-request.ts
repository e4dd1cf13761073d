/** The body of a request at /v1/responses, and its input as messages. */
import { documented, isTable, Nullable, type Static, Type, whereFits } from '@svc/api';
import { compatErrors } from '../errors.js';
import { type ChatMessage, type ChatRequest, NAME, ToolFields } from '../request/chat-request.js';

const Maybe = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Type.Optional(Nullable(schema));
const MAX_ITEMS = 10_000;

const FORMATS = ['text', 'json_object', 'json_schema'];
const ROLES = ['system', 'developer', 'user', 'assistant'] as const;

const Texts = (...names: readonly string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])), required: names });
const Part = { type: 'object', properties: { type: { enum: ['input_text', 'output_text', 'text', 'refusal', 'input_image'] } }, required: ['type'] };
const Content = whereFits({ type: 'array' }, { items: Part }, { type: 'string' });
const ofType = (type: string, rules: object, otherwise?: object) => whereFits({ properties: { type: { const: type } }, required: ['type'] }, rules, otherwise);
const CALL = Texts('call_id', 'name', 'arguments');
const CUSTOM_CALL = Texts('call_id', 'name', 'input');
const RESULT = { properties: { call_id: { type: 'string' }, output: Content }, required: ['call_id', 'output'] };
const MESSAGE = { properties: { role: { enum: ROLES }, content: Content }, required: ['role', 'content'] };

/** Items without a type are messages. */
const Item = Type.Object(
  {},
  {
    additionalProperties: true,
    ...documented({
      properties: { type: { type: 'string', enum: ['message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'] } },
      ...ofType('reasoning', {}, ofType('function_call', CALL, ofType('function_call_output', RESULT, ofType('custom_tool_call', CUSTOM_CALL, ofType('custom_tool_call_output', RESULT, MESSAGE))))),
    }),
  },
);

/** A schema needs a name. */
const Format = Type.Object(
  { type: Type.String(documented({ enum: FORMATS })) },
  {
    additionalProperties: true,
    description: '`text`, `json_object` or `json_schema`',
    ...documented(ofType('json_schema', { properties: { name: { type: 'string', pattern: NAME.source }, schema: { type: 'object' } }, required: ['name', 'schema'] })),
  },
);

export const ResponseRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 512, description: 'As at /v1/chat/completions' }),
    input: Type.Union([Type.String({ minLength: 1 }), Type.Array(Item, { minItems: 1, maxItems: MAX_ITEMS })], {
      description:
        'A text, or items: messages with `input_text` and `input_image` parts, `function_call` and `function_call_output`, `custom_tool_call` and `custom_tool_call_output`. `reasoning` items are ignored, and older items of other types',
    }),
    instructions: Maybe(Type.String({ maxLength: 1_000_000, description: "Follows the agent's own prompt, for this response only" })),
    previous_response_id: Maybe(Type.String({ maxLength: 100, description: 'The newest response of a conversation, which this one continues' })),
    store: Maybe(Type.Boolean({ description: 'false: nothing is stored, and `input` is the whole conversation. By default true' })),
    stream: Maybe(Type.Boolean({ description: 'Answer with server-sent events' })),
    ...ToolFields,
    text: Maybe(Type.Object({ format: Maybe(Format) }, { additionalProperties: true })),
    max_output_tokens: Maybe(Type.Integer({ minimum: 1 })),
    temperature: Maybe(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: Maybe(Type.Number({ minimum: 0, maximum: 1 })),
    metadata: Maybe(Type.Record(Type.String(), Type.String(), { description: 'Repeated in the answer' })),
    background: Maybe(Type.Boolean({ ...documented({ enum: [false] }), description: 'Must be false' })),
  },
  { additionalProperties: true, 'x-name': 'ResponseRequest' },
);
export type ResponseRequest = Static<typeof ResponseRequest>;

/** The format that `text` asks for, as chat completions have it: there, a schema has a field of its own. */
export function formatOf({ text }: ResponseRequest): Pick<ChatRequest, 'response_format'> {
  const format = text?.format;
  if (!format) return {};
  if (!FORMATS.includes(format.type)) throw compatErrors.unsupported_value('text.format.type must be text, json_object or json_schema.');
  if (format.type !== 'json_schema') return { response_format: { type: format.type === 'text' ? 'text' : 'json_object' } };
  const { name, description, schema, strict }: Readonly<Record<string, unknown>> = format;
  if (typeof name !== 'string' || !NAME.test(name)) throw compatErrors.unsupported_value('text.format.name must have 1 to 64 letters, digits, _ or -.');
  if (!isTable(schema)) throw compatErrors.unsupported_value('text.format.schema must be a JSON Schema.');
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name, schema, ...(typeof description === 'string' ? { description } : {}), ...(typeof strict === 'boolean' ? { strict } : {}) },
    },
  };
}

/** As chat completions have them. Calls that follow each other, or a message of the assistant, are of one answer. */
export function messagesOf({ input, instructions }: Pick<ResponseRequest, 'input' | 'instructions'>): ChatMessage[] {
  const messages: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : [];
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }];
  for (const [index, item] of input.entries()) addItem(messages, item, index, index === input.length - 1);
  return messages;
}

function addItem(messages: ChatMessage[], item: Readonly<Record<string, unknown>>, index: number, isNewest: boolean): void {
  const { type = 'message', call_id: callId } = item;
  if (type === 'reasoning') return;
  if (type === 'message') messages.push(messageOf(item, index, isNewest));
  else if (typeof type === 'string' && RESULT_TYPE.test(type) && (typeof callId === 'string' || type === 'function_call_output' || type === 'custom_tool_call_output'))
    messages.push({ role: 'tool', tool_call_id: isNewest ? textIn(item, 'call_id', index) : (callId ?? ''), content: contentOf(item.output, index, isNewest) });
  else if (typeof type === 'string' && CALL_TYPE.test(type) && typeof callId === 'string') addCall(messages, { id: callId, type: 'function', function: calledIn(item, type) });
  else if (isNewest || typeof type !== 'string') throw compatErrors.unsupported_value(`input.${index} is of type ${JSON.stringify(type)?.slice(0, 60)}, which is not supported.`);
}

const CALL_TYPE = /_call$/;
const RESULT_TYPE = /_call_output$/;

/** Calls of kinds that only one program knows (local_shell_call) are named by their kind. */
function calledIn(item: Readonly<Record<string, unknown>>, type: string): { name: unknown; arguments: string } {
  const { name = type.replace(CALL_TYPE, ''), arguments: args, input, action, operation } = item;
  if (type === 'custom_tool_call') return { name, arguments: JSON.stringify({ input }) };
  return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? action ?? operation ?? {}) };
}

function addCall(messages: ChatMessage[], call: object): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  else messages[messages.length - 1] = { ...last, tool_calls: [...(Array.isArray(last.tool_calls) ? last.tool_calls : []), call] };
}

function messageOf(item: Readonly<Record<string, unknown>>, index: number, isNewest: boolean): ChatMessage {
  const role = ROLES.find((one) => one === item.role);
  if (!role) throw compatErrors.unsupported_value(`input.${index}.role must be system, developer, user or assistant.`);
  return { role, content: contentOf(item.content, index, isNewest) };
}

/** What cannot be taken keeps its type: whoever reads the message refuses it, or says it in words. */
function contentOf(content: unknown, index: number, isNewest: boolean): NonNullable<ChatMessage['content']> {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) {
    if (isNewest) throw compatErrors.unsupported_value(`input.${index} has neither text nor a list of parts.`);
    return '';
  }
  return content.map((part: unknown) => {
    const { type, ...rest }: Readonly<Record<string, unknown>> = isTable(part) ? part : {};
    if (type === 'input_image') return { type: 'image_url', image_url: { url: rest.image_url } };
    return { ...rest, type: typeof type === 'string' ? type : 'unknown' };
  });
}

function textIn(item: Readonly<Record<string, unknown>>, name: string, index: number): string {
  const value = item[name];
  if (typeof value !== 'string') throw compatErrors.unsupported_value(`input.${index}.${name} must be a text.`);
  return value;
}
