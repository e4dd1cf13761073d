/**
 * What people and local servers add to the names of models.
 *
 * C7  Every change is validated against what stands when it is committed: of two that exclude each other, made at once, the
 *     second is validated anew. So no two requests make a ring, or one name of two things.
 */
import { type Clock, type Events, isSvcError, textForm, type Write } from '@svc/api';
import { type CatalogModel, type ListedModel, ModelsChanged } from './contract.js';
import { modelErrors } from './errors.js';
import { buildNames, type Names } from './names.js';
import type { ModelsControl } from './service.js';
import { MAX_ALIASES, MAX_CUSTOM, type ModelStore } from './store.js';

/** No colon: what stands behind one is a tag of the server's, and stays on its way there. */
export const ALIAS = textForm('^[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}$');
/** What a provider may call a model: it stands in paths, prompts and logs. */
export const MODEL_ID = textForm('^[^\\s\\p{C}]{1,200}$');
const MAX_TRIES = 20;
/** Models of one server; the first ones are kept. */
const MAX_LISTED = 500;

export interface ChangesDeps {
  readonly models: ModelsControl;
  readonly store: ModelStore;
  readonly events: Events;
  readonly clock: Pick<Clock, 'iso'>;
}

/** Writes that join the commit of a change. */
export type Beside = () => readonly Write[];

export interface Changes {
  addAlias(alias: string, modelId: string, beside: Beside): Promise<void>;
  /** Resolves with the aliases that led through it. */
  removeAlias(alias: string): Promise<string[]>;
  addCustom(model: CatalogModel, beside: Beside): Promise<void>;
  removeCustom(id: string, provider: string | undefined): Promise<CatalogModel>;
  keepList(provider: string, listed: readonly ListedModel[]): Promise<void>;
  forgetList(provider: string): Promise<void>;
}

export const createChanges = (deps: ChangesDeps): Changes => ({
  addAlias: (given, modelId, beside) => {
    const alias = wellFormedAlias(given);
    const target = wellFormedTarget(modelId);
    return change(deps, (names) => {
      validateAlias(names, alias, target);
      return [deps.store.addAlias(alias, target, deps.clock.iso()), changeEvent(deps, 'alias', alias), ...beside()];
    });
  },
  removeAlias: async (given) => {
    const alias = given.toLowerCase();
    let through: string[] = [];
    await change(deps, ({ rows, aliases }) => {
      if (!rows.aliases.has(alias)) throw aliases.has(alias) ? modelErrors.alias_shipped(alias) : modelErrors.alias_not_found(given);
      through = [...rows.aliases].filter(([, target]) => target.toLowerCase() === alias).map(([name]) => name);
      return [deps.store.removeAlias(alias), changeEvent(deps, 'alias', alias)];
    });
    return through;
  },
  addCustom: (model, beside) =>
    change(deps, ({ rows }) => {
      const key = model.id.toLowerCase();
      if (rows.custom.some(({ id, provider }) => id.toLowerCase() === key && provider === model.provider)) throw modelErrors.custom_exists(model.id, model.provider);
      const target = rows.aliases.get(key);
      if (target !== undefined) throw modelErrors.custom_is_alias(model.id, target);
      if (rows.custom.length >= MAX_CUSTOM) throw modelErrors.too_many('custom models', MAX_CUSTOM);
      return [deps.store.addCustom(model, deps.clock.iso()), changeEvent(deps, 'custom', model.id), ...beside()];
    }),
  removeCustom: async (id, provider) => {
    let removed: CatalogModel | undefined;
    await change(deps, ({ rows }) => {
      const found = rows.custom.filter((model) => model.id.toLowerCase() === id.toLowerCase() && (provider === undefined || model.provider === provider));
      const [first, second] = found;
      if (!first) throw modelErrors.custom_not_found(id);
      if (second) throw modelErrors.custom_ambiguous(id, found.map((model) => model.provider).sort());
      removed = first;
      return [deps.store.removeCustom(first), changeEvent(deps, 'custom', first.id)];
    });
    if (!removed) throw modelErrors.custom_not_found(id);
    return removed;
  },
  keepList: (provider, listed) => {
    const models = listed.filter(({ id }) => MODEL_ID.fits(id)).slice(0, MAX_LISTED);
    const text = textOf(models);
    return change(deps, ({ rows }) => {
      const standing = rows.lists.find((list) => list.provider === provider);
      // The same list again is no change, so that looking costs no commit.
      if (standing && textOf(standing.models) === text) return [];
      return [deps.store.keepList({ provider, models, seenAt: deps.clock.iso() }), changeEvent(deps, 'local', provider)];
    });
  },
  forgetList: (provider) => change(deps, ({ rows }) => (rows.lists.some((list) => list.provider === provider) ? [deps.store.removeList(provider), changeEvent(deps, 'local', provider)] : [])),
});

