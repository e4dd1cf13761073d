/**
 * One setting changed in a text of config.toml, or refused by name.
 *
 * C1  A setting that nobody has, that only a person changes, that the environment holds, or whose value does not fit is refused before anything is written.
 * C2  Of the rest of the file nothing changes (file/toml-edit.ts, E1), and no problem comes up that was not there.
 * C3  What the owner may turn on needs a confirmation; whatever turns it off or replaces a list stays for the file.
 */
import { isDeepStrictEqual } from 'node:util';
import { nearest, isTable, type JsonSchema, SETTING_PATH } from '@svc/api';
import { type Aliases, aliasesOf } from '../claims.js';
import { readEnvLayer } from '../environment/env-layer.js';
import { heldByName } from '../environment/named-variables.js';
import { configErrors } from '../errors.js';
import { type ConfigProblem, type Evaluation, keyOf } from '../evaluate.js';
import type { SectionClaims } from '../kernel-sections.js';
import { editToml } from '../file/toml-edit.js';
import { loadToml, type ParseToml } from '../file/toml-parse.js';
import { waitingAt, waitingIn } from '../waiting-settings.js';
import { whyByHand, whyByHandInside } from './secrecy.js';
import { schemasAt } from './setting-tree.js';

export const MAX_NAMES = 3;
/** Each change of a line is proven on the whole file, so what they take together grows with both. */
const MAX_EDITS = 100;

export interface EditInput {
  readonly text: string;
  readonly claims: SectionClaims;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Which extension would claim a section that nobody does. */
  readonly providers: Readonly<Record<string, string>>;
  readonly scrub: (text: string) => string;
  /** The text as a start would validate it, without the environment. */
  validate(text: string): Promise<Evaluation>;
  /** Why a daemon would not start with it, environment included; undefined where it would. */
  refusesStart(text: string): Promise<string | undefined>;
}

interface Edit {
  readonly path: readonly string[];
  /** Undefined takes it out. */
  readonly value: unknown;
}

interface Work extends EditInput {
  readonly parse: ParseToml;
  readonly tree: Record<string, unknown>;
  readonly aliases: Aliases;
}

/** The text with `value` at `path`, and the setting's own path; null takes the setting out. Throws errors `config_*`. */
export const editSetting = async (input: EditInput, path: string, value: unknown, isConfirmed = false): Promise<{ text: string; path: string }> => {
  const aliases = aliasesOf(input.claims);
  const asked = namesOf(path);
  const alias = asked.join('.');
  const target = (Object.hasOwn(aliases, alias) ? aliases[alias] : undefined) ?? asked;
  const schemas = schemasAt(input.claims, target);
  const parse = await loadToml();
  const turnsOn = value === true && schemas?.at(-1)?.['x-owner-turns-on'] === true;
  if (!turnsOn) refuseByHand(target, whyByHand(target, schemas ?? []));
  const work: Work = { ...input, parse, aliases, tree: treeOf(input.text, parse) };
  const former = at(work.tree, spelling(work, target));
  if (turnsOn) refuseUnconfirmed(target, schemas, former, isConfirmed);
  if (schemas === undefined && (value !== null || former === undefined)) throw unknownSetting(work, target);
  refuseHeld(work, target, schemas?.at(-1));
  const edits = editsOf(target, former, value === null ? undefined : value);
  if (edits.length > MAX_EDITS) throw configErrors.too_many_changes(target.join('.'), edits.length, MAX_EDITS);
  if (!turnsOn) for (const edit of edits) refuseValue(work, edit);
  const edited = edits.reduce((text, edit) => editToml(text, spelling(work, edit.path), edit.value, parse), input.text);
  if (edited !== input.text) await refuseWorse(work, target, edited);
  return { text: edited, path: target.join('.') };
};

