/** The catalog as a file: the shipped one, read when somebody first asks. */
import type { CatalogModel } from './contract.js';

export interface Catalog {
  /** `2026.11.22`: the day it was made, and a number where there were several. */
  readonly version: string;
  /** ISO: when it was made. */
  readonly updated: string;
  readonly models: readonly CatalogModel[];
  /** Lower-case name to model id, or to another alias. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Not at import and not at activation: 215 models are parsed only for the first question about them. */
export const loadCatalog = async (): Promise<Catalog> => {
  const file = await import('./catalog.json', { with: { type: 'json' } });
  // JSON has no types: extensions/models/test proves every row against the contract.
  const { version, updated, models, aliases } = file.default as unknown as Omit<Catalog, 'aliases'> & { aliases: Record<string, string> };
  return { version, updated, models, aliases: new Map(Object.entries(aliases)) };
};

export const VERSION_PATTERN = '^[0-9]{4}\\.[0-9]{1,2}\\.[0-9]{1,2}(\\.[0-9]{1,4})?$';

/** Negative where `a` is the older one. */
export const compareVersions = (a: string, b: string): number => {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number));
  for (let at = 0; at < 4; at++) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};
