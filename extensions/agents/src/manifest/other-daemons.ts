/**
 * What manifests of other daemons say that is otherwise here: keys and addresses of a model, words in other cases, built-in modules.
 *
 * E1  An agent sends no key but the one kept for its provider, and its prompts to no address but the provider's.
 * E2  `api_key_env` is let pass where it says what holds anyway. It is taken with a warning, which names the key that is used, where its
 *     writer could not know the provider (`default`, one that is not here), or named the usual variable of another one.
 * E3  Any other variable names an account of its own, which is a limit: the manifest check refuses it, and another address too.
 */
import { isTable, type OptionalHandle } from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';

type Table = Readonly<Record<string, unknown>>;

/** A key that is taken and does nothing, and what is so instead. */
export interface Remark {
  readonly path: readonly string[];
  readonly message: string;
}

export interface Taken {
  readonly raw: Table;
  readonly remarks: readonly Remark[];
}

export const asWrittenHere = async (raw: Table, providers: OptionalHandle<ProvidersService>): Promise<Taken> => {
  const remarks: Remark[] = [];
  const own = async (choice: unknown, path: readonly string[]): Promise<unknown> =>
    isTable(choice) && (choice.base_url !== undefined || choice.api_key_env !== undefined) ? withoutOwn(choice, path, providers, remarks) : choice;
  const { module, ...rest } = raw;
  const isOther = typeof module === 'string' && module.startsWith('builtin:') && module !== 'builtin:chat';
  if (isOther) remarks.push({ path: ['module'], message: `module "${module}" is not here: its questions are answered by the model, as those of "builtin:chat"` });
  return {
    raw: {
      ...rest,
      ...(module === undefined || isOther ? {} : { module }),
      ...(typeof raw.profile === 'string' ? { profile: raw.profile.toLowerCase() } : {}),
      ...(raw.model === undefined ? {} : { model: await own(raw.model, ['model']) }),
      ...(Array.isArray(raw.fallback_models) ? { fallback_models: await Promise.all(raw.fallback_models.map((one, index) => own(one, ['fallback_models', String(index)]))) } : {}),
    },
    remarks,
  };
};

const withoutOwn = async (choice: Table, path: readonly string[], providers: OptionalHandle<ProvidersService>, remarks: Remark[]): Promise<Table> => {
  const isDefault = typeof choice.provider !== 'string' || choice.provider === '' || choice.provider === 'default';
  const named = isDefault ? undefined : String(choice.provider);
  const record = await providers.value?.get(named ?? (await providers.value.defaultModel()).provider);
  const { base_url: address, api_key_env: variable, ...rest } = choice;
  const isOwnAddress = record !== undefined && typeof address === 'string' && sameAddress(address, record.base_url);
  const isOwnKey = record !== undefined && record.env_var !== null && variable === record.env_var;
  const isTaken = !isOwnKey && typeof variable === 'string' && variable !== '' && (record === undefined || isDefault || (await isUsual(variable, providers)));
  if (isTaken) remarks.push({ path: [...path, 'api_key_env'], message: `${[...path, 'api_key_env'].join('.')} "${variable}" is not read: ${usedInstead(named, record)}` });
  return { ...rest, ...(address === undefined || isOwnAddress ? {} : { base_url: address }), ...(variable === undefined || isOwnKey || isTaken ? {} : { api_key_env: variable }) };
};

const usedInstead = (named: string | undefined, record: { readonly name: string; readonly key_required: boolean } | undefined): string => {
  if (record === undefined) return `there is no provider ${named ?? 'yet'}`;
  const whose = named === undefined ? `the default provider, now ${record.name},` : record.name;
  return record.key_required ? `${whose} is asked with the key kept for it` : `${whose} is asked without a key`;
};

/** The variable that a provider's key is read from as a rule. */
const isUsual = async (variable: string, providers: OptionalHandle<ProvidersService>): Promise<boolean> => (await providers.value?.list())?.some(({ env_var }) => env_var === variable) ?? false;

/** A slash at the end says nothing. */
const sameAddress = (a: string, b: string): boolean => a.replace(/\/+$/, '') === b.replace(/\/+$/, '');
