/**
 * Settings: defaults, config.toml above them, the environment above that.
 *
 * G1  A bad section keeps its last good value and is reported with its line; the daemon starts all the same.
 * G2  A security section that is bad and was never good is closed, never at its default.
 * G3  Without a file, and with an unchanged one, the validator is not loaded, and the parser only where the file holds a secret.
 * G4  What is handed out is frozen.
 * G5  What would open an adapter that a guard watches does not come into force; the former values stay, and it is said.
 * G6  A secret stands in no file that the daemon writes by itself; its hash does, where that serves.
 */
import { createHmac } from 'node:crypto';
import { dirname, join } from 'node:path';
import { type Disposable, isTable } from '@svc/api';
import { type SettingsShown, withDefaults } from '@svc/api/internal';
import type { Log } from '../log/log.js';
import { type ConfigText, readConfigFile } from './file/config-file.js';
import { type ConfigGuard, heldBack, withHeld } from './config-guard.js';
import { readEnvLayer } from './environment/env-layer.js';
import { configErrors } from './errors.js';
import { type ConfigProblem, type EvaluateInput, type Evaluation, evaluate } from './evaluate.js';
import { ownerKeySetting } from './caller-keys.js';
import { aliasesOf, allClaims } from './claims.js';
import type { SectionClaims } from './kernel-sections.js';
import { digestOf, type LastGood, lastGoodText, NOTHING_GOOD, readLastGood, type StoredLastGood, writeLastGood } from './file/last-good.js';
import { redactSecrets } from './file/stored-secrets.js';
import { openForEdit, replaceText } from './file/replace-file.js';
import { configSchema } from './settings/config-document.js';
import { type EditInput, editSetting } from './settings/edit-setting.js';
import { FIRST_TEXT, writeFirst } from './settings/first-config.js';
import { shownSettings, shownTree } from './settings/provenance.js';
import { changedSettings } from './settings/setting-tree.js';

export interface ConfigOptions {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  log: Pick<Log, 'logger' | 'redact' | 'scrub'>;
  /** Claims of every installed extension, on or off; the platform's own are added here. */
  sections: () => SectionClaims;
  /** Which known extension would claim a section, for the message when it is not installed. */
  providers?: () => Readonly<Record<string, string>>;
  /** Default: `data/config-last-good.json` beside the file. Null: nothing is remembered from one life to the next. */
  lastGoodFile?: string | null;
  /** A rule above single settings, validated at every load. */
  guard?: ConfigGuard;
  /** Why the daemon would not start with these values; a change that brings that about is not written. */
  refusesStart?: (get: (section: string) => unknown) => string | undefined;
  /** `sha256:<hex>` of the key that the daemon made for its owner, if it did: holds where nobody set another. */
  ownerKeyHash?: () => string | undefined;
  /** A random text, so that a revision tells nothing of what the file holds. */
  revisionKey?: string;
}

export interface ConfigEdit {
  readonly path: string;
  /** Null takes the setting out. */
  readonly value: unknown;
  /** Of what the caller had read (`shown`): when the file is another by now, `config_changed_meanwhile`. */
  readonly revision?: string | undefined;
  /** The owner has just agreed to it. */
  readonly isConfirmed?: boolean;
}

export interface ConfigReload {
  /** Sections whose value is another one now. */
  readonly changed: readonly string[];
  /** The same setting by setting, as dotted paths. */
  readonly settings: readonly string[];
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
  /** Brings the key that the daemon made into force, at once and without looking at the file. */
  applyOwnerKey(): void;
  /** One JSON Schema of the whole file, for editors and forms. */
  schema(): Record<string, unknown>;
  /** Every setting as a reader may see it: with where it comes from, and without secrets. */
  shown(): Promise<SettingsShown>;
  /** Of the text that was last read: another after every change of it. */
  revision(): string;
  /** Changes one setting in the file, in place; `reload` brings it into force. Answers with its own path. Throws `config_env_holds` and others of errors.ts. */
  edit(edit: ConfigEdit): Promise<string>;
  /** Writes the first file, with these settings by path. False where there is one. */
  begin(settings: Readonly<Record<string, unknown>>): Promise<boolean>;
}

interface State {
  current: Evaluation | undefined;
  hasFile: boolean;
  /** What was last read; null where there was no file, or none that could be read. */
  text: string | null;
  /** What each section last held, from this process or from disk; undefined until the first load. */
  good: StoredLastGood | undefined;
  /** Loads, reloads and edits go one after the other. */
  queue: Promise<unknown>;
  readonly listeners: Map<string, Set<() => void>>;
}

export const createConfig = (options: ConfigOptions): Config => {
  const state: State = { current: undefined, hasFile: false, text: null, good: undefined, queue: Promise.resolve(), listeners: new Map() };
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
    applyOwnerKey: () => {
      if (state.current) install(options, state, claims(), withOwnerKey(options, claims(), state.current));
    },
    schema: () => configSchema(claims()),
    shown: () => inOrder(() => shown(options, state, claims())),
    revision: () => revisionOf(options, state.text),
    edit: (edit) => inOrder(() => change(options, state, claims(), edit)),
    begin: (settings) => inOrder(() => begin(options, state, claims(), settings)),
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
  const path = options.lastGoodFile === undefined ? join(dirname(options.file), 'data', 'config-last-good.json') : options.lastGoodFile;
  const onTrouble = (error: unknown): void => log.warn('The last good values of the settings cannot be read or kept.', { path, error });
  const source = await readConfigFile(options.file);
  state.text = source.text;
  state.hasFile = source.text !== null || source.unreadable !== undefined;
  state.good ??= path === null ? NOTHING_GOOD : await readLastGood(path, onTrouble);
  const good = state.good;
  const digest = source.text === null ? '' : digestOf(source.text, JSON.stringify(claims));
  const validated = withOwnerKey(options, claims, await evaluate(inputOf(options, claims, source, good, digest)));
  const held = await heldBack(options.guard, validated, state.current ? { values: Object.fromEntries(state.current.values), isStored: false } : { values: good.values, isStored: true }, claims);
  const evaluation = held && options.guard ? withHeld(options.guard, validated, held, options.file) : validated;
  for (const [name, value] of evaluation.values) redactSecrets(claims[name]?.schema, value, options.log.redact);
  for (const { message, key, severity } of evaluation.problems) log[severity === 'notice' ? 'info' : 'warn'](message, { key });
  if (source.unreadable === undefined) {
    const next = nextGood(options.guard, good, { claims, validated, digest: source.text === null ? undefined : digest, held });
    const text = Object.keys(next.values).length === 0 && good.text === '' ? '' : lastGoodText(next, claims);
    state.good = { ...next, isWithheld: false, text };
    // A home that cannot be written costs the fallback, not the start.
    if (path !== null && text !== good.text) await writeLastGood(path, text).catch(onTrouble);
  }
  return install(options, state, claims, evaluation);
};

