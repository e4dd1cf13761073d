/** Holds the declared tables of an extension to its manifest and to what its migrations make. */
import type { ExtensionDefinition, MigrationBuilder, TableDecl } from '@svc/api';
import type { Manifest } from '@svc/api/internal';

/** Throws where extension.json, the declarations and the migrations do not say the same. */
export const checkTables = ({ tables = [], migrations = [] }: ExtensionDefinition, manifest: Manifest): void => {
  const names = tables.map(({ name }) => name);
  const doubled = names.find((name, index) => names.indexOf(name) !== index);
  if (doubled !== undefined) throw new Error(`declares the table ${doubled} twice`);
  const bare = (manifest.tables ?? []).find((name) => !names.includes(name));
  if (bare !== undefined) throw new Error(`extension.json names the table "${bare}", which the code does not declare: list its defineTable under "tables" of defineExtension`);
  const unclaimed = names.find((name) => !(manifest.tables ?? []).includes(name));
  if (unclaimed !== undefined) throw new Error(`the code declares the table "${unclaimed}", which extension.json does not name under "tables"`);
  const made = columnsMade(migrations);
  for (const table of tables) {
    checkColumns(table, made.get(table.name) ?? new Set());
    checkBelonging(table, names);
  }
};

const columnsMade = (migrations: NonNullable<ExtensionDefinition['migrations']>): Map<string, Set<string>> => {
  const made = new Map<string, Set<string>>();
  const builder: MigrationBuilder = {
    createTable: (table, columns) => void made.set(table, new Set(Object.keys(columns))),
    addColumn: (table, name) => void made.get(table)?.add(name),
    createIndex: () => undefined,
    dropIndex: () => undefined,
    sql: () => undefined,
  };
  for (const migration of migrations.toSorted((a, b) => (a.name < b.name ? -1 : 1))) migration.up(builder);
  return made;
};

const checkColumns = (table: TableDecl, made: ReadonlySet<string>): void => {
  const unmade = Object.keys(table.columns).find((column) => !made.has(column));
  if (unmade !== undefined) throw new Error(`declares ${table.name}.${unmade}, which no migration makes`);
  const undeclared = [...made].find((column) => !(column in table.columns));
  if (undeclared !== undefined) throw new Error(`a migration makes ${table.name}.${undeclared}, which the declaration of the table does not name`);
};

const checkBelonging = ({ name, columns, owner, agent, session, through }: TableDecl, names: readonly string[]): void => {
  const missing = [owner, agent, session, through?.column].find((column) => column !== undefined && !(column in columns));
  if (missing !== undefined) throw new Error(`the table ${name} names as owner a column "${missing}" that it does not have`);
  if (through && !names.includes(through.table)) throw new Error(`the table ${name} belongs to rows of ${through.table}, which is not a declared table of this extension`);
};
