/**
 * Settings: defaults, config.toml above them, the environment above that.
 *
 * G1  A bad section keeps its last good value and is reported with its line; the daemon starts all the same.
 * G2  A security section that is bad and was never good is closed, never at its default.
 * G3  Without a file, and with an unchanged one, the validator is not loaded, and the parser only where the file holds a secret.
 * G4  What is handed out is frozen.
 * G5  What would open a door that a guard watches does not come into force; the former values stay, and it is said.
 * G6  A secret stands in no file that the daemon writes by itself; its hash does, where that serves.
 */
import { copyFile, mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Disposable, isTable, schemaAt, withDefaults } from '@svc/api';
import { atomicWrite } from '../doors/files/atomic-write.js';
import type { Log } from '../log/log.js';
import { type ConfigText, readConfigFile } from './file/config-file.js';
import { type ConfigGuard, heldBack, withHeld } from './config-guard.js';
import { readEnvLayer } from './environment/env-layer.js';
import { configErrors } from './errors.js';
import { type ConfigProblem, type EvaluateInput, type Evaluation, evaluate, keyOf } from './evaluate.js';
import { type Aliases, aliasesOf, allClaims } from './claims.js';
import type { SectionClaims } from './kernel-sections.js';
import { digestOf, type LastGood, lastGoodText, readLastGood, type StoredLastGood, writeLastGood } from './file/last-good.js';
import { redactSecrets } from './file/stored-secrets.js';
import { editToml } from './file/toml-edit.js';
import { loadToml } from './file/toml-parse.js';

export interface ConfigOptions {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  log: Pick<Log, 'logger' | 'redact'>;
  /** Claims of every installed extension, on or off; the platform's own are added here. */
  sections: () => SectionClaims;
  /** Which known extension would claim a section, for the message when it is not installed. */
  providers?: () => Readonly<Record<string, string>>;
  /** Default: `data/config-last-good.json` beside the file. */
  lastGoodFile?: string;
  /** A rule above single settings, judged at every load. */
  guard?: ConfigGuard;
}

export interface ConfigReload {
  /** Sections whose value is another one now. */
  readonly changed: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

export interface Config {
  load(): Promise<void>;
  /** A section, a top-level `/key`, or a setting that an area added to a section (`api.rate_limit_per_second`): validated, defaults filled, frozen. `undefined` for a key without value or default. */
  get(section: string): unknown;
  problems(): readonly ConfigProblem[];
  /** Whether the last load found a file, be it one that could not be read. */
  hasFile(): boolean;
  /** False where the file could not be read at all, or is no TOML: nothing is known of what it says. */
  isFileRead(): boolean;
  /** True for a security section of which no good value is known. */
  isClosed(section: string): boolean;
  closed(): readonly string[];
  onChange(section: string, fn: () => void): Disposable;
  reload(): Promise<ConfigReload>;
  /** One JSON Schema of the whole file, for editors and forms. */
  schema(): Record<string, unknown>;
  /** Sets one setting in the file, in place, and reloads. `null` removes it. Throws `config_env_holds` and others of errors.ts. */
  set(path: string, value: unknown): Promise<ConfigReload>;
}

interface State {
  current: Evaluation | undefined;
  hasFile: boolean;
  /** What each section last held, from this process or from disk; undefined until the first load. */
  good: StoredLastGood | undefined;
  /** Loads, reloads and edits go one after the other. */
  queue: Promise<unknown>;
  readonly listeners: Map<string, Set<() => void>>;
}

export const createConfig = (options: ConfigOptions): Config => {
  const state: State = { current: undefined, hasFile: false, good: undefined, queue: Promise.resolve(), listeners: new Map() };
  const claims = (): SectionClaims => allClaims(options.sections());
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const result = state.queue.then(work);
    state.queue = result.catch(() => undefined); // whoever asked hears of it
    return result;
  };
  return {
    load: () => inOrder(async () => void (await refresh(options, state, claims()))),
    get: (section) => read(state, claims, section),
    problems: () => state.current?.problems ?? [],
    hasFile: () => state.hasFile,
    isFileRead: () => state.current?.isFileRead ?? true,
    isClosed: (section) => state.current?.closed.has(section) ?? false,
    closed: () => [...(state.current?.closed ?? [])],
    onChange: (name, fn) => listen(state, name.split('.')[0] ?? '', fn),
    reload: () => inOrder(() => refresh(options, state, claims())),
    schema: () => mergedSchema(claims()),
    set: (path, value) => inOrder(() => set(options, state, claims(), path, value)),
  };
};

