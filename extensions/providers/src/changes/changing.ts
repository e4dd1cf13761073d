/** What changes of providers have in common. */
import type { DefaultModel, ProviderRecord, ShownDefault } from '../contract.js';
import type { Choosing } from '../default/stored-default.js';
import type { ProvidersDeps } from '../deps.js';
import { providerErrors } from '../errors.js';
import { current, type State } from '../snapshot.js';

/** What a change needs of the service. */
export interface Changing {
  readonly deps: ProvidersDeps;
  readonly state: State;
  /** From now on nothing that was looked up holds, here and in other processes. */
  readonly changed: (name: string) => void;
  readonly shownDefault: () => Promise<ShownDefault>;
  readonly defaultModel: () => Promise<DefaultModel>;
  readonly choosing: () => Promise<Choosing>;
}

export const recordNow = async ({ deps, state }: Pick<Changing, 'deps' | 'state'>, name: string): Promise<ProviderRecord> => {
  const record = (await current(deps, state)).records.get(name);
  if (!record) throw providerErrors.not_found(name);
  return record;
};
