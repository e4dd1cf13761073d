/** What an operator says of tools: who may call them directly, and how long a call may take. */
import { type Plain, Type, defineConfig } from '@svc/api';

export const ToolInvoke = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether POST /api/tools/{name}/invoke is enabled' }),
    allowlist: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { default: [], maxItems: 500, description: 'Names of tools that may be called directly; `*` matches any text' }),
  },
  { additionalProperties: false, default: {}, 'x-by-hand': "it allows tool calls without the limits of an agent's grants" },
);
export type ToolInvoke = Plain<typeof ToolInvoke>;

const Seconds = { minimum: 1, maximum: 86_400 };

export const ToolInvokeSection = defineConfig('tool_invoke', ToolInvoke);
export const ToolTimeoutSecs = defineConfig('/tool_timeout_secs', Type.Integer({ ...Seconds, default: 120, description: 'Time limit in seconds for tools that set none' }));
export const ToolTimeouts = defineConfig(
  'tool_timeouts',
  Type.Record(Type.String(), Type.Integer(Seconds), { default: {}, description: "Time limit in seconds, by tool name or a pattern with `*`; overrides the tool's own limit" }),
);
