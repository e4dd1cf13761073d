/** The slash commands (interface.md, Events). Each answers before anything is queued, so `/stop` never waits behind what it stops. */
import { type Actor, type Clock, type Db, type Logger, nearest } from '@svc/api';
import type { Agent, AgentsService, ModelChoice } from '@svc/ext-agents/contract';
import type { LlmService } from '@svc/ext-llm/contract';
import type { ModelsService } from '@svc/ext-models/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { CommandAnswer, RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { commandErrors } from './errors.js';

export interface CommandDeps {
  readonly agents: AgentsService;
  readonly sessions: SessionsService;
  readonly runs: RunsService;
  readonly llm: LlmService;
  readonly models: ModelsService;
  readonly providers: ProvidersService;
  commit: Db['commit'];
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

export interface Asked {
  readonly actor: Actor;
  readonly agent: Agent;
  readonly sessionId: string;
  readonly args: string;
}

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  run(deps: CommandDeps, asked: Asked): Promise<Omit<CommandAnswer, 'command'>>;
}

const MAX_LISTED_MODELS = 40;

export const COMMANDS: readonly Command[] = [
  { name: 'help', usage: '/help', summary: 'List the commands', run: async () => ({ message: helpText() }) },
  { name: 'new', usage: '/new', summary: 'Begin a fresh session; the old one stays', run: newSession },
  { name: 'stop', usage: '/stop', summary: 'Stop whatever the agent is doing', run: stopRuns },
  { name: 'usage', usage: '/usage', summary: 'Tokens and cost of this agent', run: showUsage },
  { name: 'compact', usage: '/compact', summary: 'Summarise the older part of this conversation', run: compactSession },
  { name: 'think', usage: '/think [on|off]', summary: 'Have the model think before it answers, in this session', run: toggleThinking },
  {
    name: 'btw',
    usage: '/btw QUESTION',
    summary: 'Ask beside the conversation: nothing is read from it or added to it',
    run: async () => ({ message: 'Ask something beside the conversation: /btw QUESTION' }),
  },
  { name: 'model', usage: '/model [NAME]', summary: 'Show or switch the model', run: switchModel },
  { name: 'models', usage: '/models', summary: 'List models of the providers that have a key', run: listModels },
  { name: 'providers', usage: '/providers', summary: 'List providers and whether they have a key', run: listProviders },
];

function helpText(): string {
  const width = Math.max(...COMMANDS.map((command) => command.usage.length));
  return COMMANDS.map((command) => `${command.usage.padEnd(width)}  ${command.summary}`).join('\n');
}

async function newSession(deps: CommandDeps, { actor, agent, sessionId }: Asked) {
  const { ref, writes } = await deps.sessions.create({ ...actor, ownerId: agent.ownerId }, agent.id);
  await deps.commit([...writes, ...(await deps.agents.setSession(actor, agent.id, ref.id))]);
  return { message: `A fresh session has begun. The previous one is kept as ${sessionId}.`, data: { session_id: ref.id, previous_session_id: sessionId } };
}

async function stopRuns(deps: CommandDeps, { actor, agent }: Asked) {
  const stopped = await deps.runs.stop(actor, { agentId: agent.id }, '/stop');
  return { message: stopped === 0 ? 'Nothing is running.' : stopped === 1 ? 'The run was stopped.' : `${stopped} runs were stopped.`, data: { stopped } };
}

/** The answer must come before whoever asks gives the command up; the compaction goes on by itself. */
const COMPACT_WAIT_MS = 8_000;

async function compactSession(deps: CommandDeps, { actor, agent, sessionId }: Asked) {
  const late = new AbortController();
  const soon = deps.clock.sleep(COMPACT_WAIT_MS, late.signal).then(
    () => undefined,
    () => undefined,
  );
  const compacting = deps.sessions.compact(actor, agent, sessionId);
  const done = await Promise.race([compacting, soon]).finally(() => late.abort());
  if (done) return { message: done.message, data: { summarised: done.summarised } };
  compacting.catch((cause: unknown) => deps.log.warn('a compaction that somebody asked for failed after they were answered', { session: sessionId, cause }));
  return { message: 'The older part of this conversation is being summarised; you can go on meanwhile.', data: { summarised: null } };
}

