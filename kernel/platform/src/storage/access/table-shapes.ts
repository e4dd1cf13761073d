/** What is known of tables from the migrations that make them: enough to page by their key and to filter by owner. */
import type { MigrationStep } from '../contract/migrations/migration-builder.js';
import type { TableNames } from '../contract/table-names.js';

export interface TableShape {
  readonly columns: ReadonlySet<string>;
  readonly notNull: ReadonlySet<string>;
  readonly key: readonly string[];
  /** The column that holds words, where there is one. */
  readonly words?: string | undefined;
}

export interface TableShapes {
  learn(names: TableNames, migrations: readonly (readonly MigrationStep[])[]): void;
  /** Undefined for a table whose migrations were not seen in this life. */
  of(physical: string): TableShape | undefined;
}

interface Draft {
  readonly columns: Set<string>;
  readonly notNull: Set<string>;
  readonly key: string[];
  readonly words?: string | undefined;
}

export const createTableShapes = (): TableShapes => {
  const shapes = new Map<string, TableShape>();
  return {
    learn(names, migrations) {
      const drafts = new Map<string, Draft>();
      for (const step of migrations.flat()) note(drafts, names, step);
      for (const [name, draft] of drafts) shapes.set(name, draft);
    },
    of: (physical) => shapes.get(physical),
  };
};

const note = (drafts: Map<string, Draft>, names: TableNames, step: MigrationStep): void => {
  if (step.op === 'createTable') {
    const specs = Object.entries(step.columns);
    const key = step.primaryKey.length > 0 ? [...step.primaryKey] : specs.filter(([, spec]) => spec.primaryKey).map(([name]) => name);
    const notNull = specs.filter(([name, spec]) => spec.notNull || key.includes(name)).map(([name]) => name);
    drafts.set(names.physical(step.table), { columns: new Set(Object.keys(step.columns)), notNull: new Set(notNull), key, words: specs.find(([, spec]) => spec.kind === 'words')?.[0] });
  }
  if (step.op !== 'addColumn') return;
  const draft = drafts.get(names.physical(step.table));
  draft?.columns.add(step.name);
  if (step.spec.notNull) draft?.notNull.add(step.name);
};
