/** What agents may do with jobs of their own: each acts for itself alone. */
import { type AnyTool, defineTool, type Need, needOf, OneOf, type OptionalHandle, type Origin, type Plain, type ToolCall, Type } from '@svc/api';
import { ChannelsSend, type ChannelsService } from '@svc/ext-channels/contract';
import { Action, type Delivery, Plan } from './contract.js';
import type { Job, Jobs } from './jobs.js';
import { parsePlan, planText } from './plan.js';
import { scheduleErrors } from './errors.js';
import { DeliveryInput, deliveryOf } from './routes/bodies.js';
import { chatOf, readTarget } from './targets.js';

const MAX_LISTED = 100;
const Place = Type.Union([...DeliveryInput.anyOf], {
  description:
    'Where your answer goes each time. `last_channel`: the chat that you are in, if you are in one. Another one, such as `telegram:CHAT` or `email:ADDRESS`, needs `channels_send`, and an address `network`',
});
const JobId = Type.String({ format: 'uuid' });

const lineOf = (job: Job): string =>
  `${job.id}  ${job.name}  ${planText(job.schedule)}  ${job.enabled ? `next ${job.next_run ?? 'never'}` : 'disabled'}${job.last_status === null ? '' : `  last ${job.last_status}`}`;

export interface ToolDeps {
  readonly jobs: Jobs;
  readonly channels: OptionalHandle<ChannelsService>;
}

interface Delivering {
  readonly delivery?: Plain<typeof DeliveryInput> | undefined;
}

interface Asking extends Delivering {
  readonly action?: Action | undefined;
}

/** Each needs what doing it by hand needs: sending to a place of others, calling an address, running a workflow. What cannot be read is refused by `run`. */
const needsOf = ({ delivery, action }: Asking): Need[] => {
  const target = typeof delivery === 'string' ? readTarget(delivery) : delivery && deliveryOf(delivery);
  return [
    ...(target?.kind === 'channel' || target?.kind === 'email' ? [needOf(ChannelsSend, chatOf(target).channel)] : []),
    ...(target?.kind === 'webhook' ? [{ capability: 'network', target: target.url }] : []),
    ...(action?.kind === 'workflow' ? [{ capability: 'agent_message', target: action.workflow_id }] : []),
  ];
};

/** In a chat, its last channel is that chat: somebody else may have written to the agent when the job fires. */
const placeOf = async ({ channels }: ToolDeps, { delivery }: Delivering, { actor, agentId, sessionId }: ToolCall): Promise<{ delivery?: Delivery; isOwnChat?: boolean }> => {
  if (delivery === undefined) return {};
  const target = deliveryOf(delivery);
  const chat = target.kind === 'last_channel' ? await channels.value?.lastChat(actor, { agentId, sessionId }) : undefined;
  if (!chat) return { delivery: target };
  return { delivery: { kind: 'channel', channel: chat.channel, to: chat.chat, ...(chat.thread === undefined ? {} : { thread_id: chat.thread }) }, isOwnChat: true };
};

/** What an agent writes now is not what a person asks for later: what it read in this conversation counts when the job fires. */
const wordsOf = ({ agentId, sessionId }: ToolCall): { readonly origin?: Origin } =>
  agentId === '' ? {} : { origin: { labels: ['UntrustedAgent'], source: 'a job that an agent made', ...(sessionId === '' ? {} : { sessionId }) } };