/** A database may keep the fields of JSON in another order. */
const textOf = (models: readonly ListedModel[]): string => JSON.stringify(models.map(({ id, size_bytes, context_window, is_paid = false }) => [id, size_bytes, context_window, is_paid]));

const changeEvent = ({ events }: ChangesDeps, what: 'alias' | 'custom' | 'local', name: string): Write => events.event(ModelsChanged, { what, name });

/** Validates and commits, again while others are quicker. No writes: nothing to change. */
const change = async ({ models, store }: ChangesDeps, validated: (names: Names) => readonly Write[]): Promise<void> => {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const { catalog } = await models.names();
    const rows = await store.read();
    const writes = validated(buildNames(catalog, rows));
    if (writes.length === 0) return;
    try {
      await store.commit([...store.step(rows.revision), ...writes]);
      models.refresh();
      return;
    } catch (error) {
      if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
    }
  }
  throw modelErrors.busy();
};

/** Without spaces around it, in lower case. Throws `models_bad_alias`. */
export const wellFormedAlias = (given: string): string => {
  const alias = given.trim();
  if (alias === '') throw modelErrors.bad_alias('it is empty');
  if (!ALIAS.fits(alias)) throw modelErrors.bad_alias('it contains characters that are not allowed in an alias, or is too long');
  if (isWordOfChoice(alias)) throw modelErrors.bad_alias(`"${alias}" leaves the choice to the daemon`);
  return alias.toLowerCase();
};

const wellFormedTarget = (given: string): string => {
  const target = given.trim();
  if (target === '') throw modelErrors.bad_target('`model_id` is empty');
  if (!MODEL_ID.fits(target)) throw modelErrors.bad_target('`model_id` contains spaces or control characters, or is longer than 200 characters');
  return target;
};

/** The words by which an agent leaves its model to the daemon. */
export const isWordOfChoice = (name: string): boolean => ['default', 'auto'].includes(name.toLowerCase());

const validateAlias = (names: Names, alias: string, target: string): void => {
  const { rows, catalog } = names;
  const standing = rows.aliases.get(alias);
  if (standing !== undefined) throw modelErrors.alias_exists(alias, standing);
  if (names.isModel(alias)) throw modelErrors.alias_shadows(alias, names.find(alias)?.provider ?? 'the catalog');
  const way = wayOf(names, alias, target);
  if (way.length > 1 && way.at(-1) === alias) throw modelErrors.alias_ring(way);
  if (rows.aliases.size >= MAX_ALIASES) throw modelErrors.too_many('aliases', MAX_ALIASES);
  // An alias of the catalog may lead to this name, and back through this one.
  const after = buildNames(catalog, { ...rows, aliases: new Map([...rows.aliases, [alias, target]]) });
  if (after.end(alias) === undefined) throw modelErrors.alias_ring([alias, target, '…', alias]);
};

/** From the alias to where it comes back to itself, or ends. */
const wayOf = ({ aliases, isModel }: Names, alias: string, target: string): string[] => {
  const way = [alias];
  for (let next: string | undefined = target.toLowerCase(); next !== undefined && way.length <= MAX_ALIASES; next = isModel(next) ? undefined : aliases.get(next)?.toLowerCase()) {
    way.push(next);
    if (next === alias) break;
  }
  return way;
};
