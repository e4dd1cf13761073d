/** Judges one section: unknown keys by our own walk, the rest by ajv, and says both so that a person can mend it. */
import { distance } from 'fastest-levenshtein';
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js';
import { describe, isTable, type JsonSchema, schemaAt, splitUnknown, withDefaults } from './schema-walk.js';

const MAX_HINT_DISTANCE = 3;
const MAX_SHOWN_CHARS = 60;
const MAX_NAMED = 10;
/** Also names of variables that hold one: people paste the key itself there. */
const SECRET_NAME = /(key|secret|token|pass(word)?|credential)s?(_env|_hash)?$/i;

export interface Finding {
  /** Below the section. */
  readonly path: readonly string[];
  readonly message: string;
  readonly expected: string;
  /** Whether the whole section is unusable for it. */
  readonly fatal: boolean;
}

export interface Checked {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  readonly ok: boolean;
}

export interface Checker {
  check(name: string, schema: JsonSchema, raw: unknown): Promise<Checked>;
}

/** One per load, so that compiled schemas of extensions that were removed do not stay. */
export const createChecker = (): Checker => {
  let ajv: Promise<Ajv2020> | undefined;
  return {
    check: async (name, schema, raw) => {
      ajv ??= loadAjv();
      return check(await ajv, name, schema, raw);
    },
  };
};

const loadAjv = async (): Promise<Ajv2020> => {
  const [{ Ajv2020 }, formats, { parseRange }] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats'), import('../doors/ip-range.js')]);
  // All errors: the text is the operator's own, and one pass should name everything.
  const ajv = new Ajv2020({ allErrors: true, strict: false, strictNumbers: true });
  formats.default.default(ajv);
  ajv.addFormat('ip-range', (text: string) => parseRange(text) !== undefined);
  return ajv;
};

const check = (ajv: Ajv2020, name: string, schema: JsonSchema, raw: unknown): Checked => {
  const { value: known, unknown } = splitUnknown(schema, raw);
  const findings: Finding[] = unknown.map((key) => ({
    path: key.path,
    message: `${label(name, key.path)} is not a setting.${didYouMean(key.path.at(-1) ?? '', key.known) || alternatives(key.known)}`,
    expected: key.known.length > 0 ? `one of ${key.known.join(', ')}` : 'nothing',
    // Elsewhere the settings beside a misspelt one still count; a security section is judged as a whole.
    fatal: schema['x-security'] === true,
  }));
  const value = withDefaults(schema, known);
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema, (key, part) => (key === '$id' ? undefined : part))));
  if (!validate(value)) findings.push(...invalid(name, schema, value, validate.errors ?? []));
  return { value, findings, ok: !findings.some((finding) => finding.fatal) };
};

/** What may stand there instead, where nothing is near and the list is short enough to read. */
const alternatives = (names: readonly string[]): string => (names.length > 0 && names.length <= MAX_NAMED ? ` There are: ${names.join(', ')}.` : '');

/** One finding per place: a union reports each of its branches, of which a person needs one sentence. */
const invalid = (name: string, schema: JsonSchema, value: unknown, errors: readonly ErrorObject[]): Finding[] => {
  const places = new Map<string, readonly string[]>();
  for (const error of errors) {
    const path = error.instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const missing = error.keyword === 'required' ? [...path, String(error.params.missingProperty)] : path;
    places.set(JSON.stringify(missing), missing);
  }
  const all = [...places.values()];
  const deepest = all.filter((path) => !all.some((other) => other.length > path.length && path.every((part, index) => part === other[index])));
  return deepest.map((path) => {
    const part = schemaAt(schema, path) ?? {};
    const expected = describe(part);
    const got = at(value, path);
    const shown = got === undefined ? 'it is missing' : `got ${show(got, part['x-secret'] === true || SECRET_NAME.test(path.at(-1) ?? name))}`;
    const options = Array.isArray(part.enum) && typeof got === 'string' ? didYouMean(got, part.enum.map(String)) : '';
    const hint = options === '' ? '' : `.${options}`;
    return { path, message: `${label(name, path)} must be ${expected}, ${shown}${hint}`, expected, fatal: true };
  });
};

/** `[api] rate_limit_per_second`, or the bare name of a key of the top level. */
const label = (name: string, path: readonly string[]): string => {
  if (name.startsWith('/')) return [name.slice(1), ...path].join('.');
  return path.length === 0 ? `[${name}]` : `[${name}] ${path.join('.')}`;
};

const at = (value: unknown, path: readonly string[]): unknown => {
  let inner = value;
  for (const key of path) inner = isTable(inner) ? inner[key] : Array.isArray(inner) ? inner[Number(key)] : undefined;
  return inner;
};

const show = (value: unknown, isSecret: boolean): string => {
  if (isSecret) return typeof value === 'string' ? `a string of ${value.length} characters` : `a ${typeof value}`;
  if (isTable(value)) return 'a table';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
};

/** ` Did you mean "x"?`, or nothing when nothing is near. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  let best: string | undefined;
  let bestDistance = Math.min(MAX_HINT_DISTANCE, Math.floor(name.length / 2)) + 1;
  for (const candidate of known) {
    const far = distance(name, candidate);
    if (far < bestDistance) {
      best = candidate;
      bestDistance = far;
    }
  }
  return best === undefined ? '' : ` Did you mean "${best}"?`;
};