const read = (state: State, claims: () => SectionClaims, name: string): unknown => {
  // Asked several times in each message, and nearly always for a whole section.
  if (!name.includes('.')) return readSection(state, claims, name);
  const [section = '', key = ''] = name.split('.');
  const value = readSection(state, claims, section);
  return isTable(value) ? value[key] : undefined;
};

const readSection = (state: State, claims: () => SectionClaims, section: string): unknown => {
  if (state.current?.values.has(section)) return state.current.values.get(section);
  const claim = claims()[section];
  if (!claim) throw configErrors.section_unknown(section);
  // Claimed after the last load: its defaults hold until the reload that follows an installation.
  return freeze(withDefaults(claim.schema, undefined));
};

const refresh = async (options: ConfigOptions, state: State, claims: SectionClaims): Promise<ConfigReload> => {
  const log = options.log.logger('config');
  const path = options.lastGoodFile ?? join(dirname(options.file), 'data', 'config-last-good.json');
  const onTrouble = (error: unknown): void => log.warn('The last good values of the settings cannot be read or kept.', { path, error });
  const source = await readConfigFile(options.file);
  state.hasFile = source.text !== null || source.unreadable !== undefined;
  state.good ??= await readLastGood(path, onTrouble);
  const good = state.good;
  const digest = source.text === null ? '' : digestOf(source.text, JSON.stringify(claims));
  const judged = await evaluate(inputOf(options, claims, source, good, digest));
  const held = await heldBack(options.guard, judged, state.current ? { values: Object.fromEntries(state.current.values), isStored: false } : { values: good.values, isStored: true }, claims);
  const evaluation = held && options.guard ? withHeld(options.guard, judged, held, options.file) : judged;
  for (const [name, value] of evaluation.values) redactSecrets(claims[name]?.schema, value, options.log.redact);
  for (const { message, key, severity } of evaluation.problems) log[severity === 'notice' ? 'info' : 'warn'](message, { key });
  if (source.unreadable === undefined) {
    const next = nextGood(options.guard, good, { claims, judged, digest: source.text === null ? undefined : digest, held });
    const text = Object.keys(next.values).length === 0 && good.text === '' ? '' : lastGoodText(next, claims);
    state.good = { ...next, isWithheld: false, text };
    // A home that cannot be written costs the fallback, not the start.
    if (text !== good.text) await writeLastGood(path, text).catch(onTrouble);
  }
  return install(options, state, evaluation);
};

interface Loaded {
  readonly claims: SectionClaims;
  readonly judged: Evaluation;
  /** Undefined where there is no file. */
  readonly digest: string | undefined;
  readonly held: Readonly<Record<string, unknown>> | undefined;
}

/** What a later load may fall back on. */
const nextGood = (guard: ConfigGuard | undefined, good: LastGood, { claims, judged, digest, held = {} }: Loaded): Omit<LastGood, 'isWithheld'> => {
  const isHeld = Object.keys(held).length > 0;
  const missing = (names: readonly string[]): readonly string[] => names.filter((name) => !Object.hasOwn(judged.fileValues, name) && !Object.hasOwn(held, name));
  // Of a clean file exactly what it says: a section that was taken out must not come back at the next start.
  if (digest !== undefined && judged.isFileClean) return { digest: isHeld ? '' : digest, values: { ...judged.fileValues, ...held }, absent: missing(Object.keys(claims)) };
  // Without a file nothing is known to be wrong: it may be between two names. Only what a guard watches is taken at its word.
  const former = Object.fromEntries(Object.entries(good.values).filter(([name]) => digest !== undefined || !guard?.sections.includes(name)));
  const values = { ...former, ...judged.fileValues, ...held };
  const absent = digest === undefined ? Object.keys(claims).filter((name) => !Object.hasOwn(values, name)) : missing(good.absent);
  return { digest: '', values, absent };
};

const inputOf = (options: ConfigOptions, claims: SectionClaims, source: ConfigText, good: LastGood, digest: string): EvaluateInput => ({
  file: options.file,
  text: source.text,
  unreadable: source.unreadable,
  env: readEnvLayer(options.env, aliasesOf(claims)),
  claims,
  ready: digest !== '' && digest === good.digest ? good.values : undefined,
  isWithheld: good.isWithheld,
  good: good.values,
  absent: good.absent,
  providers: options.providers?.() ?? {},
});

