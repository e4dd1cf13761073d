/** What is wrong with a document that a person wrote (a section of config.toml, an agent.toml), said so that they can fix it. */
import { cronFault, timeZoneFault } from '../text/cron.js';
import { nearest } from '../text/nearest.js';
import { describeSchema, isTable, type JsonSchema, schemaAt } from './schema-walk.js';

const MAX_SHOWN_CHARS = 60;
/** Also names of variables that hold one: people paste the key itself there. */
const SECRET_NAME = /(key|secret|token|pass(word)?|credential)s?(_env|_hash)?$/i;

export interface Finding {
  /** Below the document or section that was validated. */
  readonly path: readonly string[];
  readonly message: string;
  readonly expected: string;
  /** Whether the whole of it is unusable for it. */
  readonly fatal: boolean;
}

/** A sentence for each place where `value` does not fit. `name` is the section; empty for a document without sections of its own. */
export const violations = (name: string, schema: JsonSchema, value: unknown, places: readonly (readonly string[])[]): Finding[] => {
  const all = [...new Map(places.map((path) => [JSON.stringify(path), path])).values()];
  return deepest(all).map((path) => {
    const part = schemaAt(schema, path) ?? {};
    const expected = describeSchema(part);
    const got = at(value, path);
    const shown = got === undefined ? 'it is missing' : `got ${show(got, part['x-secret'] === true || SECRET_NAME.test(path.at(-1) ?? name))}`;
    const options = Array.isArray(part.enum) && typeof got === 'string' ? didYouMean(got, part.enum.map(String)) : '';
    const fault = typeof got === 'string' ? formatFault(part, got) : undefined;
    const hint = fault !== undefined ? `: ${fault}` : options === '' ? '' : `.${options}`;
    return { path, message: `${labelOf(name, path)} must be ${expected}, ${shown}${hint}`, expected, fatal: true };
  });
};

/** What is wrong with a text, where its form alone would not tell. */
const FAULTS: Readonly<Record<string, (text: string) => string | undefined>> = { cron: cronFault, 'time-zone': timeZoneFault };

const formatFault = ({ anyOf = [], format }: JsonSchema, text: string): string | undefined => {
  const named = format ?? anyOf.find((branch) => branch.format !== undefined)?.format;
  return named === undefined ? undefined : FAULTS[named]?.(text);
};

/** A union reports each of its branches, and what stands inside them: of these a person needs one sentence. */
const deepest = (places: readonly (readonly string[])[]): (readonly string[])[] => {
  const around = new Set(places.flatMap((path) => path.map((_, length) => JSON.stringify(path.slice(0, length)))));
  return places.filter((path) => !around.has(JSON.stringify(path)));
};

/** `[api] rate_limit_per_second`; the bare name of a key of the top level; `model.temperature` in a document without sections. */
export const labelOf = (name: string, path: readonly string[]): string => {
  if (name === '') return path.join('.');
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
  const [near] = nearest(name, known, 1);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
};
