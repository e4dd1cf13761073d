/**
 * From a text, the environment and the claims to the values of all sections.
 * Pure but for the packages it loads: it reads and writes no file.
 */
import { basename } from 'node:path';
import { didYouMean, type Finding, isTable, type JsonSchema, lineOfPath, nearest, scanToml, schemaAt } from '@svc/api';
import { type TomlEntry, withDefaults } from '@svc/api/internal';
import { type EnvSetting, envValue, withPath } from './environment/env-layer.js';
import { type Aliases, aliasesOf, schemaOf } from './claims.js';
import type { SectionClaims } from './kernel-sections.js';
import { createChecker, type Checker } from './section-check.js';
import { withSecretsOf } from './file/stored-secrets.js';
import { loadToml, type ParseToml, TomlProblem } from './file/toml-parse.js';
import { WAITING_SECTIONS, waitingAt, waitingIn, waitingMessage } from './waiting-settings.js';

export interface ConfigProblem {
  readonly file: string;
  /** One-based; null where no line can be named. */
  readonly line: number | null;
  /** Dotted path. */
  readonly key: string;
  readonly message: string;
  readonly expected: string;
  /** `notice`: known, and waiting for its area. */
  readonly severity: 'error' | 'warning' | 'notice';
}

export interface EvaluateInput {
  file: string;
  /** Null when there is no file. */
  text: string | null;
  /** Set when the file is there and cannot be read. */
  unreadable: string | undefined;
  env: readonly EnvSetting[];
  claims: SectionClaims;
  /** Values that are known to be good for exactly this text and these schemas. */
  ready: Readonly<Record<string, unknown>> | undefined;
  /** The ready values lack the secrets that the text holds. */
  isWithheld?: boolean;
  /** What each section last held. */
  good: Readonly<Record<string, unknown>>;
  /** Sections that the last good text did not have. */
  absent?: readonly string[];
  /** Which extension would claim a section, for sections that nobody does. */
  providers: Readonly<Record<string, string>>;
}

export interface Evaluation {
  readonly values: ReadonlyMap<string, unknown>;
  /** The file's layer of each section that is in the file and good. */
  readonly fileValues: Readonly<Record<string, unknown>>;
  /** Sections in which the environment's layer holds. */
  readonly fromEnv: ReadonlySet<string>;
  /** Sections that are at an earlier value, because what the file says now does not hold. */
  readonly kept: ReadonlySet<string>;
  readonly problems: readonly ConfigProblem[];
  readonly closed: ReadonlySet<string>;
  /** Whether the file holds nothing that had to be reported. */
  readonly isFileClean: boolean;
  /** False for a file that could not be read at all, or is no TOML. */
  readonly isFileRead: boolean;
}

/** Keys that are not settings. Each costs a comparison with every known name, and a search for its line. */
const MAX_THIRD_PARTIES = 20;

interface Work extends EvaluateInput {
  readonly problems: ConfigProblem[];
  readonly values: Map<string, unknown>;
  readonly fileValues: Record<string, unknown>;
  readonly closed: Set<string>;
  readonly fromEnv: Set<string>;
  readonly checker: Checker;
  readonly aliases: Aliases;
  lines: readonly TomlEntry[] | undefined;
  /** The parsed text, where the values are ready but for its secrets. */
  secretsFrom: Readonly<Record<string, unknown>> | undefined;
}

export const evaluate = async (input: EvaluateInput): Promise<Evaluation> => {
  const work: Work = {
    ...input,
    problems: [],
    values: new Map(),
    fileValues: {},
    closed: new Set(),
    fromEnv: new Set(),
    checker: createChecker(),
    aliases: aliasesOf(input.claims),
    lines: undefined,
    secretsFrom: undefined,
  };
  const tree = await readTree(work);
  if (tree) reportUnclaimed(work, tree);
  const layers = new Map<string, Layer>();
  for (const name of Object.keys(work.claims)) {
    const layer = await fileLayer(work, name, tree);
    if (layer.isFromFile) work.fileValues[name] = layer.value;
    layers.set(name, layer);
  }
  const isFileClean = work.problems.length === 0;
  for (const [name, layer] of layers) work.values.set(name, await withEnv(work, name, layer));
  reportUnclaimedEnv(work);
  const kept = new Set([...layers].flatMap(([name, { isKept }]) => (isKept ? [name] : [])));
  return { values: work.values, fileValues: work.fileValues, fromEnv: work.fromEnv, kept, problems: work.problems, closed: work.closed, isFileClean, isFileRead: tree !== null };
};

