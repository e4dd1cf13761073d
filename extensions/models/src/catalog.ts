/** The shipped catalog, read when somebody first asks and indexed once. */
import type { CatalogModel } from './contract.js';

export interface Catalog {
  readonly models: readonly CatalogModel[];
  /** Lower-case name to model id. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Lower-case id or wire id to the models that carry it: several providers may serve one model. */
  readonly byId: ReadonlyMap<string, readonly CatalogModel[]>;
  readonly byDisplayName: ReadonlyMap<string, readonly CatalogModel[]>;
}

/** Not at import and not at activation: 215 models are parsed only for the first question about them. */
export const loadCatalog = async (): Promise<Catalog> => {
  const file = await import('./catalog.json', { with: { type: 'json' } });
  // JSON has no types: extensions/models/test proves every row against the contract.
  const { models, aliases } = file.default as unknown as { models: CatalogModel[]; aliases: Record<string, string> };
  const byId = new Map<string, CatalogModel[]>();
  const byDisplayName = new Map<string, CatalogModel[]>();
  for (const model of models) {
    addTo(byId, model.id, model);
    if (model.wire_id !== undefined) addTo(byId, model.wire_id, model);
    addTo(byDisplayName, model.display_name, model);
  }
  return { models, aliases: new Map(Object.entries(aliases)), byId, byDisplayName };
};

const addTo = (index: Map<string, CatalogModel[]>, name: string, model: CatalogModel): void => {
  const key = name.toLowerCase();
  const held = index.get(key);
  if (held) held.push(model);
  else index.set(key, [model]);
};
