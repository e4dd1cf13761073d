/** Which model an agent answers with, for whoever only shows it: asked of the gateway, guessed from the words where it refuses. */
import { allKnown, type AtOnce, isSvcError, isThenable, type OptionalHandle, type OwnHook, whenKnown } from '@svc/api';
import type { ModelsService } from '@svc/ext-models/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { ModelChoice, ResolveModel } from '../contract.js';

export interface ModelShownDeps {
  readonly providers: OptionalHandle<ProvidersService>;
  readonly models: OptionalHandle<ModelsService>;
  readonly resolve: OwnHook<typeof ResolveModel>;
}

/** In the order of the choices; each distinct one is resolved once. What a person named stays as it was written. Never throws: what fails rejects. */
export const shownModels = (deps: ModelShownDeps, choices: readonly ModelChoice[]): AtOnce<ModelChoice[]> => {
  const distinct = new Map<string, AtOnce<ModelChoice>>();
  return allKnown(
    choices.map(({ provider, model }) => {
      const key = `${provider} ${model}`;
      const shown = distinct.get(key) ?? shownModel(deps, { provider, model });
      distinct.set(key, shown);
      return shown;
    }),
  );
};

const shownModel = (deps: ModelShownDeps, choice: ModelChoice): AtOnce<ModelChoice> => {
  if (!isOpen(choice.provider) && !isOpen(choice.model)) return choice;
  return whenKnown(resolvedBy(deps, choice), (resolved) => ({
    provider: isOpen(choice.provider) ? resolved.provider : choice.provider,
    model: isOpen(choice.model) ? resolved.model : choice.model,
  }));
};

/** The words that leave it to the daemon. */
const isOpen = (name: string): boolean => name === '' || name === 'default' || name === 'auto';

const resolvedBy = (deps: ModelShownDeps, choice: ModelChoice): AtOnce<ModelChoice> => {
  const resolved = deps.resolve.atOnce(choice);
  if (!isThenable(resolved)) return resolved ?? guessed(deps, choice);
  return resolved
    .then((found) => found ?? guessed(deps, choice))
    .catch((error: unknown) => {
      // A missing key, say: that it cannot answer stands in `ready` and `auth_status`.
      if (!isSvcError(error)) throw error;
      return guessed(deps, choice);
    });
};

const guessed = async ({ providers, models }: ModelShownDeps, choice: ModelChoice): Promise<ModelChoice> => {
  const service = providers.value;
  if (!service) return choice;
  const standard = await service.shownDefault();
  if (!isOpen(choice.provider)) {
    if (choice.provider === standard.provider) return standard;
    return { provider: choice.provider, model: (await service.get(choice.provider))?.default_model ?? choice.model };
  }
  if (isOpen(choice.model)) return standard;
  return { provider: (await models.value?.find(choice.model))?.provider ?? choice.provider, model: choice.model };
};
