/**
 * The rules of providers.
 *
 * P1  A key is never read here, only looked for: in the vault, then in the environment.
 * P2  `default` is config's [default_model]; else what was chosen before and kept; else, chosen now and kept, the first
 *     provider in a fixed order that has a key or a model server on this machine that answers; else the built-in mock provider.
 * P3  A provider that was named but has no key stays without one: nothing else is put in its place.
 * P4  What changes here (a key, a URL) holds for the next call.
 * P5  Who was kept stays, whatever fails, until a person says otherwise: only the mock provider, or one whose key is gone,
 *     gives way to a key that is set. Nobody's conversations move to another vendor because of an error.
 * P6  The adapter to models opens for the base URLs of this list, and each is allowed before anybody learns of it (allowed-urls.ts).
 * P7  What a provider said of a key that is kept stands over restarts, until there is another key or it says otherwise.
 * P9  Keys of [[credential_pools]] join a provider's own, by their labels. Which of them is used is the gateway's business; a key is named, never shown.
 * P8  Where a person removed a key and the environment holds one too, that one is not used until they set or enable it.
 */
import { type AtOnceService, isSvcError, whenKnown } from '@svc/api';
import type { Changing } from './changes/changing.js';
import { DefaultModelSection, FallbackProvidersSection } from './config.js';
import { type DefaultModel, ProviderChanged, type ProvidersService, type ShownDefault } from './contract.js';
import { usualModel } from './default/default-choice.js';
import { type Choosing, chooseByPerson, currentDefault } from './default/stored-default.js';
import type { ProvidersDeps } from './deps.js';
import { providerErrors } from './errors.js';
import { type KeyChanges, keyChanges } from './changes/keys.js';
import { type UrlChanges, urlChanges } from './changes/urls.js';
import { current, entriesNow, forget, markKeyChange, newState, SNAPSHOT_FRESH_MS, shown, type State } from './snapshot.js';

const KEYS_UNREADABLE = 'providers_keys_unreadable';

/** What stands in memory as a rule is answered at once. */
type InMemory = 'list' | 'get' | 'usable';

export interface ProvidersControl extends Omit<ProvidersService, InMemory>, Pick<AtOnceService<ProvidersService>, InMemory>, KeyChanges, UrlChanges {
  /** From now on this provider answers for `default`, with this model or its usual one. */
  setDefault(name: string, model: string): Promise<DefaultModel>;
  /** Allows every base URL; to be called before a generation takes over, whose predecessor's are taken back. */
  allowUrls(): Promise<void>;
  /** Forgets what was looked up; the next question looks again. */
  refresh(): void;
  /** Somebody changed this provider, perhaps in another process: its key may be a new one. */
  listenForChange(name: string): void;
}

export const createProvidersService = (deps: ProvidersDeps): ProvidersControl => {
  const state = newState();
  const changed = (name: string): void => {
    forget(state);
    deps.events.publish(ProviderChanged, { name });
  };
  const changing: Changing = {
    deps,
    state,
    changed,
    shownDefault: () => shownDefault(deps, state),
    defaultModel: () => defaultModel(deps, state),
    choosing: () => choosing(deps, state),
  };
  return {
    list: () => whenKnown(current(deps, state), (snapshot) => shown(deps, state, snapshot).list),
    get: (name) => whenKnown(current(deps, state), (snapshot) => snapshot.records.get(name)),
    usable: () => whenKnown(current(deps, state), (snapshot) => shown(deps, state, snapshot).usable),
    defaultModel: () => defaultModel(deps, state),
    shownDefault: () => shownDefault(deps, state),
    fallbacks: () => fallbacks(deps, state),
    ...keyChanges(changing),
    ...urlChanges(changing),
    setDefault: async (name, model) => {
      const input = await choosing(deps, state);
      const record = input.records.get(name);
      if (!record) throw providerErrors.not_found(name);
      await chooseByPerson(deps, input, record, model);
      changed(name);
      return defaultModel(deps, state);
    },
    allowUrls: async () => void (await entriesNow(deps)),
    listenForChange: (name) => {
      markKeyChange(state, name);
      forget(state);
    },
    refresh: () => {
      deps.local.forget();
      forget(state);
    },
  };
};

const defaultModel = (deps: ProvidersDeps, state: State): Promise<DefaultModel> => {
  // The choice rests on the snapshot and on the local look, each of which has its own age: it is as old as the younger may be.
  if (state.chosen && deps.clock.mono() - state.chosenAt < SNAPSHOT_FRESH_MS) return state.chosen;
  const next = choosing(deps, state).then((input) => currentDefault(deps, input));
  state.chosen = next;
  state.chosenAt = deps.clock.mono();
  next.catch(() => {
    if (state.chosen === next) state.chosen = undefined;
  });
  return next;
};

const shownDefault = async (deps: ProvidersDeps, state: State): Promise<ShownDefault> => {
  try {
    return { ...(await defaultModel(deps, state)), problem: null };
  } catch (error) {
    if (!isSvcError(error) || error.code !== KEYS_UNREADABLE) throw error;
    return { provider: 'default', model: 'default', why: error.message, isMock: false, chosen_by: 'start', chosen_at: null, trouble: error.message, problem: error.message };
  }
};

const choosing = async (deps: ProvidersDeps, state: State): Promise<Choosing> => {
  const { records } = await current(deps, state);
  return { records, configured: deps.config.get(DefaultModelSection), models: deps.models, local: deps.local };
};

const fallbacks = async (deps: ProvidersDeps, state: State): Promise<Array<{ provider: string; model: string }>> => {
  const configured = deps.config.get(FallbackProvidersSection);
  if (configured.length === 0) return [];
  const { records } = await current(deps, state);
  return Promise.all(configured.map(async ({ provider, model }) => ({ provider, model: model || (await usualModel(deps.models, provider, records.get(provider))) || '' })));
};
