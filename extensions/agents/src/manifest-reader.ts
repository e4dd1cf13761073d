/**
 * From what a person wrote to a manifest with every default filled in.
 *
 * Lenient where leniency does no harm (one string for a list of them, a label
 * list of a wrong type), strict where a guess could widen what an agent may do.
 */
import { type Capabilities, nearest } from '@svc/api';
import type { AgentManifest, ModelChoice } from './contract.js';
import { agentErrors } from './errors.js';
import { readExecPolicy } from './exec-policy.js';
import { SECTION_KEYS, TOP_KEYS } from './manifest-keys.js';

const DEFAULT_PROMPT = 'You are a helpful assistant. Be accurate, be brief, and say so when you do not know.';
const MAX_NAME_LENGTH = 256;
const MAX_DESCRIPTION_LENGTH = 4_096;
const MAX_PROMPT_LENGTH = 65_536;

export interface ReadManifest {
  readonly manifest: AgentManifest;
  /** For the person who wrote it: keys that are unknown, or that nothing acts on. */
  readonly warnings: readonly string[];
}

/** Finds the line of a key in the text it came from; null when there is none. */
export type LineOf = (path: readonly string[]) => number | null;

type Table = Readonly<Record<string, unknown>>;

/** Throws `agents_invalid_manifest`, naming the key, what was expected, and the line when `lineOf` knows it. */
export const readManifest = (raw: unknown, lineOf: LineOf = () => null): ReadManifest => {
  const warnings: string[] = [];
  const fail = (path: readonly string[], what: string): never => {
    throw agentErrors.agents_invalid_manifest(path.length > 0 ? `${path.join('.')} ${what}` : what, lineOf(path));
  };
  if (!isTable(raw)) return fail([], 'a table of keys was expected');
  const read = createReader(fail, warnings);
  const model = read.table(raw, 'model');
  const capabilities = read.strictTable(raw, 'capabilities');
  const resources = read.table(raw, 'resources');
  const autonomous = read.table(raw, 'autonomous');
  read.unknownKeys([], raw, TOP_KEYS);
  for (const [name, table] of Object.entries({ model, capabilities, resources, autonomous })) {
    // The four names are the keys of SECTION_KEYS.
    read.unknownKeys([name], table, SECTION_KEYS[name as keyof typeof SECTION_KEYS]);
  }
  const grants = capabilitiesOf(capabilities, resources, read);
  const policy = readExecPolicy(raw.exec_policy, grants.shell, fail);
  warnings.push(...(policy?.warnings ?? []));
  const manifest: AgentManifest = {
    name: nameOf(read.text([], raw, 'name', 'unnamed', MAX_NAME_LENGTH), fail),
    version: read.text([], raw, 'version', '0.1.0', 64),
    description: read.text([], raw, 'description', '', MAX_DESCRIPTION_LENGTH),
    author: read.text([], raw, 'author', '', MAX_NAME_LENGTH),
    tags: read.labels([], raw, 'tags'),
    model: {
      provider: read.text(['model'], model, 'provider', 'default', 256),
      model: read.text(['model'], model, model.model === undefined ? 'name' : 'model', 'default', 256),
      max_tokens: read.integer(['model'], model, 'max_tokens', 1, 10_000_000) ?? 4_096,
      temperature: read.number(['model'], model, 'temperature', 0, 2) ?? 0.7,
      system_prompt: read.text(['model'], model, 'system_prompt', DEFAULT_PROMPT, MAX_PROMPT_LENGTH),
      request_timeout_secs: read.integer(['model'], model, 'request_timeout_secs', 1, 86_400),
    },
    fallback_models: fallbacksOf(raw.fallback_models, read, fail),
    capabilities: { ...grants, ...(policy ? { exec: policy.limits } : {}) },
    tool_allowlist: read.list([], raw, 'tool_allowlist'),
    tool_blocklist: read.list([], raw, 'tool_blocklist'),
    tools_disabled: read.flag([], raw, 'tools_disabled', false),
    autonomous: { max_iterations: read.integer(['autonomous'], autonomous, 'max_iterations', 1, 10_000) ?? 50, ...unwatchedOf(autonomous.unwatched, fail) },
  };
  return { manifest, warnings };
};

const unwatchedOf = (value: unknown, fail: (path: readonly string[], what: string) => never): Pick<AgentManifest['autonomous'], 'unwatched'> => {
  if (value === undefined) return {};
  return value === 'finish' || value === 'cancel' ? { unwatched: value } : fail(['autonomous', 'unwatched'], 'must be "finish" or "cancel"');
};

const nameOf = (name: string, fail: (path: readonly string[], what: string) => never): string => {
  if (name.trim() === '') return fail(['name'], 'must not be empty');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(name)) return fail(['name'], 'must not contain control characters');
  if (name.startsWith('_operator:')) return fail(['name'], 'must not begin with "_operator:", which is reserved');
  return name;
};

