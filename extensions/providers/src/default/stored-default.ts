/** Who answers for `default`, and who may change that (P2, P5). */
import type { Clock, Logger } from '@svc/api';
import type { DefaultModel, ProviderRecord } from '../contract.js';
import { type Candidate, type ChoiceInput, MOCK_PROVIDER, ableModel, findDefault, fromConfig, usualModel } from './default-choice.js';
import { providerErrors } from '../errors.js';
import type { StoredDefault, SettingsStore } from '../store.js';

export interface StoredDefaultDeps {
  readonly store: SettingsStore;
  readonly clock: Clock;
  readonly log: Logger;
}

export type Choosing = Omit<ChoiceInput, 'today'>;

/** The mock provider holds no place: it answers until something real is there, which is then kept. */
export const currentDefault = async (deps: StoredDefaultDeps, input: Choosing): Promise<DefaultModel> => {
  const named = await fromConfig(input);
  if (named) return shown(named, 'config', null, input.records);
  const kept = await deps.store.storedDefault();
  if (kept) return ofStored(kept, input.records);
  const found = await findDefault({ ...input, today: today(deps.clock) });
  if (!found) return shown(MOCK_PROVIDER, 'start', null, input.records);
  // Who has a key is not known for all of them: the choice holds for now and binds nobody.
  if ([...input.records.values()].some((record) => record.key_required && record.problem !== null)) return shown(found, 'start', null, input.records);
  const first = await deps.store.keepFirstDefault(toStored(deps, found, 'start'));
  deps.log.info('the default model was chosen', { provider: first.provider, model: first.model, why: first.reason });
  return ofStored(first, input.records);
};

/** A person's word. Throws `providers_default_in_config`, `providers_no_model`, `providers_not_usable`. */
export const chooseByPerson = async (deps: StoredDefaultDeps, input: Choosing, record: ProviderRecord, model: string): Promise<void> => {
  if (await fromConfig(input)) throw providerErrors.default_in_config();
  if (record.wire === 'unsupported') throw providerErrors.not_usable(record.name);
  const chosen = model || (await localModel(input, record)) || (await usualModel(input.models, record.name, record));
  if (!chosen) throw providerErrors.no_model(record.name);
  await keep(deps, { provider: record.name, model: chosen, why: `It was chosen by command on ${today(deps.clock)}.` }, 'person');
};

/**
 * A key was set: its provider takes over from the mock provider, or from a default that has no key, unless a person
 * chose that one by name. Anybody else stays: a second key is no wish to send the conversations somewhere else.
 */
export const takeOverByKey = async (deps: StoredDefaultDeps, input: Choosing, before: DefaultModel, record: ProviderRecord): Promise<boolean> => {
  if (before.chosen_by === 'config' || before.chosen_by === 'person') return false;
  if (!before.isMock && (before.provider === record.name || input.records.get(before.provider)?.auth_status !== 'missing')) return false;
  const model = record.wire === 'unsupported' ? undefined : await usualModel(input.models, record.name, record);
  if (model === undefined) return false;
  await keep(
    deps,
    { provider: record.name, model, why: `The key of ${record.display_name} was set on ${today(deps.clock)}, and no other provider could answer, so ${model} became the default model.` },
    'key',
  );
  return true;
};

/** The key of the default was removed, and there is no other for it: the mock provider answers, never another vendor. */
export const giveUpWithKey = async (deps: StoredDefaultDeps, record: ProviderRecord): Promise<void> => {
  const kept = await deps.store.storedDefault();
  if (kept?.provider !== record.name || record.auth_status !== 'missing' || record.problem !== null) return;
  const why = `The key of ${record.display_name}, the default until then, was removed on ${today(deps.clock)}. \`svc providers set-key <provider>\` or \`svc providers default <provider>\` brings in another model.`;
  await keep(deps, { ...MOCK_PROVIDER, why }, 'key');
};

const keep = async (deps: StoredDefaultDeps, chosen: Candidate, by: StoredDefault['chosenBy']): Promise<void> => {
  await deps.store.keepDefault(toStored(deps, chosen, by));
  deps.log.info('the default model was chosen', { provider: chosen.provider, model: chosen.model, why: chosen.why });
};

const toStored = (deps: StoredDefaultDeps, { provider, model, why }: Candidate, chosenBy: StoredDefault['chosenBy']): StoredDefault => ({
  provider,
  model,
  reason: why,
  chosenBy,
  chosenAt: deps.clock.iso(),
});

const ofStored = ({ provider, model, reason, chosenBy, chosenAt }: StoredDefault, records: ReadonlyMap<string, ProviderRecord>): DefaultModel =>
  shown({ provider, model, why: reason }, chosenBy, chosenAt, records);

const shown = ({ provider, model, why }: Candidate, by: DefaultModel['chosen_by'], at: string | null, records: ReadonlyMap<string, ProviderRecord>): DefaultModel => ({
  provider,
  model,
  why,
  isMock: provider === MOCK_PROVIDER.provider,
  chosen_by: by,
  chosen_at: at,
  trouble: troubleOf(provider, records.get(provider)),
});

const troubleOf = (name: string, record: ProviderRecord | undefined): string | null => {
  if (!record) return `There is no provider named "${name}" any more.`;
  if (record.problem !== null) return record.problem;
  if (record.auth_status === 'missing') return `${record.display_name} has no key.`;
  return record.auth_status === 'invalid_key' ? `${record.display_name} refused its key the last time it was asked.` : null;
};

/** A local server lists its own models; one that does not answer, or a vendor, has its usual one. */
const localModel = async ({ local, models }: Choosing, record: ProviderRecord): Promise<string | undefined> => {
  if (record.key_required || record.wire === 'builtin') return undefined;
  const listed = (await local.answering()).find((server) => server.name === record.name)?.models ?? [];
  return ableModel(listed, record.name, models);
};

const today = (clock: Clock): string => clock.iso().slice(0, 10);
