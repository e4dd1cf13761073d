/**
 * Which model a person means when they name one.
 *
 * C1  A provider that is named is taken, or refused where there is none; one may be named before the model, as PROVIDER/MODEL or PROVIDER:MODEL.
 * C2  A name alone is looked for at the agent's own provider, then in the whole catalog.
 * C3  What the catalog does not have is taken as it was written, as in the manifest of a new agent: providers have models that no catalog knows yet.
 *     Whoever names it is warned, and told what is near to it (model-remarks.ts).
 */
import { nearest, type OptionalHandle } from '@svc/api';
import type { ModelsService } from '@svc/ext-models/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { ModelChoice } from '../contract.js';
import { agentErrors } from '../errors.js';

export interface ModelChoiceDeps {
  readonly providers: OptionalHandle<ProvidersService>;
  readonly models: OptionalHandle<ModelsService>;
}

interface Named {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

const DEFAULT = 'default';

/** `current`: what the agent has now. Throws `agents_unknown_provider`. */
export const chosenModel = async (deps: ModelChoiceDeps, { provider, model }: Named, current: ModelChoice): Promise<ModelChoice> => {
  if (provider !== undefined) return atProvider(deps, provider, model ?? current.model, model === undefined);
  if (model === undefined) return current;
  if (model === DEFAULT) return { provider: DEFAULT, model };
  const prefixed = await withPrefix(deps, model);
  if (prefixed) return atProvider(deps, prefixed.provider, prefixed.model, false);
  return byName(deps, model, current.provider);
};

const atProvider = async (deps: ModelChoiceDeps, provider: string, model: string, isKept: boolean): Promise<ModelChoice> => {
  if (provider === DEFAULT) return { provider, model: isKept ? DEFAULT : model };
  await needProvider(deps, provider);
  if (model === DEFAULT) return { provider, model };
  const own = model.startsWith(`${provider}/`) || model.startsWith(`${provider}:`) ? model.slice(provider.length + 1) : model;
  const found = (await deps.models.value?.find(own, provider)) ?? (await deps.models.value?.find(model, provider));
  if (found) return { provider, model: found.id };
  // The model of another provider: the new one answers with its usual one.
  return { provider, model: isKept ? DEFAULT : own };
};

const withPrefix = async ({ providers }: ModelChoiceDeps, name: string): Promise<ModelChoice | undefined> => {
  for (const mark of ['/', ':']) {
    const end = name.indexOf(mark);
    const provider = name.slice(0, end);
    if (end > 0 && end < name.length - 1 && (await providers.value?.get(provider))) return { provider, model: name.slice(end + 1) };
  }
  return undefined;
};

const byName = async (deps: ModelChoiceDeps, model: string, current: string): Promise<ModelChoice> => {
  if (!deps.models.value) return { provider: current, model };
  const own = current === DEFAULT ? undefined : await deps.models.value.find(model, current);
  const found = own ?? (await deps.models.value.find(model));
  if (found) return { provider: found.provider, model: found.id };
  const standard = current === DEFAULT ? await deps.providers.value?.shownDefault() : undefined;
  const place = standard?.isMock === false ? standard.provider : current;
  // With no provider named, the gateway asks the default one for it.
  return (await hasModelsOfItsOwn(deps, place)) ? { provider: place, model } : { provider: current, model };
};

const needProvider = async ({ providers }: ModelChoiceDeps, name: string): Promise<void> => {
  if (!providers.value || (await providers.value.get(name))) return;
  const names = (await providers.value.list()).map((record) => record.name);
  throw agentErrors.agents_unknown_provider(name, nearest(name, names));
};

/** A server that needs no key, or a provider of which the catalog has nothing. The mock provider has one answer and no models. */
const hasModelsOfItsOwn = async ({ providers, models }: ModelChoiceDeps, provider: string): Promise<boolean> => {
  const record = await providers.value?.get(provider);
  if (!record || record.wire === 'builtin') return false;
  return !record.key_required || (await models.value?.list({ provider }))?.length === 0 || !models.value;
};
