/** Schedules: the plain view of jobs. */
import { defineList, OneOf, reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import { scheduleErrors } from '../errors.js';
import { draftOfSchedule, refuseFixed, ScheduleChange, ScheduleDraft } from './bodies.js';
import type { JobRouteDeps } from './cron.js';
import { Schedule, scheduleOf } from './shapes.js';

const route = routeGroup({ area: 'schedules' });
const SchedulePath = Type.Object({ id: Type.String({ format: 'uuid', description: 'Schedule id' }) });
const RUN_COST = 100;
const ABOUT = 'Schedules and cron jobs are one store: each is seen by both, under the same id.';

const list = defineList({
  item: Schedule,
  as: ['schedules', 'items'],
  filters: { agent_id: Type.String({ format: 'uuid', description: 'Only those of this agent' }) },
  limit: { default: 100, max: 500 },
});

const Ran = Type.Object({
  status: OneOf(['completed']),
  schedule_id: Uuid,
  fire_id: Uuid,
  agent_id: Type.Optional(Type.String()),
  workflow_id: Type.Optional(Type.String()),
  run_id: Type.Optional(Type.String()),
  response: Type.Optional(Type.String({ description: 'The answer of the agent' })),
  output: Type.Optional(Type.String({ description: 'The output of the workflow' })),
  type: Type.Optional(OneOf(['system_event'])),
});

export const scheduleRoutes = ({ jobs, fires, waits }: JobRouteDeps): RouteDecl[] => [
  route({
    id: 'listSchedules',
    method: 'GET',
    path: '/api/schedules',
    summary: 'List schedules, newest first',
    description: ABOUT,
    query: list.query,
    responses: { 200: list.answer },
    handler: async ({ actor, query }) => {
      const found = await jobs.list(actor, list, query);
      return list.reply(query, { ...found, rows: found.rows.map(scheduleOf) });
    },
  }),
  route({
    id: 'createSchedule',
    method: 'POST',
    path: '/api/schedules',
    summary: 'Create a schedule',
    description: `It asks an agent, or starts a workflow, at set times. ${ABOUT}`,
    audit: 'schedule_created',
    body: ScheduleDraft,
    examples: {
      'every weekday at nine': { agent_id: 'assistant', cron: '0 9 * * 1-5', tz: 'Europe/Berlin', prompt: 'What is new?' },
      'every half hour': { agent_id: 'assistant', cron: 'every 30m', prompt: 'Is the site up?' },
      'to the chat in which you last wrote to it': { agent_id: 'assistant', cron: '0 7 * * *', prompt: 'What is on today?', delivery: 'last_channel' },
      once: { agent_id: 'assistant', cron: 'at 2027-01-31T09:00:00Z', prompt: 'Remind me of the tax return.' },
    },
    errors: [404, 409],
    responses: { 200: Schedule },
    handler: async ({ actor, body }) => reply(200, scheduleOf(await jobs.create(actor, draftOfSchedule(body, true)))),
  }),
  route({
    id: 'getSchedule',
    method: 'GET',
    path: '/api/schedules/{id}',
    summary: 'Get a schedule',
    description: ABOUT,
    params: SchedulePath,
    errors: [404],
    responses: { 200: Schedule },
    handler: async ({ actor, params }) => reply(200, scheduleOf(await jobs.get(actor, params.id))),
  }),
  route({
    id: 'updateSchedule',
    method: 'PUT',
    path: '/api/schedules/{id}',
    summary: 'Change a schedule',
    description: 'Fields that are left out stay. Editing the times or enabling it computes the next time from now.',
    audit: 'schedule_updated',
    params: SchedulePath,
    body: ScheduleChange,
    examples: { 'another time': { cron: '0 8 * * *' }, 'another message': { prompt: 'What is urgent?' }, disable: { enabled: false } },
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['updated']), schedule_id: Uuid, schedule: Schedule }) },
    handler: async ({ actor, params, body }) => {
      refuseFixed(body, await jobs.get(actor, params.id));
      const job = await jobs.update(actor, params.id, draftOfSchedule(body, false));
      return reply(200, { status: 'updated' as const, schedule_id: job.id, schedule: scheduleOf(job) });
    },
  }),
  route({
    id: 'deleteSchedule',
    method: 'DELETE',
    path: '/api/schedules/{id}',
    summary: 'Delete a schedule',
    description: 'With its fires. What it has begun goes on.',
    audit: 'schedule_deleted',
    params: SchedulePath,
    errors: [404],
    responses: { 200: Type.Object({ status: OneOf(['removed']), schedule_id: Uuid }) },
    handler: async ({ actor, params }) => {
      await jobs.remove(actor, params.id);
      return reply(200, { status: 'removed' as const, schedule_id: params.id });
    },
  }),
  route({
    id: 'runSchedule',
    method: 'POST',
    path: '/api/schedules/{id}/run',
    summary: 'Run a schedule now',
    description:
      'Whether it is enabled or not; its next time stays. Waits for the end, and delivers as its other fires do. It goes on if you disconnect. Answers 202 where the run waits for a person.',
    permission: 'schedules.write',
    cost: RUN_COST,
    audit: 'schedule_run',
    params: SchedulePath,
    errors: [404, 500],
    responses: { 200: Ran, 202: Type.Object({ status: OneOf(['waiting']), schedule_id: Uuid, fire_id: Uuid, run_id: Type.String() }) },
    handler: async ({ actor, params, signal }) => {
      const job = await jobs.get(actor, params.id);
      const { id } = await fires.fireNow(job);
      const { fire, isWaiting } = await waits.end(actor, id, signal);
      const about = { schedule_id: job.id, fire_id: id };
      if (isWaiting) return reply(202, { status: 'waiting' as const, ...about, run_id: fire.run_id ?? '' });
      if (fire.status !== 'ok') throw scheduleErrors.fire_failed(fire.reason ?? fire.status).with({ details: { status: 'failed', ...about } });
      const run = fire.run_id === null ? {} : { run_id: fire.run_id };
      const said = fire.output ?? '';
      if (job.action.kind === 'system_event') return reply(200, { status: 'completed' as const, ...about, type: 'system_event' as const });
      if (job.action.kind === 'workflow') return reply(200, { status: 'completed' as const, ...about, ...run, workflow_id: job.action.workflow_id, output: said });
      return reply(200, { status: 'completed' as const, ...about, ...run, agent_id: job.agent_id ?? '', response: said });
    },
  }),
];
