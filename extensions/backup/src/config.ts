import { Type, defineConfig } from '@svc/api';

export const BackupSection = defineConfig(
  'backup',
  Type.Object(
    {
      every_hours: Type.Integer({
        default: 0,
        minimum: 0,
        maximum: 8_760,
        description: 'Create a backup this often; 0: no schedule. One that was missed while the daemon was stopped is created once, after the start',
      }),
      keep: Type.Integer({
        default: 7,
        minimum: 1,
        maximum: 1_000,
        description: 'How many scheduled backups are kept; older ones are deleted. Backups that people created, and those from before a restore, stay',
      }),
      keep_days: Type.Integer({ default: 0, minimum: 0, maximum: 36_500, description: 'Delete scheduled backups after this many days, except the newest; 0: never because of their age' }),
    },
    { additionalProperties: false, default: {}, description: 'Scheduled backups' },
  ),
);
