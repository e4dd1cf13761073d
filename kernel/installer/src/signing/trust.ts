/**
 * trust.toml: whose packages are taken, for which extensions, and how they run.
 *
 *   [[key]]
 *   id = "0123456789abcdef"
 *   name = "Acme"
 *   public = "…64 hex digits…"
 *   allow = ["acme-weather"]        # ids of extensions, or patterns with * at the end
 *   isolation = "isolated"          # or "walled"
 *   since = "2026-01-01T00:00:00Z"
 *   revoked = "2026-02-01T00:00:00Z"
 *
 * T1  An extension that a key is allowed for is signed by such a key, or by one that it was handed on to.
 * T2  What a revoked key signed is refused, however long ago.
 * T3  A file that cannot be read as this is an error, never an empty list.
 * T4  `isolation = "in-process"` of an older svc reads as if nothing was said, stays in the file, and is pointed out (decision 0045).
 */
import { isTable } from '@svc/api';
import { parse, stringify } from '@iarna/toml';
import { installErrors } from '../errors.js';
import { isPublicKey, keyIdOf } from './keys.js';

export type Isolation = 'isolated' | 'walled';

export interface TrustedKey {
  /** The key id. */
  readonly id: string;
  /** What a person calls its owner. */
  readonly name: string;
  /** In hex. */
  readonly public: string;
  /** Ids of extensions that it may sign, or beginnings of ids with `*`. */
  readonly allow: readonly string[];
  /** How what it signs runs; undefined: as configured. */
  readonly isolation?: Isolation;
  /** The file still says `in-process`. */
  readonly wasInProcess?: true;
  /** ISO 8601. */
  readonly since?: string;
  /** ISO 8601: when it was revoked. */
  readonly revoked?: string;
}

const ISOLATIONS: readonly string[] = ['isolated', 'walled'];
const RETIRED = 'in-process';
const MEMBERS = ['id', 'name', 'public', 'allow', 'isolation', 'since', 'revoked'];
const ALLOWED = /^(?:[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:-\*)?|\*)$/;

/** Throws `install_trust_file`. */
export const parseTrust = (text: string): readonly TrustedKey[] => {
  let found: unknown;
  try {
    found = parse(text);
  } catch (error) {
    throw installErrors.trust_file(error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it is not TOML');
  }
  const keys = isTable(found) ? (found.key ?? []) : undefined;
  if (!isTable(found) || !Array.isArray(keys) || Object.keys(found).some((name) => name !== 'key')) throw installErrors.trust_file('it has something else than [[key]]');
  const read = keys.map(readKey);
  const doubled = read.find(({ id }, index) => read.findIndex((other) => other.id === id) !== index);
  if (doubled) throw installErrors.trust_file(`the key ${doubled.id} is listed twice`);
  return read;
};

const readKey = (key: unknown, index: number): TrustedKey => {
  const fault = (why: string): Error => installErrors.trust_file(`[[key]] number ${index + 1} ${why}`);
  if (!isTable(key)) throw fault('is not a table');
  const unclaimed = Object.keys(key).find((name) => !MEMBERS.includes(name));
  if (unclaimed !== undefined) throw fault(`has the unknown member "${unclaimed}"`);
  const { allow, id, name = '', public: publicKey } = key;
  const wasInProcess = key.isolation === RETIRED;
  const isolation = wasInProcess ? undefined : key.isolation;
  if (!isPublicKey(publicKey)) throw fault('has no public key of 64 hex digits');
  if (id !== keyIdOf(publicKey)) throw fault(`has the id ${JSON.stringify(id ?? null)}; that of its public key is ${keyIdOf(publicKey)}`);
  if (typeof name !== 'string') throw fault('has a name that is not a text');
  if (!Array.isArray(allow) || !allow.every((one) => typeof one === 'string' && ALLOWED.test(one))) throw fault('needs allow = ["publisher-name"]');
  if (!isIsolation(isolation)) throw fault(`has the isolation ${JSON.stringify(isolation)}; there are ${ISOLATIONS.join(', ')}`);
  const [since, revoked] = [timeOf(key.since), timeOf(key.revoked)];
  if (since === null || revoked === null) throw fault('has a since or revoked that is not a time such as 2026-01-31T12:00:00Z');
  return {
    id,
    name,
    public: publicKey,
    allow,
    ...(isolation === undefined ? {} : { isolation }),
    ...(wasInProcess ? { wasInProcess } : {}),
    ...(since === undefined ? {} : { since }),
    ...(revoked === undefined ? {} : { revoked }),
  };
};

const isIsolation = (value: unknown): value is Isolation | undefined => value === undefined || (typeof value === 'string' && ISOLATIONS.includes(value));

/** A date of TOML or a text that is one; null for anything else. */
const timeOf = (value: unknown): string | undefined | null => {
  if (value === undefined) return undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : new Date(value).toISOString();
  return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : null;
};

export const trustText = (keys: readonly TrustedKey[]): string =>
  `# Trusted signing keys. svc ext trust writes this file; your comments are not kept.\n${keys.length === 0 ? '' : `\n${stringify({ key: keys.map(rowOf) })}\n`}`;

const rowOf = ({ wasInProcess, ...key }: TrustedKey) => ({ ...key, allow: [...key.allow], ...(wasInProcess ? { isolation: RETIRED } : {}) });

/** Whether the key may sign this extension. */
export const allows = ({ allow }: TrustedKey, extension: string): boolean => allow.some((one) => (one.endsWith('*') ? extension.startsWith(one.slice(0, -1)) : one === extension));

/** The keys that an extension belongs to, revoked ones too: who was trusted once is not forgotten. */
export const pinnedKeys = (keys: readonly TrustedKey[], extension: string): readonly TrustedKey[] => keys.filter((key) => allows(key, extension));

/** With this key allowed for the extension, and no other: those it belonged to before lose it, where they had it by its name. */
export const withPin = (keys: readonly TrustedKey[], key: { readonly public: string; readonly name: string }, extension: string, since: string): readonly TrustedKey[] => {
  const id = keyIdOf(key.public);
  const others = keys.map((one) => (one.id === id ? one : { ...one, allow: one.allow.filter((allowed) => allowed !== extension) }));
  const known = others.find((one) => one.id === id);
  if (!known) return [...others, { id, name: key.name, public: key.public, allow: [extension], since }];
  return others.map((one) => (one === known && !allows(one, extension) ? { ...one, allow: [...one.allow, extension] } : one));
};

export const withoutPin = (keys: readonly TrustedKey[], extension: string): readonly TrustedKey[] => keys.map((one) => ({ ...one, allow: one.allow.filter((allowed) => allowed !== extension) }));