/** The parsed text; undefined when it need not be looked at, null when it cannot be. */
const readTree = async (work: Work): Promise<Record<string, unknown> | undefined | null> => {
  if (work.unreadable !== undefined) {
    problem(work, null, '', `${basename(work.file)} cannot be read: ${work.unreadable}. Every section keeps its last good value.`, 'a readable file', 'error');
    return null;
  }
  if (work.text === null || (work.ready && !work.isWithheld)) return undefined;
  try {
    const tree = (await loadToml())(work.text);
    applyAliases(work, tree);
    if (!work.ready) return tree;
    work.secretsFrom = tree;
    return undefined;
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    const where = error.line === null ? basename(work.file) : `${basename(work.file)}:${error.line}`;
    work.problems.push({
      file: work.file,
      line: error.line,
      key: '',
      message: `${where}: not valid TOML: ${error.message}. Every section keeps its last good value.`,
      expected: 'valid TOML',
      severity: 'error',
    });
    return null;
  }
};

interface Layer {
  readonly value: unknown;
  readonly isFromFile: boolean;
  /** What it held before stands in for what does not hold. */
  readonly isKept?: boolean;
  /** Nothing good is known: a security section then closes. */
  readonly isLost: boolean;
}

const fileLayer = async (work: Work, name: string, tree: Record<string, unknown> | undefined | null): Promise<Layer> => {
  const schema = schemaOfClaim(work, name);
  const key = keyOf(name);
  if (tree === undefined) {
    const original = work.secretsFrom?.[key];
    const isReady = work.ready !== undefined && (Object.hasOwn(work.ready, name) || original !== undefined);
    const ready = isReady ? work.ready?.[name] : undefined;
    return { value: withDefaults(schema, original === undefined ? ready : withSecretsOf(schema, ready, original)), isFromFile: isReady, isLost: false };
  }
  if (tree !== null) {
    if (!Object.hasOwn(tree, key)) return { value: withDefaults(schema, undefined), isFromFile: false, isLost: false };
    const checked = await work.checker.check(name, work.claims[name], tree[key]);
    for (const finding of checked.findings) {
      const path = [key, ...finding.path];
      const { message, expected, severity } = asWaiting(work, path, finding);
      problem(work, lineOf(work, path), path.join('.'), message, expected, severity);
    }
    if (checked.ok) return { value: checked.value, isFromFile: true, isLost: false };
  }
  // An older program may have stored it under an older schema: it has to be good now as well.
  const kept = Object.hasOwn(work.good, name) ? await work.checker.check(name, work.claims[name], work.good[name]) : undefined;
  if (kept?.ok) return { value: kept.value, isFromFile: false, isKept: true, isLost: false };
  // A text that cannot be read says nothing of this section; the last one that could left it at its default.
  return { value: withDefaults(schema, undefined), isFromFile: false, isLost: tree !== null || !work.absent?.includes(name) };
};

