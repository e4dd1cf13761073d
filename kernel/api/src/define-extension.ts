/** What an extension's `src/index.ts` exports. */
import type { Collection } from './collection/collection.js';
import { createTables } from './declare/table.js';
import type { ExtensionDefinition } from './extension.js';

export interface ExtensionSource extends ExtensionDefinition {
  /** Their tables, events, commands and views are the extension's. Where `migrations` is left out, one makes the tables. */
  readonly collections?: readonly Pick<Collection, 'table' | 'changed' | 'commands' | 'view'>[];
}

export const defineExtension = ({ collections = [], ...definition }: ExtensionSource): ExtensionDefinition => {
  if (collections.length === 0) return definition;
  const tables = collections.map(({ table }) => table);
  return {
    migrations: [createTables('0001_init', tables)],
    ...definition,
    contract: { ...definition.contract, ...Object.fromEntries(collections.map(({ changed }) => [changed.name, changed])) },
    tables: [...(definition.tables ?? []), ...tables],
    views: [...(definition.views ?? []), ...collections.map(({ view }) => view)],
    commands: [...(definition.commands ?? []), ...collections.flatMap(({ commands }) => commands)],
  };
};