/** Part of each evaluation, so that no moment is without a key when the operator takes theirs away. */
const withOwnerKey = ({ env, ownerKeyHash }: ConfigOptions, claims: SectionClaims, evaluation: Evaluation): Evaluation => ({
  ...evaluation,
  values: new Map([...evaluation.values, ...Object.entries(ownerKeySetting(claims, (section) => evaluation.values.get(section), env, ownerKeyHash?.()))]),
});

interface Loaded {
  readonly claims: SectionClaims;
  readonly validated: Evaluation;
  /** Undefined where there is no file. */
  readonly digest: string | undefined;
  readonly held: Readonly<Record<string, unknown>> | undefined;
}

/** What a later load may fall back on. */
const nextGood = (guard: ConfigGuard | undefined, good: LastGood, { claims, validated, digest, held = {} }: Loaded): Omit<LastGood, 'isWithheld'> => {
  const isHeld = Object.keys(held).length > 0;
  const missing = (names: readonly string[]): readonly string[] => names.filter((name) => !Object.hasOwn(validated.fileValues, name) && !Object.hasOwn(held, name));
  // Of a clean file exactly what it says: a section that was taken out must not come back at the next start.
  if (digest !== undefined && validated.isFileClean) return { digest: isHeld ? '' : digest, values: { ...validated.fileValues, ...held }, absent: missing(Object.keys(claims)) };
  // Without a file nothing is known to be wrong: it may be between two names. Only what a guard watches is taken at its word.
  const former = Object.fromEntries(Object.entries(good.values).filter(([name]) => digest !== undefined || !guard?.sections.includes(name)));
  const values = { ...former, ...validated.fileValues, ...held };
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

const install = (options: ConfigOptions, state: State, claims: SectionClaims, evaluation: Evaluation): ConfigReload => {
  const before = state.current?.values;
  for (const value of evaluation.values.values()) freeze(value);
  state.current = evaluation;
  if (!before) return { changed: [], settings: [], problems: evaluation.problems };
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
  return { changed, settings: changedSettings(claims, changed, before, evaluation.values), problems: evaluation.problems };
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

const change = async (options: ConfigOptions, state: State, claims: SectionClaims, edit: ConfigEdit): Promise<string> => {
  const file = await openForEdit(options.file);
  if (edit.revision !== undefined && edit.revision !== revisionOf(options, file.exists ? file.text : null)) throw configErrors.changed_meanwhile();
  const edited = await editSetting(editInputOf(options, state, claims, file.text), edit.path, edit.value, edit.isConfirmed === true);
  if (edited.text !== file.text) await replaceText(file, edited.text);
  return edited.path;
};

const begin = async (options: ConfigOptions, state: State, claims: SectionClaims, settings: Readonly<Record<string, unknown>>): Promise<boolean> => {
  let text = FIRST_TEXT;
  for (const [path, value] of Object.entries(settings)) ({ text } = await editSetting(editInputOf(options, state, claims, text), path, value));
  return writeFirst(options.file, text);
};

const editInputOf = (options: ConfigOptions, state: State, claims: SectionClaims, text: string): EditInput => {
  const good = state.good ?? NOTHING_GOOD;
  const validate = (edited: string): ReturnType<typeof evaluate> => evaluate({ ...inputOf(options, claims, { text: edited, unreadable: undefined }, good, ''), env: [] });
  return {
    text,
    claims,
    env: options.env,
    providers: options.providers?.() ?? {},
    scrub: options.log.scrub,
    validate,
    refusesStart: async (edited) => {
      const { values } = await evaluate(inputOf(options, claims, { text: edited, unreadable: undefined }, good, ''));
      return options.refusesStart?.((section) => values.get(section));
    },
  };
};

const shown = async (options: ConfigOptions, state: State, claims: SectionClaims): Promise<SettingsShown> => {
  const evaluation = state.current ?? { fromEnv: new Set<string>(), kept: new Set<string>() };
  const settings = await shownSettings({ claims, env: options.env, text: state.text, evaluation, settingOf: (claim) => readSection(state, () => claims, claim), scrub: options.log.scrub });
  return { settings, tree: shownTree(settings, claims), revision: revisionOf(options, state.text) };
};

const freeze = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
};

/** With a key of this process: nobody finds out by trying what else the file holds. */
const revisionOf = ({ revisionKey = '' }: ConfigOptions, text: string | null): string =>
  createHmac('sha256', revisionKey)
    .update(text === null ? '0' : `1${text}`)
    .digest('hex')
    .slice(0, 32);

/** Values of TOML and JSON only, built in the order of the schema. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
