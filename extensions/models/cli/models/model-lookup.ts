/** Which model a person means: by id, alias or display name, alone or behind its provider. */
import { type DaemonClient, Failure } from '@svc/cli/area';
import { nearest } from '@svc/api';
import type { OutputOf } from '@svc/client';

export type ModelRow = OutputOf<'listModels'>['models'][number];

/** Of several providers that serve it, one that can be asked now. Throws a failure that names the nearest. */
export const findModel = async (daemon: DaemonClient, wanted: string, provider?: string): Promise<ModelRow> => {
  const { models } = await daemon.call('listModels', provider === undefined ? {} : { provider });
  const asked = wanted.toLowerCase();
  const ways: ReadonlyArray<(model: ModelRow) => readonly string[]> = [
    (model) => [model.id],
    (model) => [`${model.provider}/${model.id}`, `${model.provider}:${model.id}`],
    (model) => model.aliases,
    (model) => [model.display_name],
  ];
  for (const namesOf of ways) {
    const found = models.filter((model) => namesOf(model).some((name) => name.toLowerCase() === asked));
    const best = found.find(({ available }) => available) ?? found[0];
    if (best !== undefined) return best;
  }
  const near = nearest(wanted, [...new Set(models.flatMap(({ id, aliases }) => [id, ...aliases]))]);
  throw new Failure(`The catalog has no model "${wanted}"${provider === undefined ? '' : ` of ${provider}`}.${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''}`, {
    code: 'cli_no_such_model',
    fix: `svc models list --all${provider === undefined ? '' : ` --provider ${provider}`}`,
  });
};
