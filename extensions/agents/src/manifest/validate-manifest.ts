/**
 * What is right and wrong with a manifest, before anything is read from it.
 *
 * M1  A key that is misspelt, misplaced or out of its range makes the manifest unusable, and so does one that narrows,
 *     redirects or caps what nothing here narrows, redirects or caps. What is said names key, line, and what was expected.
 * M2  A key of another system, or of an area that is not here, is a warning. Not so under [capabilities]: whoever writes a grant there relies on it.
 * M3  The cost grows with the length of the text and no faster, whatever is in it.
 */
import { type CapabilityDecl, type Finding, isTable, type JsonSchema, lineOfPath, violations, nearest, type Schemas, scanToml, schemaAt, splitUnknown, type UnknownKey, UNSEEN } from '@svc/api';
import { isDeepStrictEqual } from 'node:util';
import { invalidManifest, type ManifestProblem } from '../errors.js';
import { grantFindings, withoutDeclared } from './declared-grants.js';
import { type KeyNotes, manifestSchema, SECTIONS, TOP_KEYS } from './manifest-keys.js';

/** A manifest with more unknown keys than this is not one. Each costs a comparison with every name there is. */
const MAX_UNKNOWN = 20;
const MAX_FINDINGS = 20;
/** Shorter words are near to too many others. */
const MIN_NEAR_LENGTH = 4;
/** Of a key of a section at the top, where words of other systems stand too. */
const MIN_SLIP_LENGTH = 5;
const MAX_SLIP_LENGTH = 40;
const LONG_WORD = 9;

/** What a manifest is validated by beside its keys. */
export interface ManifestGround {
  readonly schemas: Pick<Schemas, 'places'>;
  /** Capabilities of installed areas. */
  readonly declared: readonly CapabilityDecl[];
}

export interface Validated {
  readonly warnings: readonly string[];
}

// TypeBox writes JSON Schema; its own types do not say so.
const schema = manifestSchema as unknown as JsonSchema;

/** Throws `agents_invalid_manifest`. `source` is the text that `raw` came from, for lines. */
export const validateManifest = async ({ schemas, declared }: ManifestGround, raw: Readonly<Record<string, unknown>>, source: string | undefined): Promise<Validated> => {
  const { value, unknown } = splitUnknown(schema, withoutDeclared(raw, declared));
  const names = declared.map(({ name }) => name);
  const findings = [
    ...unknownKeys(unknown.map((key) => (isGrant(key.path) ? { ...key, known: [...key.known, ...names] } : key))),
    ...grantFindings(raw, declared),
    ...nameFindings(raw.name),
    ...violations('', schema, value, await schemas.places(manifestSchema, withoutExecPolicy(value))),
    ...unkept(value),
  ];
  const lineOf = lineFinder(source);
  const fatal = findings.filter((finding) => finding.fatal);
  if (fatal.length > 0) {
    throw invalidManifest(fatal.slice(0, MAX_FINDINGS).map(({ path, message, expected }): ManifestProblem => ({ line: lineOf(path), key: path.join('.'), message, expected })));
  }
  return {
    warnings: findings.slice(0, MAX_FINDINGS).map(({ path, message }) => {
      const line = lineOf(path);
      return `${line === null ? '' : `Line ${line}: `}${message}${message.endsWith('?') ? '' : '.'}`;
    }),
  };
};

/** It has a reader of its own (exec-policy.ts), which takes more forms than a schema can say. */
const withoutExecPolicy = (value: unknown): unknown => (isTable(value) && 'exec_policy' in value ? { ...value, exec_policy: undefined } : value);

const nameFindings = (name: unknown): Finding[] => {
  const wrong = (message: string): Finding[] => [{ path: ['name'], message: `name ${message}`, expected: 'a name', fatal: true }];
  if (typeof name !== 'string') return [];
  if (name.trim() === '') return wrong('must not be empty');
  // Two agents that look alike would be taken for each other.
  if (UNSEEN.test(name)) return wrong('must not contain control characters or invisible characters');
  return name.startsWith('_operator:') ? wrong('must not begin with "_operator:", which is reserved') : [];
};

const lineFinder = (source: string | undefined): ((path: readonly string[]) => number | null) => {
  let entries: ReturnType<typeof scanToml> | undefined;
  return (path) => {
    if (source === undefined) return null;
    entries ??= scanToml(source);
    return lineOfPath(entries, path);
  };
};

const unknownKeys = (unknown: readonly UnknownKey[]): Finding[] => {
  if (unknown.length <= MAX_UNKNOWN) return unknown.map(unknownKey);
  const message = `${unknown.length} unknown keys; at most ${MAX_UNKNOWN} are looked at, in case one is misspelt`;
  return [
    ...unknown
      .slice(0, MAX_UNKNOWN)
      .map(unknownKey)
      .filter(({ fatal }) => fatal)
      // So that the sentence about the rest is among those that are told.
      .slice(0, MAX_FINDINGS - 1),
    { path: unknown[MAX_UNKNOWN]?.path ?? [], message, expected: 'the keys of schemas/agent.schema.json', fatal: true },
  ];
};

