/**
 * `base_url` and `api_key_env` of a manifest. An agent cannot send a provider's key elsewhere: they are let pass
 * where they say what holds for the provider anyway, as many manifests do, and stay for the judge otherwise.
 */
import { isTable, type OptionalHandle } from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';

type Table = Readonly<Record<string, unknown>>;

export const withoutOwnEndpoints = async (raw: Table, providers: OptionalHandle<ProvidersService>): Promise<Table> => {
  const own = async (choice: unknown): Promise<unknown> => (isTable(choice) && (choice.base_url !== undefined || choice.api_key_env !== undefined) ? withoutOwn(choice, providers) : choice);
  return {
    ...raw,
    ...(raw.model === undefined ? {} : { model: await own(raw.model) }),
    ...(Array.isArray(raw.fallback_models) ? { fallback_models: await Promise.all(raw.fallback_models.map(own)) } : {}),
  };
};

const withoutOwn = async (choice: Table, providers: OptionalHandle<ProvidersService>): Promise<Table> => {
  const named = typeof choice.provider === 'string' && choice.provider !== '' ? choice.provider : 'default';
  const record = await providers.value?.get(named === 'default' ? (await providers.value.defaultModel()).provider : named);
  const { base_url: address, api_key_env: variable, ...rest } = choice;
  const isOwnAddress = record !== undefined && typeof address === 'string' && sameAddress(address, record.base_url);
  const isOwnKey = record !== undefined && record.env_var !== null && variable === record.env_var;
  return { ...rest, ...(address === undefined || isOwnAddress ? {} : { base_url: address }), ...(variable === undefined || isOwnKey ? {} : { api_key_env: variable }) };
};

/** A slash at the end says nothing. */
const sameAddress = (a: string, b: string): boolean => a.replace(/\/+$/, '') === b.replace(/\/+$/, '');