async function toggleThinking(deps: CommandDeps, { actor, agent, sessionId, args }: Asked) {
  const word = args.toLowerCase();
  if (!['', 'on', 'off'].includes(word)) throw commandErrors.bad_argument('think', args, 'on, off or nothing, which switches');
  const session = await deps.sessions.named(actor, agent, sessionId);
  const isOn = word === '' ? !(session.thinking ?? agent.manifest.thinking !== null) : word === 'on';
  const target = await deps.llm.resolve(agent.manifest.model);
  const name = `${target.provider}/${target.model}`;
  if (isOn && !target.canThink) throw commandErrors.cannot_think(name);
  await deps.commit(await deps.sessions.setThinking(actor, session, isOn));
  return { message: isOn ? `${name} thinks before it answers, in this session.` : `${name} answers at once, in this session.`, data: { thinking: isOn } };
}

async function showUsage(deps: CommandDeps, { actor, agent }: Asked) {
  const usage = await deps.llm.usage(actor, { agentId: agent.id });
  const costUsd = usage.costMicros / 1_000_000;
  return {
    message: `${usage.requests} model calls, ${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${costUsd.toFixed(4)} USD.`,
    data: { requests: usage.requests, input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, cost_usd: costUsd },
  };
}

async function switchModel(deps: CommandDeps, { actor, agent, args }: Asked) {
  if (args === '') {
    const target = await deps.llm.resolve(agent.manifest.model);
    return { message: `${target.provider}/${target.model}: ${target.why}`, data: { provider: target.provider, model: target.model } };
  }
  const choice = await chooseModel(deps, args);
  const target = await deps.llm.resolve(choice);
  await deps.agents.setModel(actor, agent.id, choice);
  return { message: `From now on ${agent.name} uses ${target.provider}/${target.model}.`, data: { provider: target.provider, model: target.model } };
}

/** `NAME` or an alias of the catalog, or `PROVIDER/NAME`, which may name a model that the catalog does not know yet. */
async function chooseModel(deps: CommandDeps, name: string): Promise<ModelChoice> {
  if (name === 'default') return { provider: 'default', model: 'default' };
  const slash = name.indexOf('/');
  const prefix = slash > 0 ? name.slice(0, slash) : '';
  if (prefix !== '' && (await deps.providers.get(prefix))) return { provider: prefix, model: name.slice(slash + 1) };
  const known = await deps.models.find(name);
  if (known) return { provider: known.provider, model: known.id };
  const [near] = nearest(
    name,
    (await deps.models.list()).map((model) => model.id),
  );
  throw commandErrors.unknown_model(name, near);
}

async function listModels(deps: CommandDeps) {
  const usable = new Set(await deps.providers.usable());
  const models = (await deps.models.list()).filter((model) => usable.has(model.provider));
  const lines = models.slice(0, MAX_LISTED_MODELS).map((model) => `${model.provider}/${model.id}`);
  if (models.length > MAX_LISTED_MODELS) lines.push(`… and ${models.length - MAX_LISTED_MODELS} more: GET /api/models`);
  return { message: lines.join('\n') || 'No provider has a key yet. svc providers set-key PROVIDER sets one.', data: { total: models.length } };
}

async function listProviders(deps: CommandDeps) {
  const providers = await deps.providers.list();
  const ready = providers.filter((provider) => provider.auth_status !== 'missing');
  return {
    message: ready.map((provider) => `${provider.name}: ${provider.auth_status.replaceAll('_', ' ')}`).join('\n') || 'No provider has a key yet. svc providers set-key PROVIDER sets one.',
    data: { configured: ready.length, total: providers.length },
  };
}