const unknownKey = ({ path, known }: UnknownKey): Finding => {
  const key = path.at(-1) ?? '';
  const name = path.join('.');
  const home = homeOf(key, path);
  if (home !== undefined) return { path, message: `${name} is not a key there: ${key} belongs ${home}`, expected: `${key} ${home}`, fatal: true };
  const [near] = nearest(key, known, 1);
  const slip = near === undefined && path.length === 1 ? slipOf(key) : undefined;
  if (slip) return { path, message: `${name} is not a key of agent.toml. Did you mean "${slip.key}" ${slip.where}?`, expected: `${slip.key} ${slip.where}`, fatal: true };
  if (isGrant(path) && (near === undefined || !isMisspelt(key, near))) return unknownGrant(path, near);
  const hint = near === undefined ? '' : `. Did you mean "${near}"?`;
  if (near !== undefined && isMisspelt(key, near)) return { path, message: `${name} is not a key of agent.toml${hint}`, expected: near, fatal: true };
  return { path, message: `${name} is not a key of agent.toml and was ignored${hint}`, expected: 'nothing', fatal: false };
};

const isGrant = (path: readonly string[]): boolean => path.length === 2 && path[0] === 'capabilities';

const unknownGrant = (path: readonly string[], near: string | undefined): Finding => ({
  path,
  message: `${path.join('.')} is not a known capability: neither svc nor an installed extension declares it. Install the extension that does, or remove it${near === undefined ? '' : `. Did you mean "${near}"?`}`,
  expected: near ?? 'a capability of this daemon',
  fatal: true,
});

/** A slip of the hand, not an abbreviation: `temp` may be somebody else's word. */
const isMisspelt = (key: string, near: string): boolean => key.length >= MIN_NEAR_LENGTH && near.length - key.length <= Math.max(1, Math.floor(key.length / 3));

/** A key of a section that was misspelt and put at the top: whoever wrote it relies on what it says. */
const slipOf = (key: string): { readonly key: string; readonly where: string } | undefined => {
  if (key.length < MIN_SLIP_LENGTH || key.length > MAX_SLIP_LENGTH) return undefined;
  for (const [section, keys] of Object.entries(SECTIONS)) {
    const meant = Object.keys(keys).find((one) => isWithin(key.toLowerCase(), one, key.length < LONG_WORD ? 1 : 2));
    if (meant !== undefined) return { key: meant, where: `under [${section}]` };
  }
  return undefined;
};

/** Whether so many letters added, left out, replaced or swapped with their neighbour make one of the other. */
const isWithin = (a: string, b: string, edits: number): boolean => {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const [x, y] = [a.slice(at), b.slice(at)];
  if (x === '' && y === '') return true;
  if (edits === 0 || Math.abs(x.length - y.length) > edits) return false;
  const isSwapped = x.length > 1 && x[0] === y[1] && x[1] === y[0];
  return isWithin(x.slice(1), y, edits - 1) || isWithin(x, y.slice(1), edits - 1) || isWithin(x.slice(1), y.slice(1), edits - 1) || (isSwapped && isWithin(x.slice(2), y.slice(2), edits - 1));
};

/** Where a key would have been right, when it stands in a section and not at the top, or the other way round. */
const homeOf = (key: string, path: readonly string[]): string | undefined => {
  if (path.length === 1) {
    const section = Object.entries(SECTIONS).find(([, keys]) => Object.hasOwn(keys, key))?.[0];
    return section === undefined ? undefined : `under [${section}]`;
  }
  return path.length === 2 && Object.hasOwn(SECTIONS, path[0] ?? '') && Object.hasOwn(TOP_KEYS, key) ? 'at the top, before the first [section]' : undefined;
};

/** Keys that are written down and not kept: refused where somebody would rely on them, named where they only wait. */
const unkept = (value: unknown, path: readonly string[] = []): Finding[] => {
  if (!isTable(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = [...path, key];
    const notes = schemaAt(schema, at) as Partial<KeyNotes> | undefined; // what the table wrote beside the schema
    const name = at.join('.');
    if (notes?.['x-effect'] === 'waits') return [{ path: at, message: `${name} is stored and has no effect yet: it needs ${notes['x-why'] ?? 'its area'}`, expected: 'nothing', fatal: false }];
    if (notes?.['x-effect'] === 'refused' && !notes['x-allowed']?.some((allowed) => isDeepStrictEqual(allowed, plain(inner)))) {
      return [{ path: at, message: `${name} is not supported: ${notes['x-why'] ?? 'nothing here acts on it'}`, expected: 'no such key', fatal: true }];
    }
    if (Array.isArray(inner)) return inner.flatMap((item, index) => unkept(item, [...at, String(index)]));
    return at.length === 1 && Object.hasOwn(SECTIONS, key) ? unkept(inner, at) : [];
  });
};

/** `splitUnknown` makes tables without a prototype. */
const plain = (value: unknown): unknown => (isTable(value) ? { ...value } : value);
