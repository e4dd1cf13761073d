/** What the first config.toml says. */
import type { Plain, SettingsView } from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { InitAnswer } from './answers.js';

const THERE = 'config.toml exists already and was not changed.';

export const initialized = async (settings: SettingsView, providers: ProvidersService | undefined): Promise<Plain<typeof InitAnswer>> => {
  if ((await settings.file()).exists) return { status: 'already_initialized', message: THERE };
  const found = await providers?.shownDefault();
  // The mock provider is no choice of anybody: written down it would stay when a provider gets its key.
  const isChosen = found !== undefined && found.problem === null && !found.isMock;
  const first: Record<string, unknown> = isChosen ? { 'default_model.provider': found.provider, 'default_model.model': found.model } : {};
  if (!(await settings.begin(first))) return { status: 'already_initialized', message: THERE };
  if (isChosen) return { status: 'initialized', message: `config.toml names ${found.provider} with ${found.model}. ${found.why}`, provider: found.provider, model: found.model };
  const why = found?.problem ?? found?.why ?? 'The default provider could not be determined.';
  return { status: 'initialized', message: `config.toml names no provider yet. ${why}`, ...(found && found.problem === null ? { provider: found.provider, model: found.model } : {}) };
};