const withEnv = async (work: Work, name: string, layer: Layer): Promise<unknown> => {
  const schema = schemaOfClaim(work, name);
  const settings = work.env.filter((setting) => setting.path[0] === keyOf(name));
  let isLost = layer.isLost;
  let value = layer.value;
  if (settings.length > 0) {
    const parse = settings.some((setting) => /^["'[{+\-\d]/.test(setting.text)) ? await loadToml() : noToml;
    const overlaid = settings.reduce((base: unknown, setting) => withPath(base, setting.path.slice(1), envValue(setting.text, schemaAt(schema, setting.path.slice(1)), parse)), value);
    const checked = await work.checker.check(name, work.claims[name], overlaid);
    const names = settings.map((setting) => setting.variable);
    for (const finding of checked.findings) {
      const path = [keyOf(name), ...finding.path];
      const source = settings.find((setting) => setting.path.every((part, index) => part === path[index]))?.variable ?? names.join(', ');
      const { message, expected, severity } = asWaiting(work, path, finding);
      work.problems.push({ file: source, line: null, key: path.join('.'), message: `${source}: ${message}`, expected, severity });
    }
    if (checked.ok) {
      value = checked.value;
      work.fromEnv.add(name);
    }
    // A security setting that was meant to hold and does not: nothing is known to be safe.
    else isLost ||= schema['x-security'] === true && !layer.isFromFile;
  }
  if (isLost && schema['x-security'] === true) work.closed.add(name);
  return value;
};

/** A key that no schema has, of an area that is not here: no slip of the hand. In a security section it stays a mistake. */
const asWaiting = (work: Work, path: readonly string[], { message, expected, fatal }: Finding): Pick<ConfigProblem, 'message' | 'expected' | 'severity'> => {
  const waiting = fatal ? undefined : (waitingIn(schemaOfClaim(work, path[0] ?? ''), path.slice(1)) ?? waitingAt(path, 2));
  if (!waiting) return { message, expected, severity: fatal ? 'error' : 'warning' };
  return { message: waitingMessage(`[${path.slice(0, -1).join('.')}] ${path.at(-1)}`, waiting), expected: 'nothing', severity: waiting.unkept === undefined ? 'notice' : 'warning' };
};

const noToml: ParseToml = () => ({});

const applyAliases = (work: Work, tree: Record<string, unknown>): void => {
  for (const [alias, [section = '', key = '']] of Object.entries(work.aliases)) {
    if (!Object.hasOwn(tree, alias)) continue;
    const table = tree[section];
    const known = isTable(table) ? table[key] : undefined;
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(tree[alias])) {
      problem(work, lineOf(work, [alias]), alias, `${alias} says another thing than [${section}] ${key}, which counts`, 'one of the two', 'warning');
    } else if (table === undefined || isTable(table)) tree[section] = withPath(table, [key], tree[alias]);
    delete tree[alias];
  }
};

const reportUnclaimed = (work: Work, tree: Record<string, unknown>): void => {
  const keys = new Set(Object.keys(work.claims).map(keyOf));
  let thirdParties = 0;
  for (const [key, value] of Object.entries(tree)) {
    if (keys.has(key)) continue;
    if (waitingAt([key]) === undefined && ++thirdParties > MAX_THIRD_PARTIES) continue;
    const { message, severity } = unclaimed(work, [key], isTable(value) || Array.isArray(value) ? `[${key}]` : key);
    problem(work, lineOf(work, [key]), key, message, 'a setting that something reads', severity);
    // Of a section that waits as a whole, what would have to be kept is named by itself.
    if (severity === 'notice' && isTable(value)) reportInner(work, key, value);
  }
  if (thirdParties > MAX_THIRD_PARTIES) problem(work, null, '', `${thirdParties - MAX_THIRD_PARTIES} more keys are not settings`, 'settings that something reads', 'warning');
};

const reportUnclaimedEnv = (work: Work): void => {
  const keys = new Set(Object.keys(work.claims).map(keyOf));
  for (const { variable, path } of work.env) {
    if (keys.has(path[0] ?? '')) continue;
    const { message, severity } = unclaimed(work, path, path.join('.'));
    work.problems.push({ file: variable, line: null, key: path.join('.'), message: `${variable}: ${message}`, expected: 'a setting that something reads', severity });
  }
};

const reportInner = (work: Work, section: string, table: Record<string, unknown>): void => {
  for (const key of Object.keys(table)) {
    const waiting = waitingAt([section, key]);
    if (waiting?.unkept !== undefined) problem(work, lineOf(work, [section, key]), `${section}.${key}`, waitingMessage(`[${section}] ${key}`, waiting), 'no such key', 'warning');
  }
};

const unclaimed = (work: Work, path: readonly string[], shown: string): Pick<ConfigProblem, 'message' | 'severity'> => {
  const key = path[0] ?? '';
  const provider = Object.hasOwn(work.providers, key) ? work.providers[key] : undefined;
  if (provider !== undefined) return { message: `${shown} is provided by the extension ${provider}, which is not installed`, severity: 'warning' };
  const waiting = waitingAt(path);
  if (waiting) return { message: waitingMessage(shown, waiting), severity: waiting.unkept === undefined ? 'notice' : 'warning' };
  const names = [...Object.keys(work.claims).map(keyOf), ...Object.keys(work.aliases), ...WAITING_SECTIONS];
  const near = didYouMean(key, names);
  const inside = near === '' && path.length === 1 ? nearestInSections(work, key) : undefined;
  // A key that lost its section would be in force nowhere, and whoever wrote it counts on it.
  if (inside !== undefined) return { message: `${shown} is not a setting. Did you mean "${inside.key}" in [${inside.section}]?`, severity: 'error' };
  return { message: `${shown} is not a setting.${near}`, severity: 'warning' };
};

const nearestInSections = (work: Work, key: string): { readonly section: string; readonly key: string } | undefined => {
  const inside = Object.entries(work.claims).flatMap(([section, { schema }]) => (section.startsWith('/') ? [] : Object.keys(schema.properties ?? {}).map((name) => ({ section, key: name }))));
  const [near] = nearest(
    key,
    inside.map((one) => one.key),
    1,
  );
  return inside.find((one) => one.key === near);
};

const problem = (work: Work, line: number | null, key: string, message: string, expected: string, severity: ConfigProblem['severity']): void => {
  const where = line === null ? '' : `${basename(work.file)}:${line}: `;
  work.problems.push({ file: work.file, line, key, message: `${where}${message}`, expected, severity });
};

const lineOf = (work: Work, path: readonly string[]): number | null => {
  work.lines ??= scanToml(work.text ?? '');
  const line = lineOfPath(work.lines, path);
  if (line !== null) return line;
  const alias = Object.entries(work.aliases).find(([, target]) => target.every((part, index) => part === path[index]))?.[0];
  return alias === undefined ? null : lineOfPath(work.lines, [alias]);
};

export const keyOf = (name: string): string => (name.startsWith('/') ? name.slice(1) : name);

const schemaOfClaim = (work: Work, name: string): JsonSchema => schemaOf(work.claims[name]);
