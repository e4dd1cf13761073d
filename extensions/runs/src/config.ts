import { OneOf, type Plain, Type, defineConfig } from '@svc/api';

const RunsConfig = Type.Object(
  {
    max_active: Type.Integer({ minimum: 1, maximum: 100_000, default: 1_000, description: 'Runs in flight at once; more are refused with 503 until one ends' }),
    max_iterations: Type.Integer({ minimum: 1, maximum: 1_000, default: 50, 'x-alias': ['agent_max_iterations'], description: 'Model calls of one run, unless the agent says fewer' }),
    max_depth: Type.Integer({ minimum: 1, maximum: 50, default: 5, 'x-alias': ['max_agent_call_depth'], description: 'How many agents may call each other in one chain' }),
    unwatched: Type.Optional(
      OneOf(['finish', 'cancel'], { description: 'What becomes of a run 2 s after its last watcher left. Left out: runs of /v1 are cancelled, all others finish. An agent may say otherwise' }),
    ),
    max_history_messages: Type.Optional(
      Type.Integer({
        minimum: 4,
        maximum: 500,
        'x-alias': ['max_history_messages'],
        description: 'Messages of a session that a model is sent at most, of agents whose manifest does not say. Left out: as many as fit',
      }),
    ),
    child_timeout_secs: Type.Integer({ minimum: 1, maximum: 86_400, default: 600, description: 'How long agent_send waits for the other agent' }),
  },
  { additionalProperties: false, default: {} },
);
export type RunsConfig = Plain<typeof RunsConfig>;

export const RunsSection = defineConfig('runs', RunsConfig);

/** For agents whose manifest does not say. It makes no agent think. */
const ThinkingConfig = Type.Object(
  {
    budget_tokens: Type.Integer({ minimum: 1_024, maximum: 1_000_000, default: 10_000, description: 'Tokens that a model may think before it answers' }),
    stream_thinking: Type.Boolean({ default: true, description: 'Whether what it thinks is streamed and kept, where the model lets it be seen' }),
  },
  { additionalProperties: false, default: {} },
);
export type ThinkingConfig = Plain<typeof ThinkingConfig>;

export const ThinkingSection = defineConfig('thinking', ThinkingConfig);
