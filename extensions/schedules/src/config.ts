import { defineConfig, type Plain, Type } from '@svc/api';

const Schedules = Type.Object(
  {
    max_jobs_per_agent: Type.Integer({ minimum: 1, maximum: 10_000, default: 50, description: 'Jobs of one agent' }),
    keep_fires_days: Type.Integer({ minimum: 1, maximum: 3_650, default: 90, description: 'Fires older than this are deleted' }),
    concurrency: Type.Integer({ minimum: 1, maximum: 64, default: 8, description: 'Fires that one daemon starts or ends at once; a fire that waits for its run does not count' }),
  },
  { additionalProperties: false, default: {} },
);
export type SchedulesConfig = Plain<typeof Schedules>;

export const SchedulesSection = defineConfig('schedules', Schedules);
export const MaxCronJobs = defineConfig('/max_cron_jobs', Type.Integer({ minimum: 1, maximum: 100_000, default: 500, description: 'Jobs of all people together' }));
export const CronSessionMessages = defineConfig(
  '/cron_session_max_messages',
  Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'A conversation of jobs with more messages is followed by a new one; 0: no limit' }),
);
export const CronSessionTokens = defineConfig(
  '/cron_session_max_tokens',
  Type.Integer({ minimum: 0, maximum: 10_000_000, default: 0, description: 'A conversation of jobs that fills more tokens of the context window is followed by a new one; 0: no limit' }),
);
