/** Commands about models and their providers. */
import { nearest } from '@svc/api';
import type { ModelChoice } from '@svc/ext-agents/contract';
import type { Answered, Asked, Command, CommandDeps } from './command.js';
import { commandErrors } from './errors.js';

const MAX_LISTED_MODELS = 40;
const NO_KEY = 'No provider has a key yet. svc providers set-key PROVIDER sets one.';

export const MODEL_COMMANDS: readonly Command[] = [
  { name: 'model', usage: '/model [NAME]', summary: 'Show or switch the model', permission: 'agents.write', takes: 'text', run: switchModel },
  { name: 'models', usage: '/models', summary: 'List models of the providers that have a key', permission: 'models.read', run: listModels },
  { name: 'providers', usage: '/providers', summary: 'List providers and whether they have a key', permission: 'providers.read', run: listProviders },
];

async function switchModel(deps: CommandDeps, { actor, agent, args }: Asked): Promise<Answered> {
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

async function listModels(deps: CommandDeps): Promise<Answered> {
  const usable = new Set(await deps.providers.usable());
  const models = (await deps.models.list()).filter((model) => usable.has(model.provider));
  const lines = models.slice(0, MAX_LISTED_MODELS).map((model) => `${model.provider}/${model.id}`);
  if (models.length > MAX_LISTED_MODELS) lines.push(`… and ${models.length - MAX_LISTED_MODELS} more: GET /api/models`);
  return { message: lines.join('\n') || NO_KEY, data: { total: models.length } };
}

async function listProviders(deps: CommandDeps): Promise<Answered> {
  const providers = await deps.providers.list();
  const ready = providers.filter((provider) => provider.auth_status !== 'missing');
  return {
    message: ready.map((provider) => `${provider.name}: ${provider.auth_status.replaceAll('_', ' ')}`).join('\n') || NO_KEY,
    data: { configured: ready.length, total: providers.length },
  };
}
