import { type Plain, Type, defineConfig } from '@svc/api';

const LlmConfig = Type.Object(
  {
    request_timeout_secs: Type.Integer({ default: 120, minimum: 1, maximum: 3_600, description: 'One exchange with a model, from request to the end of its answer' }),
    idle_timeout_secs: Type.Integer({ default: 60, minimum: 1, maximum: 3_600, description: 'A stream without data for this long is cancelled' }),
    max_retries: Type.Integer({ default: 3, minimum: 0, maximum: 10, description: 'Attempts after the first, of one model' }),
    retry_base_ms: Type.Integer({ default: 2_000, minimum: 1, maximum: 60_000, description: 'The first wait; doubled each time, half of it random' }),
    max_wait_ms: Type.Integer({ default: 60_000, minimum: 1, maximum: 300_000, description: 'The longest wait. If a provider asks for more, the call fails at once' }),
  },
  { additionalProperties: false },
);
export type LlmConfig = Plain<typeof LlmConfig>;

export const LlmSection = defineConfig('llm', LlmConfig);
