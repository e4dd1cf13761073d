/** What to warn of where an agent names models: the names are taken as they are, and a slip in one shows only when it is asked. */
import { nearest, type OptionalHandle } from '@svc/api';
import type { ModelsService } from '@svc/ext-models/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { AgentManifest, ModelChoice } from '../contract.js';

export interface RemarkDeps {
  readonly providers: OptionalHandle<ProvidersService>;
  readonly models: OptionalHandle<ModelsService>;
}

/** The words that leave the choice to the daemon. */
const isOpen = (name: string): boolean => name === '' || name === 'default' || name === 'auto';

/** A sentence for each model that nobody knows: its own, then its fallbacks. */
export const modelRemarks = async (deps: RemarkDeps, { model, fallback_models: fallbacks }: Pick<AgentManifest, 'model' | 'fallback_models'>): Promise<string[]> => {
  const remarks = await Promise.all([model, ...fallbacks].map((choice) => remarkOn(deps, choice)));
  return [...new Set(remarks.filter((remark) => remark !== undefined))];
};

const remarkOn = async ({ providers, models }: RemarkDeps, { provider, model }: ModelChoice): Promise<string | undefined> => {
  const record = isOpen(provider) ? undefined : await providers.value?.get(provider);
  if (!isOpen(provider) && providers.value && !record) {
    const names = (await providers.value.list()).map(({ name }) => name);
    return `There is no provider "${shown(provider)}" yet.${orNear(nearest(provider, names))} The agent cannot answer until there is.`;
  }
  if (isOpen(model) || !models.value || record?.wire === 'builtin') return undefined;
  const prefix = isOpen(provider) ? undefined : provider;
  if (await isKnown({ providers, models }, models.value, model, prefix)) return undefined;
  const listed = await models.value.list(prefix === undefined ? undefined : { provider: prefix });
  // Of a server whose models nobody could list there is nothing to compare with.
  if (listed.length === 0) return undefined;
  const near = nearest(
    model,
    listed.map(({ id }) => id),
  );
  return `The catalog has no model "${shown(model)}"${prefix === undefined ? '' : ` of ${prefix}`}. It is asked for by that name.${orNear(near)}`;
};

const isKnown = async ({ providers }: RemarkDeps, models: ModelsService, name: string, provider: string | undefined): Promise<boolean> => {
  if (await models.find(name, provider)) return true;
  const mark = /[/:]/.exec(name)?.index ?? 0;
  const [prefix, rest] = [name.slice(0, mark), name.slice(mark + 1)];
  if (provider !== undefined) return prefix === provider && (await models.find(rest, provider)) !== undefined;
  if (mark === 0 || !(await providers.value?.get(prefix))) return (await models.alias(name)) !== undefined;
  return (await models.find(rest, prefix)) !== undefined || (await models.list({ provider: prefix })).length === 0;
};

const shown = (name: string): string => name.slice(0, 200);

const orNear = (near: readonly string[]): string => (near.length > 0 ? ` Did you mean ${near.join(', ')}?` : '');
