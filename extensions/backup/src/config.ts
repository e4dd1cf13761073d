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
      cron: Type.Union([Type.Literal(''), Type.String({ format: 'cron' })], {
        default: '',
        description:
          'Create backups at these times instead of every so many hours: minute, hour, day of month, month and day of week, such as `0 3 * * *`. Of times that were missed while the daemon was stopped, one is made up for after the start',
      }),
      time_zone: Type.String({
        format: 'time-zone',
        default: 'UTC',
        description: 'For `cron`, such as `Europe/Berlin`. A time that a change of the clock leaves out is at that change; one that occurs twice counts once',
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
