/** The slash command about the catalog. */
import { defineSlashCommand, type OptionalHandle, type SlashCommand } from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { ModelsService } from './contract.js';

const MAX_LISTED_MODELS = 40;
const NO_KEY = 'No provider has a key yet. svc providers set-key PROVIDER sets one.';

export const modelsCommand = ({ models, providers }: { readonly models: Pick<ModelsService, 'list'>; readonly providers: OptionalHandle<ProvidersService> }): SlashCommand =>
  defineSlashCommand({
    name: 'models',
    usage: '/models',
    summary: 'List models of the providers that have a key',
    permission: 'models.read',
    order: 22,
    run: async () => {
      const usable = new Set(await providers.value?.usable());
      const listed = (await models.list()).filter((model) => usable.has(model.provider));
      const lines = listed.slice(0, MAX_LISTED_MODELS).map((model) => `${model.provider}/${model.id}`);
      if (listed.length > MAX_LISTED_MODELS) lines.push(`… and ${listed.length - MAX_LISTED_MODELS} more: GET /api/models`);
      return { message: lines.join('\n') || NO_KEY, data: { total: listed.length } };
    },
  });
