/** Slash commands about what an agent is doing, and about what is sent to it. */
import { defineErrors, defineSlashCommand, type Db, type SlashAnswer, type SlashCall, type SlashCommand } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { RunsService } from './contract.js';

const slashErrors = defineErrors('command', {
  cannot_think: {
    status: 400,
    retry: false,
    message: (model: string) => `${model} does not support thinking. Nothing was changed.`,
    hint: 'Use /model NAME to choose a model that supports thinking.',
  },
});

interface SlashDeps {
  readonly agents: Pick<AgentsService, 'get' | 'modelsOf'>;
  readonly sessions: Pick<SessionsService, 'describe' | 'named' | 'setThinking'>;
  readonly llm: Pick<LlmService, 'resolve' | 'usage'>;
  readonly runs: Pick<RunsService, 'list' | 'stop'>;
  commit: Db['commit'];
}

export const slashCommands = (deps: SlashDeps): SlashCommand[] => [
  defineSlashCommand({
    name: 'usage',
    usage: '/usage',
    summary: 'Show tokens and cost of this agent and conversation',
    permission: 'sessions.read',
    order: 16,
    run: (call) => showUsage(deps, call),
  }),
  defineSlashCommand({
    name: 'think',
    usage: '/think [on|off]',
    summary: 'Switch thinking on or off for this session',
    permission: 'sessions.write',
    takes: { words: ['on', 'off'] },
    order: 17,
    run: (call) => toggleThinking(deps, call),
  }),
  defineSlashCommand({
    name: 'btw',
    usage: '/btw QUESTION',
    summary: 'Ask a side question that the conversation does not store',
    permission: 'runs.send',
    takes: 'text',
    order: 18,
    // With a question it is a message, and does not come here.
    run: async () => ({ message: 'Ask a side question: /btw QUESTION' }),
  }),
  // Whoever is in a hurry to stop something is not told how to spell it.
  defineSlashCommand({ name: 'stop', usage: '/stop', summary: "Stop the agent's current run", permission: 'runs.send', takes: 'text', order: 31, run: (call) => stopRuns(deps, call) }),
  defineSlashCommand({
    name: 'queue',
    usage: '/queue',
    summary: 'Show whether the agent is busy and how many messages are queued',
    permission: 'runs.read',
    order: 32,
    run: async (call) => {
      const { says, ...counts } = await work(deps, call);
      return { message: says, data: { busy: counts.running + counts.waiting + counts.queued > 0, ...counts } };
    },
  }),
  defineSlashCommand({
    name: 'status',
    usage: '/status',
    summary: 'Show the agent, its model, conversation and current run',
    permission: 'agents.read',
    order: 33,
    run: (call) => showStatus(deps, call),
  }),
];

async function stopRuns({ runs }: SlashDeps, { actor, agentId }: SlashCall): Promise<SlashAnswer> {
  const stopped = await runs.stop(actor, { agentId }, '/stop');
  return { message: stopped === 0 ? 'Nothing is running.' : stopped === 1 ? 'The run was stopped.' : `${stopped} runs were stopped.`, data: { stopped } };
}

async function work({ runs }: SlashDeps, { actor, agentId }: SlashCall): Promise<{ running: number; waiting: number; queued: number; says: string }> {
  const active = await runs.list(actor, { agentId, active: true });
  const count = (status: string): number => active.filter((run) => run.status === status).length;
  const [running, waiting, queued] = [count('running'), count('waiting'), count('queued')];
  const says = active.length === 0 ? 'Idle.' : `Busy: ${running} running, ${waiting} waiting for a person, ${queued} in the queue.`;
  return { running, waiting, queued, says };
}

async function showStatus(deps: SlashDeps, call: SlashCall): Promise<SlashAnswer> {
  const { actor, sessionId } = call;
  const agent = await deps.agents.get(actor, call.agentId);
  const [model] = await deps.agents.modelsOf([agent]);
  const session = await deps.sessions.describe(actor, placeOf(agent), sessionId);
  const { says, ...counts } = await work(deps, call);
  return {
    message: [
      `${agent.name} is ${agent.state}, and answers with ${model?.provider}/${model?.model}.`,
      session ? `This conversation has ${session.messages} messages: ${session.label ?? session.id}.` : 'This conversation has no messages yet.',
      says,
    ].join('\n'),
    data: { agent_id: agent.id, state: agent.state, provider: model?.provider ?? null, model: model?.model ?? null, session_id: sessionId, message_count: session?.messages ?? 0, ...counts },
  };
}

async function showUsage({ agents, llm, sessions }: SlashDeps, { actor, agentId, sessionId }: SlashCall): Promise<SlashAnswer> {
  const agent = await agents.get(actor, agentId);
  const [usage, session] = await Promise.all([llm.usage(actor, { agentId }), sessions.describe(actor, placeOf(agent), sessionId)]);
  const ofSession = session ? `\nThis conversation: ${session.inputTokens} tokens in, ${session.outputTokens} out, ${usd(session.costMicros)} USD.` : '';
  return {
    message: `${usage.requests} model calls, ${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${usd(usage.costMicros)} USD.${ofSession}`,
    data: {
      requests: usage.requests,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cost_usd: usage.costMicros / 1_000_000,
      ...(session ? { session: { input_tokens: session.inputTokens, output_tokens: session.outputTokens, cost_usd: session.costMicros / 1_000_000 } } : {}),
    },
  };
}

async function toggleThinking(deps: SlashDeps, { actor, agentId, sessionId, args }: SlashCall): Promise<SlashAnswer> {
  const agent = await deps.agents.get(actor, agentId);
  const word = args.toLowerCase();
  const session = await deps.sessions.named(actor, agent, sessionId);
  const isOn = word === '' ? !(session.thinking ?? agent.manifest.thinking !== null) : word === 'on';
  const target = await deps.llm.resolve(agent.manifest.model);
  const name = `${target.provider}/${target.model}`;
  if (isOn && !target.canThink) throw slashErrors.cannot_think(name);
  await deps.commit(await deps.sessions.setThinking(actor, session, isOn));
  return { message: isOn ? `${name} thinks before it answers, in this session.` : `${name} answers at once, in this session.`, data: { thinking: isOn } };
}

const placeOf = ({ id, sessionId }: Agent): { id: string; sessionId: string } => ({ id, sessionId });

const usd = (micros: number): string => (micros / 1_000_000).toFixed(4);
