/** Commands about agents and what they are doing. */
import { nearest } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { type Answered, type Asked, type Command, type CommandDeps, usd } from './command.js';
import { commandErrors } from './errors.js';

const MAX_LISTED_AGENTS = 50;
const DAY_MS = 86_400_000;

export const AGENT_COMMANDS: readonly Command[] = [
  // Whoever is in a hurry to stop something is not told how to spell it.
  { name: 'stop', usage: '/stop', summary: "Stop the agent's current run", permission: 'runs.send', takes: 'text', run: stopRuns },
  { name: 'queue', usage: '/queue', summary: 'Show whether the agent is busy and how many messages are queued', permission: 'runs.read', run: showQueue },
  { name: 'status', usage: '/status', summary: 'Show the agent, its model, conversation and current run', permission: 'agents.read', run: showStatus },
  { name: 'budget', usage: '/budget', summary: "Show the agent's spending and limits", permission: 'agents.read', run: showBudget },
  { name: 'agents', usage: '/agents', summary: 'List agents', permission: 'agents.read', run: listAgents },
  { name: 'agent', usage: '/agent [NAME]', summary: 'Show an agent, by its name or id', permission: 'agents.read', takes: 'text', run: showAgent },
];

async function stopRuns(deps: CommandDeps, { actor, agent }: Asked): Promise<Answered> {
  const stopped = await deps.runs.stop(actor, { agentId: agent.id }, '/stop');
  return { message: stopped === 0 ? 'Nothing is running.' : stopped === 1 ? 'The run was stopped.' : `${stopped} runs were stopped.`, data: { stopped } };
}

async function work(deps: CommandDeps, { actor, agent }: Pick<Asked, 'actor' | 'agent'>): Promise<{ running: number; waiting: number; queued: number; says: string }> {
  const runs = await deps.runs.list(actor, { agentId: agent.id, active: true });
  const count = (status: string): number => runs.filter((run) => run.status === status).length;
  const [running, waiting, queued] = [count('running'), count('waiting'), count('queued')];
  const says = runs.length === 0 ? 'Idle.' : `Busy: ${running} running, ${waiting} waiting for a person, ${queued} in the queue.`;
  return { running, waiting, queued, says };
}

async function showQueue(deps: CommandDeps, asked: Asked): Promise<Answered> {
  const { says, ...counts } = await work(deps, asked);
  return { message: says, data: { busy: counts.running + counts.waiting + counts.queued > 0, ...counts } };
}

async function showStatus(deps: CommandDeps, asked: Asked): Promise<Answered> {
  const { actor, agent, sessionId } = asked;
  const [model] = await deps.agents.modelsOf([agent]);
  const session = await deps.sessions.describe(actor, { id: agent.id, sessionId: agent.sessionId }, sessionId);
  const { says, ...counts } = await work(deps, asked);
  return {
    message: [
      `${agent.name} is ${agent.state}, and answers with ${model?.provider}/${model?.model}.`,
      session ? `This conversation has ${session.messages} messages: ${session.label ?? session.id}.` : 'This conversation has no messages yet.',
      says,
    ].join('\n'),
    data: { agent_id: agent.id, state: agent.state, provider: model?.provider ?? null, model: model?.model ?? null, session_id: sessionId, message_count: session?.messages ?? 0, ...counts },
  };
}

async function showBudget(deps: CommandDeps, { actor, agent }: Asked): Promise<Answered> {
  const { max_cost_per_hour_usd: hour, max_cost_per_day_usd: day, max_cost_per_month_usd: month } = agent.manifest.resources;
  const now = deps.clock.now();
  const since = (ms: number): Promise<number> => deps.llm.spending(actor, [agent.id], new Date(ms).toISOString()).then((spent) => spent[agent.id] ?? 0);
  const [ofHour, ofDay, ofMonth] = await Promise.all([since(now - DAY_MS / 24), since(now - DAY_MS), since(now - 30 * DAY_MS)]);
  const tokens = agent.manifest.capabilities.max_llm_tokens_per_hour ?? 0;
  const line = (what: string, spent: number, limit: number): string => `${what}: ${usd(spent)} USD${limit > 0 ? ` of ${limit} USD` : ', no limit'}`;
  return {
    message: [
      line('Last hour', ofHour, hour),
      line('Last day', ofDay, day),
      line('Last 30 days', ofMonth, month),
      tokens > 0 ? `Tokens per hour: ${tokens} at most` : 'Tokens per hour: no limit',
    ].join('\n'),
    data: {
      hour: { spent_usd: ofHour / 1_000_000, limit_usd: hour },
      day: { spent_usd: ofDay / 1_000_000, limit_usd: day },
      month: { spent_usd: ofMonth / 1_000_000, limit_usd: month },
      max_llm_tokens_per_hour: tokens,
    },
  };
}

async function listAgents(deps: CommandDeps, { actor, agent }: Asked): Promise<Answered> {
  const agents = await deps.agents.list(actor);
  const lines = agents.slice(0, MAX_LISTED_AGENTS).map((one) => `${one.id === agent.id ? '*' : ' '} ${one.name}: ${one.state}`);
  if (agents.length > MAX_LISTED_AGENTS) lines.push(`… and ${agents.length - MAX_LISTED_AGENTS} more: GET /api/agents`);
  return { message: lines.join('\n'), data: { total: agents.length } };
}

async function showAgent(deps: CommandDeps, { actor, agent, args }: Asked): Promise<Answered> {
  const found = args === '' ? agent : await findAgent(deps, actor, args);
  const [model] = await deps.agents.modelsOf([found]);
  const about = found.manifest.description === '' ? '' : `\n${found.manifest.description}`;
  const where = found.id === agent.id ? '' : `\nTalk to it in a conversation of its own: /api/agents/${found.id}/message`;
  return {
    message: `${found.name} (${found.id}) is ${found.state}, and answers with ${model?.provider}/${model?.model}.${about}${where}`,
    data: { agent_id: found.id, name: found.name, state: found.state, session_id: found.sessionId },
  };
}

async function findAgent(deps: CommandDeps, actor: Asked['actor'], name: string): Promise<Agent> {
  const found = await deps.agents.find(actor, name);
  if (found) return found;
  const names = (await deps.agents.list(actor)).map((one) => one.name);
  throw commandErrors.unknown_agent(name.slice(0, 64), nearest(name, names)[0]);
}
