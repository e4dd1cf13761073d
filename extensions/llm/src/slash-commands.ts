/** Slash commands about the model that an agent uses, and what it may spend. */
import { type Actor, type Clock, defineErrors, defineSlashCommand, nearest, type SlashAnswer, type SlashCall, type SlashCommand } from '@svc/api';
import type { AgentsService, ModelChoice } from '@svc/ext-agents/contract';
import type { ModelsService } from '@svc/ext-models/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { ResolutionCache } from './resolution-cache.js';
import type { UsageStore } from './store.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const slashErrors = defineErrors('command', {
  unknown_model: {
    status: 400,
    retry: false,
    message: (name: string, near: string | undefined) => `The catalog has no model "${name}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'Send /models for the list, or name the provider too: /model openai/NAME.',
  },
});

interface SlashDeps {
  readonly agents: Pick<AgentsService, 'get' | 'setModel'>;
  readonly resolution: Pick<ResolutionCache, 'resolve'>;
  readonly store: Pick<UsageStore, 'spending'>;
  readonly models: Pick<ModelsService, 'find' | 'list'>;
  readonly providers: Pick<ProvidersService, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
}

export const slashCommands = (deps: SlashDeps): SlashCommand[] => [
  defineSlashCommand({ name: 'model', usage: '/model [NAME]', summary: 'Show or switch the model', permission: 'agents.write', takes: 'text', order: 21, run: (call) => switchModel(deps, call) }),
  defineSlashCommand({ name: 'budget', usage: '/budget', summary: "Show the agent's spending and limits", permission: 'agents.read', order: 34, run: (call) => showBudget(deps, call) }),
];

async function switchModel(deps: SlashDeps, { actor, agentId, args }: SlashCall): Promise<SlashAnswer> {
  const agent = await deps.agents.get(actor, agentId);
  if (args === '') {
    const target = await deps.resolution.resolve(agent.manifest.model);
    return { message: `${target.provider}/${target.model}: ${target.why}`, data: { provider: target.provider, model: target.model } };
  }
  const choice = await chooseModel(deps, args);
  const target = await deps.resolution.resolve(choice);
  await deps.agents.setModel(actor, agentId, choice);
  return { message: `From now on ${agent.name} uses ${target.provider}/${target.model}.`, data: { provider: target.provider, model: target.model } };
}

/** `NAME` or an alias of the catalog, or `PROVIDER/NAME`, which may name a model that the catalog does not know yet. */
async function chooseModel({ providers, models }: SlashDeps, name: string): Promise<ModelChoice> {
  if (name === 'default') return { provider: 'default', model: 'default' };
  const slash = name.indexOf('/');
  const prefix = slash > 0 ? name.slice(0, slash) : '';
  if (prefix !== '' && (await providers.get(prefix))) return { provider: prefix, model: name.slice(slash + 1) };
  const known = await models.find(name);
  if (known) return { provider: known.provider, model: known.id };
  const ids = (await models.list()).map((model) => model.id);
  throw slashErrors.unknown_model(name, nearest(name, ids)[0]);
}

async function showBudget(deps: SlashDeps, { actor, agentId }: SlashCall): Promise<SlashAnswer> {
  const { manifest } = await deps.agents.get(actor, agentId);
  const { max_cost_per_hour_usd: hour, max_cost_per_day_usd: day, max_cost_per_month_usd: month } = manifest.resources;
  const [ofHour, ofDay, ofMonth] = await Promise.all([spentSince(deps, actor, agentId, HOUR_MS), spentSince(deps, actor, agentId, DAY_MS), spentSince(deps, actor, agentId, 30 * DAY_MS)]);
  const tokens = manifest.capabilities.max_llm_tokens_per_hour ?? 0;
  const line = (what: string, spent: number, limit: number): string => `${what}: ${spent.toFixed(4)} USD${limit > 0 ? ` of ${limit} USD` : ', no limit'}`;
  return {
    message: [
      line('Last hour', ofHour, hour),
      line('Last day', ofDay, day),
      line('Last 30 days', ofMonth, month),
      tokens > 0 ? `Tokens per hour: ${tokens} at most` : 'Tokens per hour: no limit',
    ].join('\n'),
    data: {
      hour: { spent_usd: ofHour, limit_usd: hour },
      day: { spent_usd: ofDay, limit_usd: day },
      month: { spent_usd: ofMonth, limit_usd: month },
      max_llm_tokens_per_hour: tokens,
    },
  };
}

/** In USD, in the last `ms` milliseconds. */
const spentSince = async ({ store, clock }: SlashDeps, actor: Actor, agentId: string, ms: number): Promise<number> => {
  const spent = await store.spending(actor, [agentId], new Date(clock.now() - ms).toISOString());
  return (spent[agentId] ?? 0) / 1_000_000;
};
