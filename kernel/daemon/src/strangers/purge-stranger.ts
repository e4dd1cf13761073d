/** Takes away what an extension that was removed for good has kept. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '@svc/platform/config/home';
import type { SecretsDoor } from '@svc/platform/doors/secrets-door';
import type { Storage } from '@svc/platform/storage/storage';
import type { Stranger } from './strangers.js';

export interface PurgeParts {
  readonly home: Pick<Home, 'dataDir'>;
  readonly storage: Pick<Storage, 'drop'>;
  readonly secrets: Pick<SecretsDoor, 'list' | 'delete'>;
}

/** Its tables, its files, and the secrets whose names begin with its id: others of its grants may be somebody else's too. */
export const purgeStranger = async ({ id, manifest }: Pick<Stranger, 'id' | 'manifest'>, { home, secrets, storage }: PurgeParts): Promise<void> => {
  await storage.drop({ id, tables: manifest.tables ?? [] });
  for (const folder of ['ext', 'cache']) await rm(join(home.dataDir, folder, id), { recursive: true, force: true });
  const keepsSecrets = manifest.grants?.some(({ grant }) => grant.startsWith('secrets:')) ?? false;
  for (const name of keepsSecrets ? await secrets.list(`${id}.`) : []) await secrets.delete(name);
};