const capabilitiesOf = (table: Table, resources: Table, read: Reader): Capabilities => {
  const perHour = read.integer(['capabilities'], table, 'max_llm_tokens_per_hour', 0, Number.MAX_SAFE_INTEGER);
  const perMinute = read.integer(['resources'], resources, 'max_tool_calls_per_minute', 0, 1_000_000);
  const list = (key: string): readonly string[] => read.list(['capabilities'], table, key);
  return {
    tools: list('tools'),
    network: list('network'),
    memory_read: list('memory_read'),
    memory_write: list('memory_write'),
    shell: list('shell'),
    agent_spawn: read.flag(['capabilities'], table, 'agent_spawn', false),
    agent_message: list('agent_message'),
    file_system: read.flag(['capabilities'], table, 'file_system', true),
    max_llm_tokens_per_hour: perHour ?? read.integer(['resources'], resources, 'max_llm_tokens_per_hour', 0, Number.MAX_SAFE_INTEGER),
    ...(perMinute === null ? {} : { max_tool_calls_per_minute: perMinute }),
  };
};

const fallbacksOf = (raw: unknown, read: Reader, fail: (path: readonly string[], what: string) => never): ModelChoice[] => {
  if (raw === undefined) return [];
  if (!Array.isArray(raw)) return fail(['fallback_models'], 'must be a list of tables with provider and model');
  return raw.map((item: unknown) => {
    if (!isTable(item)) return fail(['fallback_models'], 'must be a list of tables with provider and model');
    return { provider: read.text(['fallback_models'], item, 'provider', 'default', 256), model: read.text(['fallback_models'], item, 'model', 'default', 256) };
  });
};

interface Reader {
  /** A section; of a wrong type it counts as empty, with a warning. */
  table(from: Table, key: string): Table;
  /** A section whose misreading could grant something: of a wrong type it is an error. */
  strictTable(from: Table, key: string): Table;
  text(path: readonly string[], from: Table, key: string, fallback: string, max: number): string;
  number(path: readonly string[], from: Table, key: string, min: number, max: number): number | null;
  integer(path: readonly string[], from: Table, key: string, min: number, max: number): number | null;
  flag(path: readonly string[], from: Table, key: string, fallback: boolean): boolean;
  /** Texts, or one text; anything else is an error, because an empty list can mean "all". */
  list(path: readonly string[], from: Table, key: string): readonly string[];
  /** As `list`, but what is no text is left out with a warning. */
  labels(path: readonly string[], from: Table, key: string): readonly string[];
  unknownKeys(path: readonly string[], table: Table, keys: { readonly acts: readonly string[]; readonly known: readonly string[] }): void;
}

const createReader = (fail: (path: readonly string[], what: string) => never, warnings: string[]): Reader => {
  const number = (path: readonly string[], from: Table, key: string, min: number, max: number): number | null => {
    const value = typeof from[key] === 'bigint' ? Number(from[key]) : from[key];
    if (value === undefined || value === null) return null;
    if (typeof value !== 'number' || !(value >= min && value <= max)) return fail([...path, key], `must be a number from ${min} to ${max}`);
    return value;
  };
  return {
    table: (from, key) => {
      const value = from[key];
      if (value === undefined || isTable(value)) return value ?? {};
      warnings.push(`${key} is not a table and was taken as empty.`);
      return {};
    },
    strictTable: (from, key) => {
      const value = from[key];
      return value === undefined || isTable(value) ? (value ?? {}) : fail([key], 'must be a table');
    },
    text: (path, from, key, fallback, max) => {
      const value = from[key] ?? fallback;
      if (typeof value !== 'string') return fail([...path, key], 'must be a text in quotes');
      return value.length > max ? fail([...path, key], `must have at most ${max} characters`) : value;
    },
    number,
    integer: (path, from, key, min, max) => {
      const value = number(path, from, key, min, max);
      return value === null || Number.isSafeInteger(value) ? value : fail([...path, key], 'must be a whole number');
    },
    flag: (path, from, key, fallback) => {
      const value = from[key] ?? fallback;
      return typeof value === 'boolean' ? value : fail([...path, key], 'must be true or false');
    },
    list: (path, from, key) => textsOf(from[key]) ?? fail([...path, key], 'must be a list of texts'),
    labels: (path, from, key) => {
      const texts = textsOf(from[key]);
      if (!texts) warnings.push(`${[...path, key].join('.')} is not a list of texts and was taken as empty.`);
      return texts ?? [];
    },
    unknownKeys: (path, table, keys) => {
      for (const key of Object.keys(table)) {
        const name = [...path, key].join('.');
        if (keys.known.includes(key)) warnings.push(`${name} is kept out of the manifest: nothing in this installation acts on it.`);
        else if (!keys.acts.includes(key)) warnings.push(`${name} is not a known key and was ignored.${meant(key, [...keys.acts, ...keys.known])}`);
      }
    },
  };
};

const meant = (key: string, known: readonly string[]): string => {
  const [near] = nearest(key, known, 1);
  return near === undefined ? '' : ` Did you mean ${near}?`;
};

const textsOf = (value: unknown): readonly string[] | undefined => {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((item): item is string => typeof item === 'string') ? value : undefined;
};

const isTable = (value: unknown): value is Table => typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
