/** What both views take: names that are in use for one thing are read as one. */
import type { Plain } from '@svc/api';
import { Nullable, OneOf, Type } from '@svc/api';
import { Action, ChannelName, ChatId, Delivery, MAX_TARGETS, MISSED, OVERLAP, Plan, SESSION_MODES, Target, ThreadId, Zone } from '../contract.js';
import { scheduleErrors } from '../errors.js';
import type { JobDraft } from '../jobs.js';
import { parsePlan } from '../plan.js';
import { parseTarget } from '../targets.js';

const Text = Type.String({ minLength: 1, maxLength: 200 });
const AgentId = Type.String({ minLength: 1, maxLength: 128, description: 'Id or name of the agent' });
const Prompt = Type.String({ minLength: 1, maxLength: 16_384, description: 'The message to the agent' });

/** The same as `channel`, in other words. */
const OtherChannel = Type.Object({ kind: OneOf(['channel']), channel_type: ChannelName, recipient: Type.Optional(ChatId), thread_id: Type.Optional(ThreadId) }, { additionalProperties: false });
const Said = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: '`none`, `last_channel`, an http or https address, `email:ADDRESS`, `NAME:CHAT` of a channel, or `NAME` alone where it has one place to write to',
  examples: ['last_channel', 'telegram:123456789', 'email:ada@example.org'],
});
export const DeliveryInput = Type.Union([...Delivery.anyOf, OtherChannel, Said], { description: 'Where the answer goes, as an object or as text. Default none' });
const TargetInput = Type.Union([...Target.anyOf, OtherChannel, Said]);

export const deliveryOf = (given: Plain<typeof DeliveryInput>): Delivery => {
  if (typeof given === 'string') return parseTarget(given);
  if (!('channel_type' in given)) return given;
  const { kind, channel_type: channel, recipient, thread_id } = given;
  return { kind, channel, ...(recipient === undefined ? {} : { to: recipient }), ...(thread_id === undefined ? {} : { thread_id }) };
};

const targetsOf = (given: ReadonlyArray<Plain<typeof TargetInput>>): Target[] => given.map(deliveryOf).filter((target) => target.kind !== 'none');

/** Fields that both views take in the same form. */
const Common = {
  name: Type.Optional(Type.String({ maxLength: 200, description: 'Default: made of the agent and the message' })),
  enabled: Type.Optional(Type.Boolean({ description: 'Default true' })),
  agent_id: Type.Optional(AgentId),
  prompt: Type.Optional(Prompt),
  message: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, description: 'The same as `prompt`' })),
  delivery: Type.Optional(DeliveryInput),
  delivery_targets: Type.Optional(Nullable(Type.Array(TargetInput, { maxItems: MAX_TARGETS }), { description: 'More places; an empty list removes them' })),
  missed: Type.Optional(OneOf(MISSED, { description: 'What happens to fires that were missed while no daemon ran: none, one or each. Default once' })),
  overlap: Type.Optional(OneOf(OVERLAP, { description: 'What happens while the fire before still runs. Default skip' })),
  max_late_secs: Type.Optional(Type.Integer({ minimum: 60, maximum: 31_536_000, description: 'A missed fire is made up for within this time. Default a day' })),
};
const Fixed = {
  session_mode: Type.Optional(OneOf(SESSION_MODES, { description: '`persistent`: the jobs of an agent share a conversation of their own. `new`: each fire has one' })),
  peer_id: Type.Optional(Nullable(Text, { description: 'Label of the person that it is about' })),
};

export const ScheduleFields = {
  ...Common,
  cron: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Five cron fields, `every 30m`, or `at` and a time', examples: ['0 9 * * 1-5', 'every 30m'] })),
  tz: Type.Optional(Zone),
  workflow_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'Id or name, instead of an agent' })),
};
export const ScheduleDraft = Type.Object({ ...ScheduleFields, ...Fixed }, { additionalProperties: false, 'x-name': 'ScheduleDraft' });
export const ScheduleChange = Type.Object({ ...ScheduleFields, ...Fixed }, { additionalProperties: false, 'x-name': 'ScheduleChange' });

