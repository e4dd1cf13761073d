/**
 * Channels as people configured them.
 *
 * A1  Values of secrets go into the vault and nowhere else; whoever lists a channel sees whether there is one.
 * A2  A channel that config.toml sets up is changed there alone.
 * A3  Unknown and missing fields are refused by name; a stored secret counts as given.
 */
import { type Actor, didYouMean, type ExtensionContext, type SecretRef } from '@svc/api';
import { type Account, envSecret, type FieldValue, textField } from './account.js';
import type { Adapter } from './adapters/adapter.js';
import { ChannelsSection, type SidecarEntry, SidecarSetting } from './config.js';
import { type AccountRow, ChannelChanged } from './contract.js';
import { channelErrors } from './errors.js';
import { type FieldSpec, fieldsOf } from './registry/fields.js';
import { platformOf } from './registry/registry.js';

export interface Accounts {
  /** Configured ones. */
  all(): Promise<Account[]>;
  find(name: string): Promise<Account | undefined>;
  /** The adapter of a name, configured or not. Throws `channels_not_found`, `channels_no_adapter`. */
  adapterOf(name: string): Adapter;
  secretOf(name: string, field: string, account?: Pick<Account, 'fields'>): SecretRef;
  fieldsOf(name: string): readonly FieldSpec[];
  configure(actor: Actor, name: string, given: Readonly<Record<string, unknown>>): Promise<void>;
  /** Values of the environment of a sidecar; answers with those that its entry in config.toml overrides. Throws `channels_not_found`. */
  configureSidecar(actor: Actor, name: string, values: Readonly<Record<string, string>>): Promise<string[]>;
  sidecars(): readonly SidecarEntry[];
  remove(name: string): Promise<void>;
}

