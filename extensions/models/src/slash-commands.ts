/** The slash command about the catalog. */
import { defineSlashCommand, type HookHandle, type SlashCommand } from '@svc/api';
import type { ModelColumns, ModelsService } from './contract.js';

const MAX_LISTED_MODELS = 40;
const NO_KEY = 'No provider has a key yet. svc providers set-key PROVIDER sets one.';

export const modelsCommand = ({ models, columns }: { readonly models: Pick<ModelsService, 'list'>; readonly columns: HookHandle<typeof ModelColumns> }): SlashCommand =>
  defineSlashCommand({
    name: 'models',
    usage: '/models',
    summary: 'List models of the providers that have a key',
    permission: 'models.read',
    order: 22,
    run: async () => {
      const answers = await columns.call({ models: [] });
      const usable = new Set(answers.flatMap(({ value }) => (value?.providers ?? []).flatMap(({ name, isUsable }) => (isUsable ? [name] : []))));
      const listed = (await models.list()).filter((model) => usable.has(model.provider));
      const lines = listed.slice(0, MAX_LISTED_MODELS).map((model) => `${model.provider}/${model.id}`);
      if (listed.length > MAX_LISTED_MODELS) lines.push(`… and ${listed.length - MAX_LISTED_MODELS} more: GET /api/models`);
      return { message: lines.join('\n') || NO_KEY, data: { total: listed.length } };
    },
  });
