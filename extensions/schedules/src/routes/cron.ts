/** Cron jobs: the full view of jobs, with their fires. */
import { defineList, Nullable, OneOf, readList, reply, type RouteDecl, routeGroup, type Timers, type Clock, type Db, Type, Uuid } from '@svc/api';
import { type FireRow, FIRE_STATES, Zone } from '../contract.js';
import { deliveriesOfFires } from '../fire-deliveries.js';
import type { Fires } from '../fires.js';
import type { Jobs } from '../jobs.js';
import type { FireWaits } from '../waiting.js';
import { CronChange, CronDraft, draftOfCron, refuseFixed } from './bodies.js';
import { CronJob, cronJobOf, Fire, fireOf } from './shapes.js';
import { whyOf } from '../why.js';

export interface JobRouteDeps {
  readonly jobs: Jobs;
  readonly fires: Fires;
  readonly waits: FireWaits;
  readonly db: Db;
  readonly clock: Pick<Clock, 'now'>;
  readonly timers: Pick<Timers, 'nextAt'>;
  /** Messages and tokens of the conversation that the jobs of an agent share. */
  conversation(actor: Parameters<Jobs['get']>[0], job: Awaited<ReturnType<Jobs['get']>>): Promise<{ readonly messages: number; readonly tokens: number }>;
}

const route = routeGroup({ area: 'schedules' });
const JobPath = Type.Object({ id: Type.String({ format: 'uuid', description: 'Job id' }) });
const MAX_TIMES = 50;

const jobs = defineList({ item: CronJob, as: ['jobs', 'items'], filters: { agent_id: Type.String({ format: 'uuid', description: 'Only those of this agent' }) }, limit: { default: 100, max: 500 } });
const firesList = defineList({ item: Fire, as: ['fires', 'items'], filters: { status: OneOf(FIRE_STATES, { description: 'Only those in this state' }) }, limit: { default: 50, max: 500 } });

const Status = Type.Object(
  {
    job: CronJob,
    one_shot: Type.Boolean(),
    last_status: Nullable(Type.String()),
    consecutive_errors: Type.Integer(),
    auto_disabled: Type.Boolean(),
    consecutive_fallbacks: Type.Integer({ description: 'Always 0: a job has no model of its own to fall back from' }),
    session_message_count: Type.Integer(),
    session_token_count: Type.Integer(),
    why: Type.String({ description: 'Why it did or did not fire last, in a sentence' }),
  },
  { 'x-name': 'CronJobStatus' },
);

export const cronRoutes = (deps: JobRouteDeps): RouteDecl[] => [...changing(deps), ...reading(deps)];

