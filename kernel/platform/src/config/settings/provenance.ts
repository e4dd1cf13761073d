/** Where the value of each setting comes from. */
import { isTable, lineOfPath, scanToml } from '@svc/api';
import type { SettingShown } from '@svc/api/internal';
import { type Aliases, aliasesOf } from '../claims.js';
import { readEnvLayer, withPath } from '../environment/env-layer.js';
import { heldByName } from '../environment/named-variables.js';
import type { Evaluation } from '../evaluate.js';
import type { SectionClaims } from '../kernel-sections.js';
import { loadToml } from '../file/toml-parse.js';
import { shownValue, whyByHand, whyByHandInside } from './secrecy.js';
import { type SettingPlace, schemaOfPlace, settingsIn } from './setting-tree.js';

export interface ProvenanceInput {
  readonly claims: SectionClaims;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text that was validated; null where there was none, or none that could be read. */
  readonly text: string | null;
  readonly evaluation: Pick<Evaluation, 'fromEnv' | 'kept'>;
  /** By the name of a claim. */
  readonly settingOf: (claim: string) => unknown;
  readonly scrub: (text: string) => string;
}

export const shownSettings = async (input: ProvenanceInput): Promise<SettingShown[]> => {
  const { claims, scrub, settingOf } = input;
  const sourceOf = await sources(input);
  return settingsIn(claims, settingOf).map((place) => {
    const schema = schemaOfPlace(place);
    const named = heldByName(place.path, schema, input.env, place.value);
    const byHand = whyByHand(place.path, place.schemas) ?? whyByHandInside(place.path, schema, place.value);
    return {
      path: place.path.join('.'),
      keys: place.path,
      value: shownValue(place.path, place.schemas, named ? named.value : place.value, scrub),
      ...(named ? { source: 'environment' as const, variable: named.variable, line: null } : sourceOf(place)),
      by_hand: byHand ?? null,
      restart: place.schemas.some((part) => part['x-restart'] === true),
      owner: place.owner,
    };
  });
};

/** As one tree. Older spellings of the top level say the same beside it. */
export const shownTree = (settings: readonly SettingShown[], claims: SectionClaims): Record<string, unknown> => {
  const aliases = aliasesOf(claims);
  const byPath = new Map(settings.map((setting) => [setting.path, setting.value]));
  const tree = settings.reduce<unknown>((all, { keys, value }) => withPath(all, keys, value), {});
  const older = Object.entries(aliases).map(([name, target]) => [name, byPath.get(target.join('.'))] as const);
  return { ...(isTable(tree) ? tree : {}), ...Object.fromEntries(older) };
};

type Source = Pick<SettingShown, 'source' | 'variable' | 'line'>;

const sources = async ({ claims, env, text, evaluation }: ProvenanceInput): Promise<(place: SettingPlace) => Source> => {
  const aliases = aliasesOf(claims);
  const variables = readEnvLayer(env, aliases);
  const tree = await treeOf(text);
  const lines = tree === undefined ? [] : scanToml(text ?? '');
  return ({ path, claim }) => {
    const held = evaluation.fromEnv.has(claim) ? variables.find((one) => startsWith(path, one.path)) : undefined;
    if (held) return { source: 'environment', variable: held.variable, line: null };
    const spelt = tree && spellingIn(tree, aliases, path);
    const line = spelt === undefined ? null : lineOfPath(lines, spelt);
    if (evaluation.kept.has(claim)) return { source: 'kept', variable: null, line };
    return spelt === undefined ? { source: 'default', variable: null, line: null } : { source: 'file', variable: null, line };
  };
};

const treeOf = async (text: string | null): Promise<Record<string, unknown> | undefined> => {
  if (text === null) return undefined;
  const parse = await loadToml();
  try {
    return parse(text);
  } catch {
    return undefined; // what stands in it is not known; the problem of the load says so
  }
};

/** The path under which the file says it, which may be an older name; undefined where it does not. */
const spellingIn = (tree: Record<string, unknown>, aliases: Aliases, path: readonly string[]): readonly string[] | undefined => {
  if (has(tree, path)) return path;
  const alias = Object.keys(aliases).find((name) => aliases[name]?.join('.') === path.join('.'));
  return alias !== undefined && has(tree, [alias]) ? [alias] : undefined;
};

const has = (tree: unknown, [head, ...rest]: readonly string[]): boolean => {
  if (head === undefined) return true;
  return isTable(tree) && Object.hasOwn(tree, head) && has(tree[head], rest);
};

const startsWith = (path: readonly string[], prefix: readonly string[]): boolean => prefix.every((name, index) => name === path[index]);
