import { OneOf, type Plain, Type, defineConfig } from '@svc/api';

const RunsConfig = Type.Object(
  {
    max_active: Type.Integer({ minimum: 1, maximum: 100_000, default: 1_000, description: 'Maximum number of active runs; more are refused with 503' }),
    max_iterations: Type.Integer({ minimum: 1, maximum: 1_000, default: 50, 'x-alias': ['agent_max_iterations'], description: 'Maximum model calls per run; an agent can set fewer' }),
    max_depth: Type.Integer({ minimum: 1, maximum: 50, default: 5, 'x-alias': ['max_agent_call_depth'], description: 'Maximum depth of agents calling agents' }),
    on_disconnect: Type.Optional(
      OneOf(['finish', 'cancel'], {
        description:
          "What happens to a run 2 s after its last client disconnects. By default, runs of /v1 are cancelled and all others finish. `unwatched` in an agent's manifest overrides this; the header `x-svc-on-disconnect` of an answer says what applies",
      }),
    ),
    max_history_messages: Type.Optional(
      Type.Integer({
        minimum: 4,
        maximum: 500,
        'x-alias': ['max_history_messages'],
        description: "Maximum number of session messages sent to a model, unless the agent's manifest sets it. By default, as many as fit",
      }),
    ),
    recall_max_tokens: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 2_000,
      description: 'Maximum tokens of what is recalled for one message, and never more than an eighth of what its model reads. 0 recalls nothing',
    }),
    client_tools_timeout_secs: Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      default: 86_400,
      description: 'How long a run waits for the results of tools that its client runs. Then it fails with run_calls_expired. A waiting run uses no memory',
    }),
    child_timeout_secs: Type.Integer({ minimum: 1, maximum: 86_400, default: 600, description: 'How long agent_send waits for an answer' }),
  },
  { additionalProperties: false, default: {} },
);
export type RunsConfig = Plain<typeof RunsConfig>;

export const RunsSection = defineConfig('runs', RunsConfig);

const lane = (most: number, description: string) => Type.Integer({ minimum: 1, maximum: 100_000, default: most, description });

const QueueConfig = Type.Object(
  {
    max_depth_per_agent: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Maximum number of queued runs of one agent; more are refused with 429. 0 means no limit' }),
    max_depth_global: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Maximum number of queued runs of all agents; more are refused with 429. 0 means no limit' }),
    concurrency: Type.Object(
      {
        cron_lane: lane(2, 'Active runs that jobs began, of each daemon. More wait in the queue, so that messages of people go first'),
        trigger_lane: lane(8, 'The same of what triggers, webhooks, tasks and goals began'),
      },
      {
        additionalProperties: false,
        default: {},
        'x-waiting': {
          main_lane: '[runs] max_active caps the runs of a daemon',
          subagent_lane: 'an agent that asks another waits for it: [runs] max_active caps both',
          default_per_agent: 'a session has one run at a time; an agent has as many as it has sessions',
          trigger_fire_timeout_secs: '[roots] max_hours limits what a trigger began',
        },
      },
    ),
    task_ttl_secs: Type.Integer({
      minimum: 0,
      maximum: 31_536_000,
      default: 0,
      description: 'A run that has waited this long in the queue without starting is cancelled, within 5 seconds. 0 means that runs wait as long as they have to',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    'x-waiting': {
      task_queue_retention_days: 'ended runs are stored for thirty days',
    },
  },
);
export type QueueConfig = Plain<typeof QueueConfig>;

/** Whose room runs wait for that no person began: what a time began, and what anything else began. */
export type Pool = 'cron' | 'trigger';

/** How many runs of each pool are active at most (roots.ts, X4). */
export const poolsOf = ({ concurrency: { cron_lane: cron, trigger_lane: trigger } }: Pick<QueueConfig, 'concurrency'>): Readonly<Record<Pool, number>> => ({ cron, trigger });

export const QueueSection = defineConfig('queue', QueueConfig);

/** For agents whose manifest does not say. It makes no agent think. */
const ThinkingConfig = Type.Object(
  {
    budget_tokens: Type.Integer({ minimum: 1_024, maximum: 1_000_000, default: 10_000, description: 'Maximum number of thinking tokens per answer' }),
    stream_thinking: Type.Boolean({ default: true, description: "Whether to stream and store the model's reasoning, if the model exposes it" }),
  },
  { additionalProperties: false, default: {} },
);
export type ThinkingConfig = Plain<typeof ThinkingConfig>;

export const ThinkingSection = defineConfig('thinking', ThinkingConfig);

const RootsConfig = Type.Object(
  {
    max_runs: Type.Integer({ minimum: 0, maximum: 100_000, default: 100, description: 'Maximum number of runs that one run may lead to, whatever began it; more are refused. 0 means no limit' }),
    max_hours: Type.Number({
      minimum: 0,
      maximum: 8_760,
      default: 24,
      description: 'How long what a job, trigger, webhook or the like began may last, with all runs that it leads to. 0 means no limit',
    }),
    max_cost_usd: Type.Number({ minimum: 0, maximum: 1_000_000, default: 5, description: 'What a job, trigger, webhook or the like may spend, with all runs that it leads to. 0 means no limit' }),
  },
  { additionalProperties: false, default: {} },
);
export type RootsConfig = Plain<typeof RootsConfig>;

export const RootsSection = defineConfig('roots', RootsConfig);
