import { defineConfig, type Plain, Type } from '@svc/api';

const Section = Type.Object(
  {
    cooldown_secs: Type.Integer({ minimum: 0, maximum: 604_800, default: 5, description: 'How long a trigger rests after a fire, unless it says it itself; 0: not at all' }),
    max_per_event: Type.Integer({ minimum: 1, maximum: 1_000, default: 10, description: 'Fires for one event at most' }),
    max_depth: Type.Integer({ minimum: 1, maximum: 100, default: 5, description: 'How many triggers may follow from each other' }),
    max_per_agent: Type.Integer({ minimum: 1, maximum: 1_000, default: 50, description: 'Triggers of one agent' }),
    keep_history_days: Type.Integer({ minimum: 1, maximum: 3_650, default: 30, description: 'Fires older than this are deleted' }),
  },
  { additionalProperties: false, default: {}, 'x-waiting': { max_workflow_secs: '[workflows] max_run_secs limits a workflow, whoever started it' } },
);
export type TriggersConfig = Plain<typeof Section>;
export const TriggersSection = defineConfig('triggers', Section);
