/** When agents tidy their memory. */
import { defineConfig, type Plain, Type } from '@svc/api';

const AutoDream = Type.Object(
  {
    enabled: Type.Boolean({ default: false, description: 'Whether agents whose manifest says `auto_dream_enabled = true` tidy their memory by themselves' }),
    min_hours: Type.Number({ minimum: 1, maximum: 8_760, default: 24, description: 'Hours between two dreams of an agent at least' }),
    min_sessions: Type.Integer({ minimum: 0, maximum: 10_000, default: 5, description: 'Conversations that an agent has begun since its last dream at least' }),
    check_interval_secs: Type.Integer({ minimum: 60, maximum: 604_800, default: 600, description: 'How often svc looks for agents whose dream is due' }),
    timeout_secs: Type.Integer({ minimum: 30, maximum: 86_400, default: 600, description: 'A dream that takes longer is stopped' }),
  },
  { additionalProperties: false, default: {}, 'x-waiting': { lock_dir: 'a dream is locked in the database, which all daemons share' } },
);
export type AutoDreamConfig = Plain<typeof AutoDream>;
export const AutoDreamSection = defineConfig('auto_dream', AutoDream);