export const jobTools = (deps: ToolDeps): AnyTool[] => {
  const { jobs } = deps;
  const own = async (actor: Parameters<Jobs['get']>[0], agentId: string, id: string): Promise<Job> => {
    const job = await jobs.get(actor, id);
    if (job.agent_id !== agentId) throw scheduleErrors.job_not_found(id);
    return job;
  };
  const listed = async (actor: Parameters<Jobs['get']>[0], agentId: string): Promise<string> => {
    const rows = await jobs.ofAgent(actor, agentId, MAX_LISTED);
    return rows.map(lineOf).join('\n') || 'You have no jobs.';
  };
  const setEnabled = async (actor: Parameters<Jobs['get']>[0], agentId: string, id: string, enabled: boolean): Promise<string> => {
    await own(actor, agentId, id);
    return lineOf(await jobs.update(actor, id, { enabled }));
  };
  const reads = { risk: 'read', openWorld: false, replay: 'safe', parallel: true } as const;
  const writes = { risk: 'write', openWorld: false, replay: 'never', parallel: false } as const;
  const again = { ...writes, replay: 'safe' } as const;
  return [
    defineTool({
      name: 'schedule_create',
      description: 'Asks you again at set times. `schedule` is five cron fields ("0 9 * * 1-5"), an interval ("every 30m"), or a time ("2027-01-31T09:00:00Z").',
      params: Type.Object({
        description: Type.String({ minLength: 1, maxLength: 16_384, description: 'What you will be asked' }),
        schedule: Type.String({ minLength: 1, maxLength: 200 }),
        tz: Type.Optional(Type.String({ maxLength: 64 })),
        delivery: Type.Optional(Place),
      }),
      ...writes,
      needs: needsOf,
      run: async ({ description, schedule, tz, delivery }, call) =>
        lineOf(
          await jobs.create(call.actor, {
            agent: call.agentId,
            plan: parsePlan(schedule, tz),
            action: { kind: 'agent_turn', message: description },
            ...wordsOf(call),
            ...(await placeOf(deps, { delivery }, call)),
          }),
        ),
    }),
    defineTool({ name: 'schedule_list', description: 'Lists your jobs.', params: Type.Object({}), ...reads, run: (_args, { actor, agentId }) => listed(actor, agentId) }),
    defineTool({
      name: 'schedule_delete',
      description: 'Pauses one of your jobs. schedule_resume starts it again.',
      params: Type.Object({ id: JobId }),
      ...again,
      run: ({ id }, { actor, agentId }) => setEnabled(actor, agentId, id, false),
    }),
    defineTool({
      name: 'schedule_resume',
      description: 'Starts one of your paused jobs again.',
      params: Type.Object({ id: JobId }),
      ...again,
      run: ({ id }, { actor, agentId }) => setEnabled(actor, agentId, id, true),
    }),
    defineTool({
      name: 'cron_create',
      description: 'Creates a job of yours: it asks you with a message, publishes a text that triggers can match, or runs a workflow, which needs `agent_message`.',
      params: Type.Object({
        name: Type.String({ minLength: 1, maxLength: 128 }),
        schedule: Plan,
        action: Action,
        delivery: Type.Optional(Place),
        session_mode: Type.Optional(OneOf(['persistent', 'new'])),
      }),
      ...writes,
      needs: needsOf,
      run: async ({ name, schedule, action, delivery, session_mode: mode }, call) =>
        lineOf(
          await jobs.create(call.actor, {
            ...{ name, agent: call.agentId, plan: schedule, action },
            ...(mode === undefined ? {} : { sessionMode: mode }),
            ...wordsOf(call),
            ...(await placeOf(deps, { delivery }, call)),
          }),
        ),
    }),
    defineTool({ name: 'cron_list', description: 'Lists your jobs.', params: Type.Object({}), ...reads, run: (_args, { actor, agentId }) => listed(actor, agentId) }),
    defineTool({
      name: 'cron_cancel',
      description: 'Pauses one of your jobs. cron_enable starts it again.',
      params: Type.Object({ job_id: JobId }),
      ...again,
      run: ({ job_id: id }, { actor, agentId }) => setEnabled(actor, agentId, id, false),
    }),
    defineTool({
      name: 'cron_enable',
      description: 'Starts one of your paused jobs again.',
      params: Type.Object({ job_id: JobId }),
      ...again,
      run: ({ job_id: id }, { actor, agentId }) => setEnabled(actor, agentId, id, true),
    }),
  ];
};
