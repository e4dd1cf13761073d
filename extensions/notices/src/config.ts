/** How often agents may tell their owner something, and how long it is stored. */
import { defineConfig, type Plain, Type } from '@svc/api';

const Notices = Type.Object(
  {
    max_per_hour: Type.Integer({ minimum: 0, maximum: 1_000, default: 10, description: 'Notices of one agent within 60 minutes; more are refused. 0: none' }),
    max_age_days: Type.Integer({ minimum: 1, maximum: 3_650, default: 90, description: 'How long notices are stored' }),
  },
  { additionalProperties: false, default: {} },
);
export type NoticesConfig = Plain<typeof Notices>;

export const NoticesSection = defineConfig('notices', Notices);