const PlanInput = Type.Union([Plan, Type.String({ minLength: 1, maxLength: 200 })], { description: 'An object, or text: five cron fields, `every 30m`, or a time' });
const CronFields = {
  ...Common,
  schedule: Type.Optional(PlanInput),
  action: Type.Optional(Action),
  one_shot: Type.Optional(Type.Boolean({ description: 'True for a date, false for everything else' })),
};
export const CronDraft = Type.Object({ ...CronFields, ...Fixed }, { additionalProperties: false, 'x-name': 'CronJobDraft' });
export const CronChange = Type.Object({ ...CronFields, ...Fixed }, { additionalProperties: false, 'x-name': 'CronJobChange' });

type CommonBody = Partial<Omit<Plain<typeof ScheduleDraft>, 'cron' | 'tz' | 'workflow_id'>>;

const one = <T>(first: T | undefined, second: T | undefined, names: readonly [string, string]): T | undefined => {
  if (first !== undefined && second !== undefined && JSON.stringify(first) !== JSON.stringify(second)) throw scheduleErrors.two_values(...names);
  return first ?? second;
};

const defined = <T extends object>(given: T): T => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;

const commonOf = (body: CommonBody): JobDraft =>
  defined({
    name: body.name,
    enabled: body.enabled,
    agent: body.agent_id,
    delivery: body.delivery === undefined ? undefined : deliveryOf(body.delivery),
    targets: body.delivery_targets ? targetsOf(body.delivery_targets) : undefined,
    missed: body.missed,
    overlap: body.overlap,
    maxLateSecs: body.max_late_secs,
    sessionMode: body.session_mode,
    peerId: body.peer_id,
  });

const turnOf = (message: string | undefined): JobDraft['action'] => (message === undefined ? undefined : { kind: 'agent_turn', message });

export const draftOfSchedule = (body: Plain<typeof ScheduleDraft>, isNew: boolean): JobDraft => {
  const message = one(body.prompt, body.message, ['prompt', 'message']);
  if (body.agent_id !== undefined && body.workflow_id !== undefined) throw scheduleErrors.two_targets();
  if (isNew && body.agent_id === undefined && body.workflow_id === undefined) throw scheduleErrors.no_target();
  if (isNew && body.cron === undefined) throw scheduleErrors.bad_plan('there is none.');
  const usual = `[Scheduled: ${body.name?.trim() || body.cron || 'job'}]`;
  const action: JobDraft['action'] =
    body.workflow_id === undefined ? turnOf(message ?? (isNew ? usual : undefined)) : { kind: 'workflow', workflow_id: body.workflow_id, ...(message === undefined ? {} : { input: message }) };
  return defined({ ...commonOf(body), action, plan: body.cron === undefined ? undefined : parsePlan(body.cron, body.tz) });
};

export const draftOfCron = (body: Plain<typeof CronDraft>, isNew: boolean): JobDraft => {
  const message = one(body.prompt, body.message, ['prompt', 'message']);
  const action = one(body.action, turnOf(message), ['action', 'prompt']);
  if (isNew && !action) throw scheduleErrors.no_words();
  const plan = typeof body.schedule === 'string' ? parsePlan(body.schedule) : body.schedule;
  if (body.one_shot !== undefined && plan && body.one_shot !== (plan.kind === 'at')) throw scheduleErrors.unsupported(`one_shot = ${body.one_shot}`, 'only a date fires once; all else repeats.');
  return defined({ ...commonOf(body), action, plan });
};

/** Throws where a change names what stays as it was made. */
export const refuseFixed = (body: CommonBody, job: { readonly session_mode: string; readonly peer_id: string | null }): void => {
  if (body.session_mode !== undefined && body.session_mode !== job.session_mode) throw scheduleErrors.fixed('session_mode');
  if (body.peer_id !== undefined && body.peer_id !== job.peer_id) throw scheduleErrors.fixed('peer_id');
};
