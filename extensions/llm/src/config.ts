import { type Plain, Type, defineConfig } from '@svc/api';

const LlmConfig = Type.Object(
  {
    request_timeout_secs: Type.Integer({ default: 120, minimum: 1, maximum: 3_600, description: 'Time limit of a model call, from the request to the end of the answer' }),
    idle_timeout_secs: Type.Integer({ default: 60, minimum: 1, maximum: 3_600, description: 'A stream without data for this long is cancelled' }),
    max_retries: Type.Integer({ default: 3, minimum: 0, maximum: 10, description: 'Maximum number of retries per model' }),
    retry_base_ms: Type.Integer({ default: 2_000, minimum: 1, maximum: 60_000, description: 'First wait before a retry; doubled each time, half of it random' }),
    max_wait_ms: Type.Integer({ default: 60_000, minimum: 1, maximum: 300_000, description: 'The longest wait. If a provider asks for more, the call fails immediately' }),
  },
  { additionalProperties: false },
);
export type LlmConfig = Plain<typeof LlmConfig>;

export const LlmSection = defineConfig('llm', LlmConfig);
