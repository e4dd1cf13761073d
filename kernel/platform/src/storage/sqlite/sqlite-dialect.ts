/** SQL text for SQLite. */
import type { SchemaDialect } from '../contract/migrations/migration-sql.js';
import { checkIdentifier, type Dialect, numberText, storableNumber } from '../contract/dialect.js';

/** Where counts that are only known afterwards are put, on the writer connection. */
export const CHANGES_TABLE = 'temp.svc_changes';

/** Marks a guard's failure in SQLite's message; the number of the write follows. */
export const EXPECT_MARK = 'svc-expect-';

/** Text with a NUL cannot stand in a C string, so it travels as hex. */
export const literal = (value: unknown): string => {
  if (value === null) return 'NULL';
  if (typeof value === 'string') {
    if (value.includes('\0')) return `CAST(X'${Buffer.from(value).toString('hex')}' AS TEXT)`;
    return value.includes("'") ? `'${value.replaceAll("'", "''")}'` : `'${value}'`;
  }
  return numberText(storableNumber(value));
};

/** Backticks, because SQLite takes a double-quoted name that does not exist for a text. */
export const identifier = (name: string): string => `\`${checkIdentifier(name)}\``;

export const sqliteDialect: Dialect = {
  identifier,
  literal,
  stored: literal,
  isSame: (column, value) => `${column} IS ${value}`,
  counting: (unit, write) => `INSERT INTO ${CHANGES_TABLE} VALUES(${unit},${write},changes());`,
  guarding: (write, rows) => `SELECT json_extract('{}','${EXPECT_MARK}${write}') WHERE changes()<>${rows};`,
};

export const sqliteSchema: Omit<SchemaDialect, 'words'> = {
  knexClient: 'sqlite3',
  identifier,
  indexName: (name) => name,
  columnType: (name, kind) => {
    if (kind === 'json') return `text check (json_valid(${identifier(name)}))`;
    if (kind === 'words') return 'text';
    return kind === 'boolean' ? `integer check (${identifier(name)} in (0, 1))` : kind;
  },
};
