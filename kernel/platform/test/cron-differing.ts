/** Where svc and another program disagree about the next time of a cron expression. */
import type { CronAnswer } from '@svc/fixtures/cron/answers';
import { nextCronTime } from '../src/clock/cron.js';

/** `indexes`: which of the times are asked for, each from the one before it. */
export const differing = async (answers: readonly CronAnswer[], indexes: readonly number[]): Promise<string[]> => {
  const wrong: string[] = [];
  for (const { expression, zone, times } of answers)
    for (const index of indexes) {
      const [before = 0, wanted = 0] = times.slice(index - 1, index + 1);
      const at = await nextCronTime(expression, zone, before);
      if (at !== wanted) wrong.push(`${expression} in ${zone} after ${new Date(before).toISOString()}: ${new Date(at).toISOString()} instead of ${new Date(wanted).toISOString()}`);
    }
  return wrong;
};
