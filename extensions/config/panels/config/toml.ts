/** Settings as lines of config.toml, to show what changes in it. */
import type { Setting } from './schema.js';

export const tomlValue = (value: unknown): string => {
  if (Array.isArray(value)) return value.length > 1 ? `[\n${value.map((one) => `  ${tomlValue(one)},`).join('\n')}\n]` : `[${value.map(tomlValue).join('')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([name, inner]) => `${keyText(name)} = ${tomlValue(inner)}`)
      .join(', ')} }`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
};

const keyText = (name: string): string => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name));

export interface Line {
  readonly path: string;
  /** Of the file; undefined where it says nothing. */
  readonly before: unknown;
  readonly after: unknown;
}

/** What the file says of a setting now, as far as it is known here. */
export const inFile = (setting: Setting | undefined): unknown => (setting && (setting.source === 'file' || setting.source === 'kept') ? setting.value : undefined);

/** Whether the file has this table already, for another of its settings. */
export const tablesInFile = (settings: readonly Setting[]): ReadonlySet<string> => new Set(settings.filter((one) => inFile(one) !== undefined).map(({ path }) => tableOf(path)));

const tableOf = (path: string): string => (path.includes('.') ? path.slice(0, path.lastIndexOf('.')) : '');

/** Both texts, table by table; only what changes stands in them, under the head of its table where the file has that. */
export const fragments = (lines: readonly Line[], known: ReadonlySet<string>): { before: string; after: string } => {
  const tables = new Map<string, Line[]>();
  for (const line of lines) {
    const table = tableOf(line.path);
    tables.set(table, [...(tables.get(table) ?? []), line]);
  }
  const side = (which: 'before' | 'after'): string =>
    [...tables]
      .sort(([a], [b]) => a.localeCompare(b))
      .flatMap(([table, rows]) => {
        const said = rows.flatMap((row) => (row[which] === undefined || row[which] === null ? [] : [`${keyText(row.path.slice(row.path.lastIndexOf('.') + 1))} = ${tomlValue(row[which])}`]));
        if (said.length === 0 && !known.has(table)) return [];
        return [[...(table === '' ? [] : [`[${table}]`]), ...said, ''].join('\n')];
      })
      .join('\n');
  return { before: side('before'), after: side('after') };
};