const MAX_TEXT = 4_000;
const MAX_SECRET = 16_000;
/** Nobody listens there: messages come to the daemon's own port. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(['listen_port', 'webhook_port']);
const SHORT_NAMES: ReadonlyMap<string, string> = new Map<string, string>(Object.entries({ agent_name: 'default_agent', agent: 'default_agent' }));

export const withoutEffect = ({ fields }: Pick<Account, 'fields'>): string[] => Object.keys(fields).filter((key) => WITHOUT_EFFECT.has(key));

export const createAccounts = (ctx: Pick<ExtensionContext, 'db' | 'secrets' | 'config' | 'clock' | 'events'>, adapters: ReadonlyMap<string, Adapter>): Accounts => {
  const { db, secrets, config, clock, events } = ctx;
  const sidecars = (): readonly SidecarEntry[] => config.get(SidecarSetting);
  const sidecar = (name: string): SidecarEntry | undefined => sidecars().find((one) => one.name === name);
  const inConfig = (): Account[] =>
    Object.entries(config.get(ChannelsSection)).flatMap(([name, fields]) =>
      typeof fields === 'object' && !Array.isArray(fields) && adapters.has(name)
        ? [{ name, type: name, ownerId: 'owner', fields: fields as Account['fields'], isInConfig: true, startedFrom: JSON.stringify(fields) }]
        : [],
    );
  const ofRow = (row: AccountRow): Account => {
    const entry = adapters.has(row.name) ? undefined : sidecar(row.name);
    const fields = { ...(entry ? settingsOf(entry) : {}), ...(JSON.parse(row.fields) as Account['fields']) }; // written by `configure`
    return { name: row.name, type: entry ? 'sidecar' : row.name, ownerId: row.owner_id, fields, isInConfig: false, startedFrom: row.updated_at, ...(entry ? { sidecar: entry } : {}) };
  };
  const all = async (): Promise<Account[]> => {
    const rows = await db.system('channels of the daemon').select<AccountRow>({ from: 'accounts', order: [{ column: 'name' }], limit: 200 });
    const named = inConfig();
    const ofRows = rows.filter(({ name }) => !named.some((one) => one.name === name) && (adapters.has(name) || sidecar(name))).map(ofRow);
    const programs = sidecars().filter(({ name }) => !adapters.has(name) && !ofRows.some((one) => one.name === name));
    return [
      ...named,
      ...ofRows,
      ...programs.map((entry) => ({ name: entry.name, type: 'sidecar', ownerId: 'owner', fields: settingsOf(entry), isInConfig: true, startedFrom: JSON.stringify(entry), sidecar: entry })),
    ];
  };
  const adapterOf = (name: string): Adapter => {
    const found = name === 'sidecar' ? undefined : (adapters.get(name) ?? (sidecar(name) ? adapters.get('sidecar') : undefined));
    if (found) return found;
    const platform = platformOf(name);
    throw platform ? channelErrors.no_adapter(platform.name) : channelErrors.not_found(name);
  };
  const find = async (name: string): Promise<Account | undefined> => (await all()).find((one) => one.name === name);
  const secretOf = (name: string, field: string, account?: Pick<Account, 'fields'>): SecretRef => {
    const env = (account && textField(account, field)) || fieldsOf(name).find(({ key }) => key === field)?.env;
    return { secret: `channels.${name}.${field}`, ...(env === undefined ? {} : { env }) };
  };
  return {
    all,
    find,
    adapterOf,
    secretOf,
    fieldsOf,
    configure: async (actor, name, given) => {
      const adapter = adapterOf(name);
      if (inConfig().some((one) => one.name === name)) throw channelErrors.in_config(name);
      const before = await find(name);
      const read = readFields(name, fieldsOf(name), given);
      const fault = adapter.fault?.(read.fields);
      if (fault !== undefined) throw channelErrors.bad_fields(name, fault);
      for (const { key } of fieldsOf(name).filter(({ required, type }) => required && type === 'secret'))
        if (read.secrets[key] === undefined && (await secrets.where(secretOf(name, key))) === undefined) throw channelErrors.bad_fields(name, `the field ${key} is missing`);
      for (const [key, value] of Object.entries(read.secrets)) await secrets.put(`channels.${name}.${key}`, value);
      const now = clock.iso();
      const row: AccountRow = { name, owner_id: before?.ownerId ?? actor.ownerId, fields: JSON.stringify(read.fields), created_at: now, updated_at: now };
      await db.commit([db.upsert('accounts', ['name'], [row]), events.event(ChannelChanged, { name, change: 'configured' })]);
    },
    sidecars,
    configureSidecar: async (actor, name, values) => {
      const entry = sidecar(name);
      if (!entry) throw channelErrors.not_found(name);
      const prefix = envSecret(name, '');
      for (const stored of await secrets.list(prefix)) if (values[stored.slice(prefix.length)] === undefined) await secrets.delete(stored);
      for (const [key, value] of Object.entries(values)) if (value !== '') await secrets.put(envSecret(name, key), secretText(name, key, value));
      const now = clock.iso();
      await db.commit([
        db.upsert('accounts', ['name'], [{ name, owner_id: actor.ownerId, fields: '{}', created_at: now, updated_at: now }]),
        events.event(ChannelChanged, { name, change: 'configured' }),
      ]);
      return Object.keys(values).filter((key) => entry.env?.[key] !== undefined);
    },
    remove: async (name) => {
      adapterOf(name);
      if (inConfig().some((one) => one.name === name)) throw channelErrors.in_config(name);
      for (const key of await secrets.list(`channels.${name}.`)) await secrets.delete(key);
      await db.commit([db.remove('accounts', { name }, { expect: 'any' }), db.remove('connections', { name }, { expect: 'any' }), events.event(ChannelChanged, { name, change: 'removed' })]);
    },
  };
};

const settingsOf = ({ agent, dm_policy: dm, group_policy: group }: SidecarEntry): Record<string, FieldValue> => ({
  ...(agent === undefined ? {} : { default_agent: agent }),
  ...(dm === undefined ? {} : { dm_policy: dm }),
  ...(group === undefined ? {} : { group_policy: group }),
});

interface ReadFields {
  readonly fields: Record<string, FieldValue>;
  readonly secrets: Record<string, string>;
}

/** Both forms of a body: `{fields}`, and the fields beside each other, where `token` is the first secret. Throws `channels_bad_fields`. */
export const readFields = (name: string, specs: readonly FieldSpec[], given: Readonly<Record<string, unknown>>): ReadFields => {
  const { fields: nested, ...flat } = given;
  if (nested !== undefined && (typeof nested !== 'object' || nested === null || Array.isArray(nested))) throw channelErrors.bad_fields(name, '"fields" is not an object');
  const read: ReadFields = { fields: {}, secrets: {} };
  for (const [written, value] of Object.entries({ ...(nested as object | undefined), ...flat })) {
    const key = written === 'token' ? (specs.find(({ type }) => type === 'secret')?.key ?? 'token') : (SHORT_NAMES.get(written) ?? written);
    const spec = specs.find((one) => one.key === key);
    const names = specs.map((one) => one.key);
    if (!spec) throw channelErrors.bad_fields(name, `it has no field ${written.slice(0, 100)}; ${didYouMean(key, names) || `there are ${names.join(', ')}`}`);
    if (value === null || value === '') continue;
    if (spec.type === 'secret') read.secrets[key] = secretText(name, key, value);
    else read.fields[key] = plainValue(name, spec, value);
  }
  for (const { key, required, type } of specs) if (required && type !== 'secret' && read.fields[key] === undefined) throw channelErrors.bad_fields(name, `the field ${key} is missing`);
  return read;
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

const secretText = (name: string, key: string, value: unknown): string => {
  if (typeof value !== 'string' || value.length > MAX_SECRET || CONTROL.test(value)) throw channelErrors.bad_fields(name, `the field ${key} is not a text of one line`);
  return value.trim();
};

const plainValue = (name: string, { key, type, options }: FieldSpec, value: unknown): FieldValue => {
  if (type === 'number') {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number) || number < 0) throw channelErrors.bad_fields(name, `the field ${key} is not a number`);
    return number;
  }
  if (type === 'list') {
    const list = typeof value === 'string' ? value.split(',') : value;
    if (!Array.isArray(list) || list.length > 1_000) throw channelErrors.bad_fields(name, `the field ${key} is not a list`);
    return list.map((one) => lineOf(name, key, typeof one === 'number' ? String(one) : one)).filter((one) => one !== '');
  }
  const text = lineOf(name, key, value);
  if (options && !options.includes(text)) throw channelErrors.bad_fields(name, `the field ${key} is none of ${options.join(', ')}`);
  return text;
};

const lineOf = (name: string, key: string, value: unknown): string => {
  if (typeof value !== 'string' || value.length > MAX_TEXT || CONTROL.test(value)) throw channelErrors.bad_fields(name, `the field ${key} is not a text of one line`);
  return value.trim();
};
