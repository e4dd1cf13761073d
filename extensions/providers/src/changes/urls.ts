/** Where providers are reached, and providers of one's own (P4, P6). */
import { normalizeBaseUrl, normalizeProxyUrl } from '../addresses/base-url.js';
import { secretOf } from '../directory.js';
import { providerErrors } from '../errors.js';
import type { Changing } from './changing.js';
import { current, entriesNow } from '../snapshot.js';
import { MAX_ROWS } from '../store.js';

export interface UrlChanges {
  /** With `create` a name that there is not becomes an OpenAI-compatible provider. `proxy`: empty for none, left out where it stays. */
  setUrl(name: string, url: string, options?: { create?: boolean; proxy?: string | undefined }): Promise<string>;
  /** The usual address holds again; a provider that had no other goes, with its key. */
  removeUrl(name: string): Promise<{ baseUrl: string | null }>;
}

/** Names that a path or a setting means otherwise. */
const TAKEN = new Set(['default', 'auto', 'builtin', 'local-llm', 'codeassist']);
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

export const urlChanges = (changing: Changing): UrlChanges => {
  const { deps, state } = changing;
  return {
    setUrl: async (name, url, { create = false, proxy } = {}) => {
      const entry = (await current(deps, state)).entries.get(name);
      if (!entry && !create) throw providerErrors.not_found(name);
      if (!entry && (!NAME.test(name) || TAKEN.has(name))) throw providerErrors.bad_name();
      if (entry?.wire === 'builtin') throw providerErrors.no_address(name);
      const baseUrl = normalizeBaseUrl(url, entry?.wire ?? 'openai');
      const saved = await deps.store.baseUrls();
      if (!saved.has(name) && saved.size >= MAX_ROWS) throw providerErrors.too_many(MAX_ROWS);
      await deps.store.saveBaseUrl(name, { baseUrl, ...(proxy === undefined ? {} : { proxyUrl: normalizeProxyUrl(proxy) }) }, deps.clock.iso());
      await forgetAll(changing, name);
      return baseUrl;
    },
    removeUrl: async (name) => {
      const entry = (await current(deps, state)).entries.get(name);
      if (!entry) throw providerErrors.not_found(name);
      if (!(await deps.store.removeBaseUrl(name))) throw providerErrors.no_saved_url(name);
      const left = (await entriesNow(deps)).get(name);
      // Nobody could see or remove what is kept of a provider that is gone.
      if (!left) await Promise.all([deps.secrets.delete(secretOf(entry).secret), deps.lists.forget(name)]);
      await forgetAll(changing, name);
      return { baseUrl: left?.base_url ?? null };
    },
  };
};

/** What was said of a key, was said elsewhere. */
const forgetAll = async ({ deps, state, changed }: Changing, name: string): Promise<void> => {
  const before = (await deps.store.keyStates()).get(name);
  if (before && before.verdict !== null) await deps.store.saveKeyState(name, { ...before, verdict: null }, deps.clock.iso());
  state.verdicts.delete(name);
  await entriesNow(deps);
  deps.local.forget();
  changed(name);
};
