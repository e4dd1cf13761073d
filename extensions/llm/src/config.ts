import { type Plain, Type, defineConfig } from '@svc/api';

const LlmConfig = Type.Object(
  {
    request_timeout_secs: Type.Integer({ default: 120, minimum: 1, maximum: 3_600, description: 'Time limit of a model call, from the request to the end of the answer' }),
    turn_timeout_secs: Type.Integer({
      default: 600,
      minimum: 1,
      maximum: 14_400,
      description: 'Time limit of one answer with its retries, waits and fallback models. A longer request_timeout_secs of an agent takes precedence',
    }),
    idle_timeout_secs: Type.Integer({ default: 60, minimum: 1, maximum: 3_600, description: 'A stream without data for this long is cancelled' }),
    max_retries: Type.Integer({ default: 3, minimum: 0, maximum: 10, description: 'Maximum number of retries per model' }),
    retry_base_ms: Type.Integer({ default: 2_000, minimum: 1, maximum: 60_000, description: 'First wait before a retry; doubled each time, half of it random' }),
    prompt_caching: Type.Boolean({
      default: true,
      'x-alias': ['prompt_caching'],
      description:
        'Whether providers of the Anthropic protocol are asked to cache the system prompt, the tools and the conversation. Repeated input then costs less, and input that is written to the cache somewhat more. OpenAI, Gemini and most others cache by themselves, whatever this says',
    }),
    max_wait_ms: Type.Integer({ default: 60_000, minimum: 1, maximum: 300_000, description: 'The longest wait. If a provider asks for more, the call fails immediately' }),
  },
  { additionalProperties: false },
);
export type LlmConfig = Plain<typeof LlmConfig>;

export const LlmSection = defineConfig('llm', LlmConfig);

const Usd = (description: string) => Type.Number({ default: 0, minimum: 0, maximum: 1_000_000_000, description });

export const Budget = Type.Object(
  {
    hourly_limit: Usd('US dollars that all agents together may spend in 60 minutes; 0 means no limit'),
    daily_limit: Usd('US dollars that all agents together may spend in a day (UTC); 0 means no limit'),
    monthly_limit: Usd('US dollars that all agents together may spend in a month (UTC); 0 means no limit'),
    idle_limit: Usd('US dollars that one agent may spend in turns that no message of a person began, such as messages of other agents, since a person last wrote to it; 0 means no limit'),
    alert_threshold: Type.Number({ default: 0.8, minimum: 0, maximum: 1, description: 'The share of a limit at which its status becomes `warning`' }),
    default_max_llm_tokens_per_hour: Type.Integer({ default: 0, minimum: 0, description: 'Tokens per hour of agents whose manifest has no max_llm_tokens_per_hour; 0 means no limit' }),
    default_burst_ratio: Type.Number({
      default: 0,
      minimum: 0,
      maximum: 1,
      description: 'The share of their tokens per hour that agents without a burst_ratio may use in one minute; 0 means no limit',
    }),
  },
  { additionalProperties: false, default: {} },
);
export type Budget = Plain<typeof Budget>;

export const BudgetSection = defineConfig('budget', Budget);
