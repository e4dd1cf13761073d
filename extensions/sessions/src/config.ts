/** How long sessions are kept, and how many. */
import { type Plain, Type, defineConfig } from '@svc/api';

const SessionConfig = Type.Object(
  {
    retention_days: Type.Integer({ minimum: 0, maximum: 36_500, default: 0, description: 'Sessions in which nothing was said for so many days are deleted; 0 keeps them' }),
    max_sessions_per_agent: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'The oldest beyond so many are deleted, never the current one; 0 is no limit' }),
    cleanup_interval_hours: Type.Integer({ minimum: 1, maximum: 8_760, default: 24, description: 'How often that is looked after; nothing is where both are 0' }),
  },
  { additionalProperties: false, default: {} },
);
export type SessionConfig = Plain<typeof SessionConfig>;

export const SessionSection = defineConfig('session', SessionConfig);
