/** Tools that the sender of a message runs itself. The model is told of them; the run ends its answer with their calls, and waits. */
import { type Plain, Type } from '@svc/api';
import { LeftOut, Parameters, ToolChoice, ToolSchema } from '@svc/ext-llm/contract';

export const ClientTools = Type.Object({
  tools: Type.Array(ToolSchema),
  choice: Type.Optional(ToolChoice),
  parallel: Type.Optional(Type.Boolean({ description: 'false: at most one call of these in an answer' })),
});
export type ClientTools = Plain<typeof ClientTools>;

export const ClientCall = Type.Object({ id: Type.String(), name: Type.String(), args: Type.Unknown() });

/** What the sender is to run, and what was said before it. */
export const ClientCalls = Type.Object({
  calls: Type.Array(ClientCall),
  text: Type.String(),
  usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }, { description: 'Of the model calls since the last answer of the run' }),
  left_out: Type.Optional(Type.Array(LeftOut)),
});
export type ClientCalls = Plain<typeof ClientCalls>;

/** What the next model calls are asked with. It takes the place of what the message before it said. */
export const ClientTurn = Type.Object({
  clientTools: Type.Optional(ClientTools),
  systemExtra: Type.Optional(Type.String()),
  maxTokens: Type.Optional(Type.Number()),
  temperature: Type.Optional(Type.Number()),
  parameters: Type.Optional(Parameters),
});
export type ClientTurn = Plain<typeof ClientTurn>;

export const ClientResult = Type.Object({ callId: Type.String(), content: Type.String() });
export type ClientResult = Plain<typeof ClientResult>;

export const ClientAnswer = Type.Object({
  agentId: Type.String(),
  results: Type.Array(ClientResult),
  turn: ClientTurn,
});
export type ClientAnswer = Plain<typeof ClientAnswer>;
