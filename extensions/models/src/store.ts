/** The rows that people and local servers add to the catalog. They belong to the installation; who may change them is the routes' permission. */
import type { Db, Write } from '@svc/api';
import type { CatalogModel, ListedModel } from './contract.js';

/** Of each kind; routes refuse more. */
export const MAX_ALIASES = 1_000;
export const MAX_CUSTOM = 1_000;
/** As many as providers can have addresses of their own, and some. */
const MAX_LISTS = 600;

export interface LocalList {
  readonly provider: string;
  readonly models: readonly ListedModel[];
  readonly seenAt: string;
}

/** All of it at one moment. */
export interface ModelRows {
  readonly revision: number;
  /** Lower-case name to what it stands for. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly custom: readonly CatalogModel[];
  readonly lists: readonly LocalList[];
}

export interface ModelStore {
  revision(): Promise<number>;
  read(): Promise<ModelRows>;
  /** Goes with every change: the commit is a conflict where somebody else changed something after `revision`. */
  step(revision: number): Write[];
  addAlias(alias: string, modelId: string, at: string): Write;
  removeAlias(alias: string): Write;
  addCustom(model: CatalogModel, at: string): Write;
  removeCustom(model: CatalogModel): Write;
  keepList(list: LocalList): Write;
  removeList(provider: string): Write;
  commit(writes: readonly Write[]): Promise<void>;
}

const NAMES = 'names';

export const createModelStore = (db: Db): ModelStore => {
  const revision = async (): Promise<number> => {
    const row = await db.system('names of models').first<{ revision: number }>({ from: 'revisions', where: { name: NAMES } });
    if (!row) throw new Error('the revision of models is missing: its migration writes it');
    return row.revision;
  };
  return {
    revision,
    // The revision first: a change in between makes the next commit a conflict, never a silent loss.
    read: async () => {
      const before = await revision();
      const reader = db.system('names of models');
      const [aliases, custom, lists] = await Promise.all([
        reader.select<{ alias: string; model_id: string }>({ from: 'aliases', columns: ['alias', 'model_id'], order: [{ column: 'alias' }], limit: MAX_ALIASES }),
        reader.select<{ model: string }>({ from: 'custom_models', columns: ['model'], order: [{ column: 'created_at' }, { column: 'id_key' }], limit: MAX_CUSTOM }),
        reader.select<{ provider: string; models: string; seen_at: string }>({ from: 'local_lists', order: [{ column: 'provider' }], limit: MAX_LISTS }),
      ]);
      return {
        revision: before,
        aliases: new Map(aliases.map((row) => [row.alias, row.model_id])),
        // Written by this file alone, from values that were validated.
        custom: custom.map((row) => JSON.parse(row.model) as CatalogModel),
        lists: lists.map((row) => ({ provider: row.provider, models: JSON.parse(row.models) as ListedModel[], seenAt: row.seen_at })),
      };
    },
    step: (current) => [db.remove('revisions', { name: NAMES, revision: current }, { expect: 1 }), db.insert('revisions', [{ name: NAMES, revision: current + 1 }])],
    addAlias: (alias, modelId, at) => db.insert('aliases', [{ alias, model_id: modelId, created_at: at }]),
    removeAlias: (alias) => db.remove('aliases', { alias }, { expect: 1 }),
    addCustom: (model, at) => db.insert('custom_models', [{ provider: model.provider, id_key: model.id.toLowerCase(), model: JSON.stringify(model), created_at: at }]),
    removeCustom: (model) => db.remove('custom_models', { provider: model.provider, id_key: model.id.toLowerCase() }, { expect: 1 }),
    keepList: ({ provider, models, seenAt }) => db.upsert('local_lists', ['provider'], [{ provider, models: JSON.stringify(models), seen_at: seenAt }]),
    removeList: (provider) => db.remove('local_lists', { provider }),
    commit: async (writes) => void (await db.commit(writes)),
  };
};
