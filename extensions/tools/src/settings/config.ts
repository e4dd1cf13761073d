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
export const LazyToolsAbove = defineConfig(
  '/lazy_tools_above',
  Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 40,
    description: 'An agent that may use more tools than this is sent a few, and finds the others with tool_search and tool_load. `lazy_tools` of a manifest decides for its agent',
  }),
);

const ToolResults = Type.Object(
  {
    spill_threshold_bytes: Type.Integer({ minimum: 1_024, maximum: 63_488, default: 16_384, description: 'A longer result is stored, and the model reads its start. read_artifact reads the rest' }),
    max_artifact_bytes: Type.Integer({ minimum: 65_536, maximum: 268_435_456, default: 67_108_864, description: 'The start of a result that is stored at most' }),
    max_agent_bytes: Type.Integer({ minimum: 65_536, maximum: 17_179_869_184, default: 268_435_456, description: 'Stored results of one agent together; the oldest are deleted first' }),
    artifact_max_age_days: Type.Integer({ minimum: 1, maximum: 3_650, default: 30, description: 'How long results are stored' }),
  },
  {
    additionalProperties: false,
    default: {},
    'x-waiting': {
      max_bytes_per_turn: 'spill_threshold_bytes limits each result',
      history_fold_after_turns: 'old results stay as they were shown, until the conversation is compacted',
    },
  },
);

export const ToolResultsSection = defineConfig('tool_results', ToolResults);