const changing = ({ jobs: service }: JobRouteDeps): RouteDecl[] => [
  route({
    id: 'createCronJob',
    method: 'POST',
    path: '/api/cron/jobs',
    summary: 'Create a cron job',
    description:
      'A job asks an agent (`agent_turn`), starts a workflow, or publishes a text that triggers can match (`system_event`). `schedule` as text is read in UTC. The answer goes to the places of `delivery` and `delivery_targets`: webhooks, chats of channels, and mail. A channel is named by owners and admins, or for an agent with `channels_send`; `last_channel` is the chat in which you last wrote to the agent. Scripts before a fire, delivery to files, and `model_override` are not supported, and refused.',
    audit: 'cron_job_created',
    body: CronDraft,
    examples: {
      'every weekday at nine': { name: 'Morning news', agent_id: 'assistant', schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' }, prompt: 'What is new?' },
      'every half hour, with an address for the answer': {
        name: 'Watch the site',
        agent_id: 'assistant',
        schedule: 'every 30m',
        prompt: 'Is the site up?',
        delivery: { kind: 'webhook', url: 'https://example.com/hook' },
      },
      'every morning, to a chat and by mail': {
        name: 'Morning news',
        agent_id: 'assistant',
        schedule: '0 7 * * *',
        prompt: 'What is new?',
        delivery: { kind: 'channel', channel: 'telegram', to: '123456789' },
        delivery_targets: ['email:ada@example.org'],
      },
      'once, as an event for triggers': { name: 'New year', agent_id: 'assistant', schedule: { kind: 'at', at: '2027-01-01T00:00:00Z' }, action: { kind: 'system_event', text: 'a new year' } },
    },
    errors: [404, 409],
    responses: { 200: Type.Object({ job_id: Uuid, status: OneOf(['created']), job: CronJob }) },
    handler: async ({ actor, body }) => {
      const job = await service.create(actor, draftOfCron(body, true));
      return reply(200, { job_id: job.id, status: 'created' as const, job: cronJobOf(job) });
    },
  }),
  route({
    id: 'updateCronJob',
    method: 'PUT',
    path: '/api/cron/jobs/{id}',
    summary: 'Change a cron job',
    description: 'Fields that are left out stay. Editing the times or enabling it computes the next time from now.',
    audit: 'cron_job_updated',
    params: JobPath,
    body: CronChange,
    examples: {
      'another time': { schedule: '0 8 * * *' },
      'another message': { prompt: 'What is urgent?' },
      'what happens while the fire before runs': { overlap: 'queue' },
      'where the answer goes': { delivery: 'last_channel' },
    },
    errors: [404, 409],
    responses: { 200: CronJob },
    handler: async ({ actor, params, body }) => {
      refuseFixed(body, await service.get(actor, params.id));
      return reply(200, cronJobOf(await service.update(actor, params.id, draftOfCron(body, false))));
    },
  }),
  route({
    id: 'enableCronJob',
    method: 'PUT',
    path: '/api/cron/jobs/{id}/enable',
    summary: 'Enable or disable a cron job',
    description: 'Enabling it sets its failures to zero and computes the next time from now.',
    audit: 'cron_job_enabled',
    params: JobPath,
    examples: { enable: { enabled: true }, disable: { enabled: false }, 'enable, too': {} },
    body: Type.Object({ enabled: Type.Optional(Type.Boolean({ default: true })) }, { additionalProperties: false }),
    errors: [404, 409],
    responses: { 200: Type.Object({ id: Uuid, enabled: Type.Boolean(), next_run: Nullable(Type.String()) }) },
    handler: async ({ actor, params, body: { enabled = true } }) => {
      const job = await service.update(actor, params.id, { enabled });
      return reply(200, { id: job.id, enabled: job.enabled, next_run: job.next_run });
    },
  }),
  route({
    id: 'deleteCronJob',
    method: 'DELETE',
    path: '/api/cron/jobs/{id}',
    summary: 'Delete a cron job',
    description: 'With its fires. What it has begun goes on.',
    audit: 'cron_job_deleted',
    params: JobPath,
    errors: [404],
    responses: { 200: Type.Object({ status: OneOf(['deleted']), job_id: Uuid }) },
    handler: async ({ actor, params }) => {
      await service.remove(actor, params.id);
      return reply(200, { status: 'deleted' as const, job_id: params.id });
    },
  }),
];

const reading = (deps: JobRouteDeps): RouteDecl[] => [
  route({
    id: 'listCronJobs',
    method: 'GET',
    path: '/api/cron/jobs',
    summary: 'List cron jobs, newest first',
    description: 'Owners and admins see all jobs, everyone else their own. Schedules are among them.',
    query: jobs.query,
    responses: { 200: jobs.answer },
    handler: async ({ actor, query }) => {
      const found = await deps.jobs.list(actor, jobs, query);
      return jobs.reply(query, { ...found, rows: found.rows.map(cronJobOf) });
    },
  }),
  route({
    id: 'getCronJob',
    method: 'GET',
    path: '/api/cron/jobs/{id}',
    summary: 'Get a cron job',
    description: 'With its times, its policies and how it did last.',
    params: JobPath,
    errors: [404],
    responses: { 200: CronJob },
    handler: async ({ actor, params }) => reply(200, cronJobOf(await deps.jobs.get(actor, params.id))),
  }),
  route({
    id: 'getCronJobStatus',
    method: 'GET',
    path: '/api/cron/jobs/{id}/status',
    summary: 'How a cron job does',
    description: 'Its last fire, its failures in a row, and how long the conversation is that the jobs of its agent share.',
    params: JobPath,
    errors: [404],
    responses: { 200: Status },
    handler: async ({ actor, params }) => {
      const job = await deps.jobs.get(actor, params.id);
      const { messages, tokens } = await deps.conversation(actor, job);
      const newest = { from: 'fires', order: [{ column: 'fired_at', descending: true }], limit: 1 } as const;
      const reader = deps.db.as(actor);
      const found = await Promise.all([reader.select<FireRow>({ ...newest, where: { job_id: job.id } }), reader.select<FireRow>({ ...newest, where: { job_id: job.id, status: { not: 'skipped' } } })]);
      const shown = cronJobOf(job);
      const fires = found.flat();
      const deliveries = await deliveriesOfFires(reader, fires);
      return reply(200, {
        job: shown,
        one_shot: shown.one_shot,
        last_status: job.last_status,
        consecutive_errors: job.consecutive_errors,
        auto_disabled: job.auto_disabled,
        consecutive_fallbacks: 0,
        session_message_count: messages,
        session_token_count: tokens,
        why: whyOf(job, fires, deliveries),
      });
    },
  }),
  route({
    id: 'listCronFires',
    method: 'GET',
    path: '/api/cron/jobs/{id}/fires',
    summary: 'List what a cron job did and why it did not',
    description: 'One item for each fire and each time that was skipped, newest first. They are stored for `[schedules] keep_fires_days`.',
    params: JobPath,
    query: firesList.query,
    errors: [404],
    responses: { 200: firesList.answer },
    handler: async ({ actor, params, query }) => {
      const job = await deps.jobs.get(actor, params.id);
      const where = { job_id: job.id, ...(query.status === undefined ? {} : { status: query.status }) };
      const found = await readList<FireRow>(deps.db.as(actor), firesList, query, { from: 'fires', where, columns: { created_at: { column: 'fired_at' } } });
      const deliveries = await deliveriesOfFires(deps.db.as(actor), found.rows);
      return firesList.reply(query, { ...found, rows: found.rows.map((fire) => fireOf(fire, deliveries.get(fire.id) ?? [])) });
    },
  }),
  route({
    id: 'previewCron',
    method: 'GET',
    path: '/api/cron/next',
    summary: 'When a cron expression is due next',
    description: 'The next times, in UTC and on the clock of the zone.',
    query: Type.Object({
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TIMES, default: 5 })),
      expr: Type.String({ minLength: 1, maxLength: 200, format: 'cron' }),
      tz: Type.Optional(Zone),
    }),
    responses: { 200: Type.Object({ times: Type.Array(Type.Object({ at: Type.String({ format: 'date-time' }), local: Type.String() })) }) },
    handler: async ({ query: { expr, tz = 'UTC', count = 5 } }) => {
      const times: Array<{ at: string; local: string }> = [];
      const local = new Intl.DateTimeFormat('sv-SE', { timeZone: await knownZone(deps, expr, tz), dateStyle: 'short', timeStyle: 'short' });
      for (let at = deps.clock.now(); times.length < count; ) {
        at = await deps.timers.nextAt(expr, tz, at);
        times.push({ at: new Date(at).toISOString(), local: local.format(at) });
      }
      return reply(200, { times });
    },
  }),
];

/** Rejects with `clock_time_zone`. */
const knownZone = async ({ timers, clock }: JobRouteDeps, expr: string, tz: string): Promise<string> => {
  await timers.nextAt(expr, tz, clock.now());
  return tz;
};
