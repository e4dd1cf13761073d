import { defineConfig, type Plain, Type } from '@svc/api';

const WebhookTriggers = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether programs may call `/api/hooks/wake` and `/api/hooks/agent` with a token of their own, and must then show it or an API key' }),
    token_env: Type.String({
      default: 'SVC_WEBHOOK_TOKEN',
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
      description: 'The environment variable with the token, of at least 32 characters. Whoever has it acts for the owner of the daemon. Its text is also the key of signatures',
    }),
    max_payload_bytes: Type.Integer({ minimum: 1_024, maximum: 262_144, default: 65_536, description: 'Maximum size of a call' }),
    rate_limit_per_minute: Type.Integer({ minimum: 0, maximum: 100_000, default: 30, description: 'Calls without an API key from one address; 0 means no limit' }),
  },
  { additionalProperties: false, default: {}, 'x-security': true, 'x-by-hand': 'it says who may write to agents' },
);
export type WebhookTriggersConfig = Plain<typeof WebhookTriggers>;

export const WebhookTriggersSection = defineConfig('webhook_triggers', WebhookTriggers);
