/** Takes away what an extension that was removed for good has kept. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '@svc/platform/config/home';
import type { SecretsAdapter } from '@svc/platform/adapters/secrets-adapter';
import type { Storage } from '@svc/platform/storage/storage';
import type { ThirdParty } from './third-party.js';

export interface PurgeParts {
  readonly home: Pick<Home, 'dataDir'>;
  readonly storage: Pick<Storage, 'drop'>;
  readonly secrets: Pick<SecretsAdapter, 'list' | 'delete'>;
}

/** Its tables, its files, and the secrets whose names begin with its id: others of its grants may be somebody else's too. */
export const purgeThirdParty = async ({ id, manifest }: Pick<ThirdParty, 'id' | 'manifest'>, { home, secrets, storage }: PurgeParts): Promise<void> => {
  await storage.drop({ id, tables: manifest.tables ?? [] });
  for (const folder of ['ext', 'cache']) await rm(join(home.dataDir, folder, id), { recursive: true, force: true });
  const keepsSecrets = manifest.grants?.some(({ grant }) => grant.startsWith('secrets:')) ?? false;
  for (const name of keepsSecrets ? await secrets.list(`${id}.`) : []) await secrets.delete(name);
};