const install = (options: ConfigOptions, state: State, evaluation: Evaluation): ConfigReload => {
  const before = state.current?.values;
  for (const value of evaluation.values.values()) freeze(value);
  state.current = evaluation;
  if (!before) return { changed: [], problems: evaluation.problems };
  const changed = [...evaluation.values].filter(([name, value]) => !isSame(before.get(name), value)).map(([name]) => name);
  for (const name of changed) {
    for (const fn of state.listeners.get(name) ?? []) {
      try {
        fn();
      } catch (error) {
        // One listener's mistake must not keep the news from the others.
        options.log.logger('config').error('A listener failed on a changed setting.', { section: name, error });
      }
    }
  }
  return { changed, problems: evaluation.problems };
};

const listen = (state: State, section: string, fn: () => void): Disposable => {
  const listeners = state.listeners.get(section) ?? new Set();
  state.listeners.set(section, listeners);
  // A function of its own, so that the same `fn` may listen twice and leave once.
  const entry = (): void => fn();
  listeners.add(entry);
  return {
    dispose: () => {
      listeners.delete(entry);
      if (listeners.size === 0 && state.listeners.get(section) === listeners) state.listeners.delete(section);
    },
  };
};

const set = async (options: ConfigOptions, state: State, claims: SectionClaims, name: string, value: unknown): Promise<ConfigReload> => {
  const asked = name.replace(/^\//, '').split('.');
  if (asked.length > 4 || !asked.every((part) => /^[A-Za-z0-9_-]{1,64}$/.test(part))) throw configErrors.path_invalid(name);
  const source = await readConfigFile(options.file);
  if (source.unreadable !== undefined) throw configErrors.file_invalid(source.unreadable);
  const text = source.text ?? '';
  const parse = await loadToml();
  let tree: Record<string, unknown>;
  try {
    tree = parse(text);
  } catch (error) {
    throw configErrors.file_invalid(error instanceof Error ? error.message : String(error));
  }
  const aliases = aliasesOf(claims);
  const target = aliases[asked[0] ?? ''] ?? asked;
  const holder = readEnvLayer(options.env, aliases).find((setting) => isPrefix(setting.path, target) || isPrefix(target, setting.path));
  if (holder) throw configErrors.env_holds(target.join('.'), holder.variable);
  const edited = editToml(text, spelling(aliases, tree, target), value === null ? undefined : value, parse);
  await judge(options, state, claims, target, edited);
  await save(options.file, source.text === null ? null : text, edited);
  return refresh(options, state, claims);
};

/** Where the file already says it by an older name, that line is the one to change. */
const spelling = (aliases: Aliases, tree: Record<string, unknown>, target: readonly string[]): readonly string[] => {
  const alias = Object.keys(aliases).find((key) => Object.hasOwn(tree, key) && isSame(aliases[key], target));
  return alias === undefined ? target : [alias];
};

/** Refuses a text that brings a problem which the present one does not have. */
const judge = async (options: ConfigOptions, state: State, claims: SectionClaims, target: readonly string[], edited: string): Promise<void> => {
  const evaluation = await evaluate({ ...inputOf(options, claims, { text: edited, unreadable: undefined }, state.good ?? { digest: '', values: {}, absent: [], isWithheld: false }, ''), env: [] });
  const section = target[0] ?? '';
  const known = new Set((state.current?.problems ?? []).map((problem) => problem.key));
  const found =
    evaluation.problems.find((problem) => isPrefix(target, problem.key.split('.'))) ?? evaluation.problems.find((problem) => problem.key.split('.')[0] === section && !known.has(problem.key));
  if (found) throw configErrors.value_invalid(found.message);
};

const save = async (file: string, old: string | null, text: string): Promise<void> => {
  try {
    if (old !== null) {
      const backups = join(dirname(file), 'backups');
      await mkdir(backups, { recursive: true, mode: 0o700 });
      await copyFile(file, join(backups, `${basename(file)}.prev`));
    }
    await atomicWrite(file, text, { modeWhenNew: 0o600 });
  } catch (cause) {
    throw configErrors.write_failed().with({ cause });
  }
};

const mergedSchema = (claims: SectionClaims): Record<string, unknown> => {
  const sections = Object.fromEntries(Object.entries(claims).map(([name, claim]) => [keyOf(name), claim.schema]));
  const aliases = Object.fromEntries(Object.entries(aliasesOf(claims)).map(([alias, target]) => [alias, schemaAt({ properties: sections }, target)]));
  const properties = { ...sections, ...aliases };
  return JSON.parse(JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'svc config.toml', type: 'object', properties, additionalProperties: false }));
};

const freeze = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
};

const isPrefix = (short: readonly string[], long: readonly string[]): boolean => short.every((part, index) => part === long[index]);

/** Values of TOML and JSON only, built in the order of the schema. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
