/**
 * When a job is due.
 *
 * P1  The next time is computed from the schedule, never from a timer: what was missed is known after a restart.
 * P2  A failure moves no time. Editing or enabling a job computes its next time from now.
 * P3  A date is due once; then the job has no next time.
 */
import { isSvcError, type Timers } from '@svc/api';
import { MAX_EVERY_SECS, MIN_EVERY_SECS, type Plan } from './contract.js';
import { scheduleErrors } from './errors.js';

const SECOND_MS = 1_000;
const YEAR_MS = 366 * 86_400_000;
const EVERY = /^every\s+(\d{1,6})\s*(s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?|d|days?)$/i;
const AT = /^(?:at\s+)?(\d{4}-\d{2}-\d{2}T\S+)$/i;
const UNIT_SECS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

export interface Planner {
  /** Throws `schedules_bad_plan` for what can never be due. */
  check(plan: Plan, now: number): Promise<Plan>;
  /** ISO 8601; null for what is never due again. `previous` is the due time that was just used, if any. */
  next(plan: Plan, now: number, previous?: number): Promise<string | null>;
}

const iso = (ms: number): string => new Date(ms).toISOString();

export const createPlanner = (timers: Pick<Timers, 'nextAt'>): Planner => {
  const next = async (plan: Plan, now: number, previous?: number): Promise<string | null> => {
    if (plan.kind === 'at') return previous === undefined ? iso(Date.parse(plan.at)) : null;
    if (plan.kind === 'cron') return iso(await timers.nextAt(plan.expr, plan.tz ?? 'UTC', Math.max(now, previous ?? now)));
    const every = plan.every_secs * SECOND_MS;
    if (previous === undefined || previous > now) return iso(now + every);
    return iso(previous + (Math.floor((now - previous) / every) + 1) * every);
  };
  return {
    next,
    check: async (plan, now) => {
      if (plan.kind === 'at') {
        const at = Date.parse(plan.at);
        if (!Number.isFinite(at)) throw scheduleErrors.bad_plan(`${plan.at} is no date with a time.`);
        if (at <= now) throw scheduleErrors.bad_plan(`${plan.at} is in the past.`);
        if (at > now + YEAR_MS) throw scheduleErrors.bad_plan(`${plan.at} is more than a year away.`);
        return { kind: 'at', at: iso(at) };
      }
      if (plan.kind === 'cron')
        await next(plan, now).catch((error: unknown) => {
          throw isSvcError(error) ? scheduleErrors.bad_plan(error.message) : error;
        });
      return plan;
    },
  };
};

/** A schedule as people write it: five cron fields, `every 30m`, or a time. Throws `schedules_bad_plan` with an example for other words. */
export const parsePlan = (text: string, tz?: string): Plan => {
  const said = text.trim();
  const every = EVERY.exec(said);
  if (every) {
    const secs = Number(every[1]) * (UNIT_SECS[(every[2] ?? 's').charAt(0).toLowerCase()] ?? 1);
    if (secs < MIN_EVERY_SECS || secs > MAX_EVERY_SECS) throw scheduleErrors.bad_plan(`"${said}" is not between ${MIN_EVERY_SECS} seconds and a day.`);
    return { kind: 'every', every_secs: secs };
  }
  const at = AT.exec(said)?.[1];
  if (at !== undefined) return { kind: 'at', at };
  if (said.split(/\s+/).length !== 5)
    throw scheduleErrors.bad_plan(`"${said.slice(0, 100)}" is neither five cron fields, nor an interval such as "every 30m", nor a time such as "2027-01-31T09:00:00Z".`);
  return { kind: 'cron', expr: said, ...(tz === undefined ? {} : { tz }) };
};

/** `0 9 * * *`, `every 1800s`, `at 2027-01-31T09:00:00.000Z`. */
export const planText = (plan: Plan): string => (plan.kind === 'cron' ? plan.expr : plan.kind === 'every' ? `every ${plan.every_secs}s` : `at ${plan.at}`);
