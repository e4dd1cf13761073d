/** What both views answer. */
import { Nullable, OneOf, Type, Uuid } from '@svc/api';
import { Action, Delivery, DELIVERY_STATES, FIRE_KINDS, FIRE_STATES, type FireDeliveryRow, type FireRow, MISSED, OVERLAP, Plan, SESSION_MODES, Target } from '../contract.js';
import type { Job } from '../jobs.js';
import { planText } from '../plan.js';

const Time = Type.String({ format: 'date-time' });

const Standing = {
  enabled: Type.Boolean(),
  delivery: Delivery,
  delivery_targets: Type.Array(Target),
  missed: OneOf(MISSED),
  overlap: OneOf(OVERLAP),
  max_late_secs: Type.Integer(),
  peer_id: Nullable(Type.String()),
  session_mode: OneOf(SESSION_MODES),
  created_at: Time,
  updated_at: Time,
  last_run: Nullable(Time),
  next_run: Nullable(Time, { description: 'Null while it is disabled, and for a date that has passed' }),
  last_status: Nullable(Type.String(), { description: '`ok`, `error: …` or `skipped: …`; null before the first fire' }),
  consecutive_errors: Type.Integer(),
  auto_disabled: Type.Boolean({ description: 'Disabled after five failures in a row' }),
  fire_count: Type.Integer(),
};

export const Schedule = Type.Object(
  {
    id: Uuid,
    owner_id: Type.String(),
    name: Type.String(),
    cron: Type.String({ description: 'Five cron fields, `every Ns` or `at` and a time' }),
    tz: Nullable(Type.String()),
    agent_id: Nullable(Type.String()),
    workflow_id: Nullable(Type.String()),
    message: Type.String({ description: 'What the agent is asked, or the input of the workflow' }),
    ...Standing,
  },
  { 'x-name': 'Schedule' },
);

export const CronJob = Type.Object(
  { id: Uuid, owner_id: Type.String(), agent_id: Nullable(Type.String()), name: Type.String(), schedule: Plan, schedule_text: Type.String(), action: Action, one_shot: Type.Boolean(), ...Standing },
  { 'x-name': 'CronJob' },
);

export const Fire = Type.Object(
  {
    id: Uuid,
    job_id: Uuid,
    kind: OneOf(FIRE_KINDS, { description: '`late`: made up for after the daemon was off' }),
    due_at: Time,
    fired_at: Time,
    ended_at: Nullable(Time),
    status: OneOf(FIRE_STATES),
    reason: Nullable(Type.String({ description: 'Why it was skipped or failed' })),
    run_id: Nullable(Type.String()),
    session_id: Nullable(Type.String()),
    output: Nullable(Type.String()),
    delivered: Nullable(Type.String({ description: 'Places that took the answer, of all: `1/2`' })),
    deliveries: Type.Array(
      Type.Object({
        to: Type.String({ description: 'As `delivery` takes it in text' }),
        status: OneOf(DELIVERY_STATES, { description: '`sent`: the target took it. `unknown`: it may have arrived, and is not sent again' }),
        reason: Nullable(Type.String({ description: 'Why it did not arrive, or not yet' })),
      }),
    ),
  },
  { 'x-name': 'CronFire' },
);

const standingOf = (job: Job) => ({
  enabled: job.enabled,
  delivery: job.delivery,
  delivery_targets: [...job.delivery_targets],
  missed: job.missed as (typeof MISSED)[number],
  overlap: job.overlap as (typeof OVERLAP)[number],
  max_late_secs: job.max_late_secs,
  peer_id: job.peer_id,
  session_mode: job.session_mode as (typeof SESSION_MODES)[number],
  created_at: job.created_at,
  updated_at: job.updated_at,
  last_run: job.last_run,
  next_run: job.next_run,
  last_status: job.last_status,
  consecutive_errors: job.consecutive_errors,
  auto_disabled: job.auto_disabled,
  fire_count: job.fire_count,
});

export const scheduleOf = (job: Job) => ({
  id: job.id,
  owner_id: job.owner_id,
  name: job.name,
  cron: planText(job.schedule),
  tz: job.schedule.kind === 'cron' ? (job.schedule.tz ?? 'UTC') : null,
  agent_id: job.agent_id,
  workflow_id: job.action.kind === 'workflow' ? job.action.workflow_id : null,
  message: job.action.kind === 'agent_turn' ? job.action.message : job.action.kind === 'workflow' ? (job.action.input ?? '') : job.action.text,
  ...standingOf(job),
});

export const cronJobOf = (job: Job) => ({
  id: job.id,
  owner_id: job.owner_id,
  agent_id: job.agent_id,
  name: job.name,
  schedule: job.schedule,
  schedule_text: planText(job.schedule),
  action: job.action,
  one_shot: job.schedule.kind === 'at',
  ...standingOf(job),
});

/** `deliveries`: of this fire. */
export const fireOf = ({ owner_id: _owner, agent_id: _agent, ...row }: FireRow, deliveries: readonly FireDeliveryRow[]) => ({
  ...row,
  kind: row.kind as (typeof FIRE_KINDS)[number],
  status: row.status as (typeof FIRE_STATES)[number],
  delivered: deliveredOf(row, deliveries),
  deliveries: deliveries.map(({ target: to, status, reason }) => ({ to, status: status as (typeof DELIVERY_STATES)[number], reason })),
});

/** Fires of an earlier version counted in their own row. */
export const deliveredOf = ({ delivered }: Pick<FireRow, 'delivered'>, deliveries: readonly FireDeliveryRow[]): string | null =>
  deliveries.length === 0 ? delivered : `${deliveries.filter(({ status }) => status === 'sent').length}/${deliveries.length}`;
