/** What the service of providers is made of. */
import type { Clock, ConfigHandle, Events, Logger, Secrets } from '@svc/api';
import type { LocalModelsService, ModelsService } from '@svc/ext-models/contract';
import type { AllowedUrls } from './addresses/allowed-urls.js';
import type { LocalServers } from './addresses/local-servers.js';
import type { ProviderEntry } from './directory.js';
import type { SettingsStore } from './store.js';

export interface ProvidersDeps {
  known: () => Promise<readonly ProviderEntry[]>;
  config: ConfigHandle;
  secrets: Secrets;
  store: SettingsStore;
  models: ModelsService;
  /** Where what local servers list is kept. */
  lists: Pick<LocalModelsService, 'forget'>;
  events: Events;
  clock: Clock;
  local: LocalServers;
  allowed: AllowedUrls;
  log: Logger;
}
