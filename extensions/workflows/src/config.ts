import { defineConfig, Type } from '@svc/api';

export const WorkflowsSection = defineConfig(
  'workflows',
  Type.Object(
    {
      concurrency: Type.Integer({ minimum: 1, maximum: 256, default: 16, description: 'Runs that one daemon moves on at once; one that waits for its agents does not count' }),
      max_run_secs: Type.Integer({ minimum: 1, maximum: 604_800, default: 3_600, description: 'Working time of a run, whatever the workflow says' }),
    },
    { additionalProperties: false, default: {} },
  ),
);
