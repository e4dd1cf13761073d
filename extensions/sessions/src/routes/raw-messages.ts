/** The log of a session as messages of blocks, nothing folded or cut. */
import { OneOf, Type } from '@svc/api';
import type { Entry, Part } from '../contract.js';

const Block = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('image'), media_type: Type.String(), data: Type.String({ description: 'Base64' }) }),
  Type.Object({ type: Type.Literal('tool_use'), id: Type.String(), name: Type.String(), input: Type.Unknown({ description: "The arguments of the call, by the tool's schema" }) }),
  Type.Object({ type: Type.Literal('tool_result'), tool_use_id: Type.String(), tool_name: Type.String(), content: Type.String(), is_error: Type.Boolean(), status: Type.Optional(Type.String()) }),
]);

export const RawMessage = Type.Object(
  {
    seq: Type.Integer({ description: 'Number of its entry in the log' }),
    role: OneOf(['system', 'user', 'assistant']),
    content: Type.Union([Type.String(), Type.Array(Block)], { description: 'The text, or blocks if there is more than text' }),
    timestamp: Type.String(),
    is_recalled: Type.Optional(Type.Boolean({ description: 'Recalled for the message that follows; a model reads it before that' })),
    is_summary: Type.Optional(Type.Boolean({ description: 'A summary that replaces earlier messages for a model' })),
  },
  { 'x-name': 'RawMessage' },
);

export const rawMessages = (entries: readonly Entry[]) => entries.map((entry) => ({ seq: entry.seq, ...messageOf(entry), timestamp: entry.at }));

const messageOf = (entry: Entry) => {
  switch (entry.kind) {
    case 'user':
    case 'assistant':
      return { role: entry.kind, content: contentOf(entry.parts ?? []) };
    case 'tool_call':
      return { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: entry.callId ?? '', name: entry.tool ?? '', input: entry.args ?? {} }] };
    case 'tool_result':
      return { role: 'user' as const, content: [resultOf(entry)] };
    case 'summary':
      return { role: 'system' as const, content: entry.content ?? '', is_summary: true };
    case 'recall':
      return { role: 'system' as const, content: entry.content ?? '', is_recalled: true };
    case 'note':
      return { role: 'system' as const, content: entry.content ?? '' };
  }
};

const resultOf = ({ callId = '', tool = '', content = '', isError = false, status }: Entry) => ({
  type: 'tool_result' as const,
  tool_use_id: callId,
  tool_name: tool,
  content,
  is_error: isError,
  ...(status === undefined ? {} : { status }),
});

const contentOf = (parts: readonly Part[]) => {
  if (parts.every(({ type }) => type === 'text')) return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
  return parts.map((part) => (part.type === 'text' ? { type: part.type, text: part.text } : { type: part.type, media_type: part.mediaType, data: part.data }));
};
