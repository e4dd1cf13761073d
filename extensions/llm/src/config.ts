import { type Plain, Type, defineConfig } from '@svc/api';

const LlmConfig = Type.Object(
  {
    request_timeout_secs: Type.Integer({ default: 120, minimum: 1, maximum: 3_600, description: 'One exchange with a model, from request to the end of its answer' }),
    idle_timeout_secs: Type.Integer({ default: 60, minimum: 1, maximum: 3_600, description: 'A stream without a byte for this long is given up' }),
    max_retries: Type.Integer({ default: 3, minimum: 0, maximum: 10, description: 'Attempts after the first, of one model' }),
    retry_base_ms: Type.Integer({ default: 2_000, minimum: 1, maximum: 60_000, description: 'The first wait; doubled each time, half of it left to chance' }),
    max_wait_ms: Type.Integer({ default: 60_000, minimum: 1, maximum: 300_000, description: 'The longest wait; a provider that asks for more is given up at once' }),
  },
  { additionalProperties: false },
);
export type LlmConfig = Plain<typeof LlmConfig>;

export const LlmSection = defineConfig('llm', LlmConfig);