const namesOf = (path: string): readonly string[] => {
  const names = path.replace(/^\//, '').split('.');
  if (names.length > MAX_NAMES) throw configErrors.path_too_deep(path.slice(0, 200), names.length);
  if (!SETTING_PATH.fits(path) || names.includes('__proto__')) throw configErrors.path_invalid(path.slice(0, 200));
  return names;
};

const refuseByHand = (path: readonly string[], why: string | undefined): void => {
  if (why !== undefined) throw configErrors.by_hand(path.join('.'), why);
};

/** A list of names says something else than on or off, so only a person replaces it. */
const refuseUnconfirmed = (path: readonly string[], schemas: readonly JsonSchema[] | undefined, former: unknown, isConfirmed: boolean): void => {
  if (former !== undefined && typeof former !== 'boolean') refuseByHand(path, whyByHand(path, schemas ?? []));
  if (!isConfirmed) throw configErrors.confirmation_needed(path.join('.'));
};

const treeOf = (text: string, parse: ParseToml): Record<string, unknown> => {
  try {
    return parse(text);
  } catch (error) {
    const line = error instanceof Error && 'line' in error && typeof error.line === 'number' ? ` (line ${error.line})` : '';
    throw configErrors.file_invalid(`${error instanceof Error ? error.message : String(error)}${line}`);
  }
};

/** Where the file already says it by an older name, that line is the one to change. */
const spelling = ({ aliases, tree }: Pick<Work, 'aliases' | 'tree'>, target: readonly string[]): readonly string[] => {
  const alias = Object.keys(aliases).find((key) => Object.hasOwn(tree, key) && isDeepStrictEqual(aliases[key], target));
  return alias === undefined ? target : [alias];
};

/** The nearest name beside it, or what stands in its way. */
const unknownSetting = (work: Work, target: readonly string[]): Error => {
  const shown = target.join('.');
  const [section = ''] = target;
  const provider = Object.hasOwn(work.providers, section) ? work.providers[section] : undefined;
  if (provider !== undefined) return configErrors.setting_unknown(shown, ` It belongs to the extension ${provider}, which is not installed.`);
  const around = schemasAt(work.claims, [section])?.[0];
  const waiting = around ? (waitingIn(around, target.slice(1)) ?? waitingAt(target, 2)) : waitingAt(target);
  if (waiting) return configErrors.setting_waits(shown, waiting.unkept === undefined ? '' : ` Until then: ${waiting.unkept}.`);
  const known = knownBeside(work.claims, target);
  const [one] = nearest(target[known.depth] ?? '', known.names, 1);
  const near = one === undefined ? '' : ` Did you mean "${wholeName(work, [...target.slice(0, known.depth), one], target.slice(known.depth + 1))}"?`;
  const listed = near === '' && known.names.length <= MAX_LISTED && known.depth > 0 ? ` There are: ${known.names.join(', ')}.` : near;
  return configErrors.setting_unknown(shown, listed);
};

/** With the rest of the name, where that is a setting. */
const wholeName = (work: Work, meant: readonly string[], rest: readonly string[]): string => {
  const whole = [...meant, ...rest];
  const { depth, names } = knownBeside(work.claims, whole);
  const isKnown = rest.length > 0 && depth === whole.length - 1 && names.includes(whole[depth] ?? '');
  return (isKnown ? whole : meant).join('.');
};

const MAX_LISTED = 12;

/** The names at the first place where the path leaves what is known. */
const knownBeside = (claims: SectionClaims, target: readonly string[]): { depth: number; names: readonly string[] } => {
  let depth = 0;
  while (depth + 1 < target.length && schemasAt(claims, target.slice(0, depth + 1))) depth++;
  if (depth === 0) return { depth, names: [...Object.keys(claims).map(keyOf), ...Object.keys(aliasesOf(claims))] };
  return { depth, names: Object.keys(schemasAt(claims, target.slice(0, depth))?.at(-1)?.properties ?? {}) };
};

const refuseHeld = (work: Work, target: readonly string[], schema: JsonSchema | undefined): void => {
  const holder = heldByName(target, schema, work.env, undefined) ?? readEnvLayer(work.env, work.aliases).find(({ path }) => isPrefix(path, target) || isPrefix(target, path));
  if (holder) throw configErrors.env_holds(target.join('.'), holder.variable);
};

/** A table is changed member by member, so that what stands beside them stays as it is. */
const editsOf = (path: readonly string[], former: unknown, value: unknown): Edit[] => {
  if (isTable(value) && (former === undefined || isTable(former))) {
    const names = new Set([...Object.keys(former ?? {}), ...Object.keys(value)]);
    return [...names].flatMap((name) => editsOf([...path, name], former?.[name], Object.hasOwn(value, name) ? value[name] : undefined));
  }
  if (value === undefined && isTable(former)) return Object.entries(former).flatMap(([name, inner]) => editsOf([...path, name], inner, undefined));
  return value === undefined && former === undefined ? [] : isDeepStrictEqual(former, value) ? [] : [{ path, value }];
};

const refuseValue = (work: Work, { path, value }: Edit): void => {
  if (path.includes('__proto__')) throw configErrors.path_invalid(path.join('.'));
  const schemas = schemasAt(work.claims, path);
  const schema: JsonSchema | undefined = schemas?.at(-1);
  refuseByHand(path, whyByHand(path, schemas ?? []) ?? whyByHandInside(path, schema, value) ?? whyByHandInside(path, schema, at(work.tree, path)));
  const text = JSON.stringify(value) ?? '';
  // What the log would hide is known as a secret of somebody.
  if (work.scrub(text) !== text) throw configErrors.value_secret(path.join('.'));
};

/** Refuses a text that brings a problem which the present one does not have. */
const refuseWorse = async (work: Work, target: readonly string[], edited: string): Promise<void> => {
  const [before, after] = [await work.validate(work.text), await work.validate(edited)];
  const known = new Set(before.problems.map(named));
  const found = after.problems.filter((problem) => !known.has(named(problem)));
  // Of several the one that is about this setting.
  const first = found.find(({ key }) => isPrefix(target, key.split('.'))) ?? found.find(({ severity }) => severity !== 'notice');
  if (first) throw configErrors.value_invalid(first.message).with({ details: { path: target.join('.'), expected: first.expected } });
  const why = await work.refusesStart(edited);
  if (why !== undefined && (await work.refusesStart(work.text)) === undefined) throw configErrors.start_refused(why);
};

/** Apart from its line, which a change above it moves. */
const named = ({ key, message }: ConfigProblem): string => `${key}\n${message.replace(/^[^:\n]*:\d+: /, '')}`;

const at = (tree: unknown, path: readonly string[]): unknown => path.reduce<unknown>((inner, name) => (isTable(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), tree);

const isPrefix = (short: readonly string[], long: readonly string[]): boolean => short.every((part, index) => part === long[index]);
