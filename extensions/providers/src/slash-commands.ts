/** The slash command about providers. */
import { defineSlashCommand, type SlashCommand } from '@svc/api';
import type { ProvidersControl } from './service.js';

const NO_KEY = 'No provider has a key yet. svc providers set-key PROVIDER sets one.';

export const providersCommand = (providers: Pick<ProvidersControl, 'list'>): SlashCommand =>
  defineSlashCommand({
    name: 'providers',
    usage: '/providers',
    summary: 'List providers and whether they have a key',
    permission: 'providers.read',
    order: 23,
    run: async () => {
      const all = await providers.list();
      const ready = all.filter((provider) => provider.auth_status !== 'missing');
      return {
        message: ready.map((provider) => `${provider.name}: ${provider.auth_status.replaceAll('_', ' ')}`).join('\n') || NO_KEY,
        data: { configured: ready.length, total: all.length },
      };
    },
  });
