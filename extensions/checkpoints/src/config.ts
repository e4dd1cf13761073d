import { OneOf, Type, defineConfig } from '@svc/api';

export const CheckpointsSection = defineConfig(
  'checkpoints',
  Type.Object(
    {
      enabled: Type.Boolean({ default: true, description: 'Take a snapshot before a tool changes files' }),
      scope: OneOf(['written', 'workspace'], {
        default: 'written',
        description: '`written`: files that svc has written. `workspace`: before a command, every file of the workspace, so that whatever it changes or deletes can be brought back',
      }),
      max_mb: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1_024, description: 'Disk space for the snapshots of one workspace, in MB; the oldest are dropped first' }),
    },
    { additionalProperties: false, default: {}, description: 'Snapshots of the files that agents write' },
  ),
);
