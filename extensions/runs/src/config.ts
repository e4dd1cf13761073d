import { OneOf, type Plain, Type, defineConfig } from '@svc/api';

const RunsConfig = Type.Object(
  {
    max_active: Type.Integer({ minimum: 1, maximum: 100_000, default: 1_000, description: 'Runs in flight at once; more are refused with 503 until one ends' }),
    max_iterations: Type.Integer({ minimum: 1, maximum: 1_000, default: 50, 'x-alias': ['agent_max_iterations'], description: 'Model calls of one run, unless the agent says fewer' }),
    max_depth: Type.Integer({ minimum: 1, maximum: 50, default: 5, 'x-alias': ['max_agent_call_depth'], description: 'How many agents may call each other in one chain' }),
    unwatched: Type.Optional(
      OneOf(['finish', 'cancel'], { description: 'What becomes of a run 2 s after its last watcher left. Left out: runs of /v1 are cancelled, all others finish. An agent may say otherwise' }),
    ),
    child_timeout_secs: Type.Integer({ minimum: 1, maximum: 86_400, default: 600, description: 'How long agent_send waits for the other agent' }),
  },
  { additionalProperties: false, default: {} },
);
export type RunsConfig = Plain<typeof RunsConfig>;

export const RunsSection = defineConfig('runs', RunsConfig);
