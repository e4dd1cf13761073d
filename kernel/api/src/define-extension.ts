/** What an extension's `src/index.ts` exports. */
import type { Collection } from './resource/collection.js';
import type { AnyResource } from './resource/resource.js';
import { createTables } from './declare/table.js';
import type { ExtensionDefinition } from './extension.js';

export interface ExtensionSource extends ExtensionDefinition {
  /** Their tables, events, commands and views are the extension's. Where `migrations` is left out, one makes the tables. */
  readonly collections?: readonly Pick<Collection, 'table' | 'changed' | 'commands' | 'view'>[];
  /** Of sources that are no table: their commands and views are the extension's. */
  readonly resources?: readonly Pick<AnyResource, 'commands' | 'view'>[];
}

export const defineExtension = ({ collections = [], resources = [], ...definition }: ExtensionSource): ExtensionDefinition => {
  if (collections.length + resources.length === 0) return definition;
  const tables = collections.map(({ table }) => table);
  const all = [...collections, ...resources];
  return {
    ...(collections.length === 0 ? {} : { migrations: [createTables('0001_init', tables)] }),
    ...definition,
    contract: { ...definition.contract, ...Object.fromEntries(collections.map(({ changed }) => [changed.name, changed])) },
    ...(collections.length === 0 ? {} : { tables: [...(definition.tables ?? []), ...tables] }),
    views: [...(definition.views ?? []), ...all.map(({ view }) => view)],
    commands: [...(definition.commands ?? []), ...all.flatMap(({ commands }) => commands)],
  };
};
