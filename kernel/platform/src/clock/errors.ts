import { defineErrors } from '@svc/api';

export const clockErrors = defineErrors('clock', {
  cron: {
    status: 400,
    retry: false,
    message: (expression: string, fault: string) => `"${expression.slice(0, 200)}" is no cron expression: ${fault}.`,
    hint: 'Write minute, hour, day of month, month and day of week, such as "30 3 * * 1-5" for 3:30 from Monday to Friday.',
  },
  time_zone: {
    status: 400,
    retry: false,
    message: (name: string, fault: string) => `"${name.slice(0, 200)}" is no time zone: ${fault}.`,
    hint: 'Write a name of the IANA list, such as Europe/Berlin, America/New_York or UTC.',
  },
});
