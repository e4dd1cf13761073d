/** The default model: the one that was named, or that a person chooses among those of the new provider. */
import { type DaemonClient, choose } from '@svc/cli/area';
import { findModel } from '@svc/ext-models/cli';

export const chosenModel = async (
  daemon: DaemonClient,
  { isAsking, model, provider }: { readonly model: string | undefined; readonly provider: string | undefined; readonly isAsking: boolean },
): Promise<void> => {
  const wanted = model === undefined ? await asked(daemon, provider, isAsking) : await findModel(daemon, model, provider);
  if (wanted !== undefined) await daemon.call('setDefaultProvider', { name: wanted.provider, body: { model: wanted.id } });
};

/** Undefined leaves the provider's own default. */
const asked = async (daemon: DaemonClient, provider: string | undefined, isAsking: boolean): Promise<{ readonly provider: string; readonly id: string } | undefined> => {
  if (!isAsking || provider === undefined) return undefined;
  const { models } = await daemon.call('listModels', { provider, available: true });
  if (models.length < 2) return undefined;
  const { default_model: usual } = await daemon.call('getStatus');
  const options = models.filter(({ id }) => id !== usual).map(({ display_name, id }) => ({ value: id, label: id, hint: display_name }));
  const id = await choose<string | undefined>('Default model', [{ value: undefined, label: usual ?? 'Default', hint: "the provider's default" }, ...options]);
  return id === undefined ? undefined : { provider, id };
};
