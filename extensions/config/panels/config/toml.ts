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

/** Both texts, table by table; only what changes stands in them. */
export const fragments = (lines: readonly Line[]): { before: string; after: string } => {
  const tables = new Map<string, Line[]>();
  for (const line of lines) {
    const table = line.path.includes('.') ? line.path.slice(0, line.path.lastIndexOf('.')) : '';
    tables.set(table, [...(tables.get(table) ?? []), line]);
  }
  const side = (which: 'before' | 'after'): string =>
    [...tables]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([table, rows]) => {
        const said = rows.flatMap((row) => (row[which] === undefined || row[which] === null ? [] : [`${keyText(row.path.slice(row.path.lastIndexOf('.') + 1))} = ${tomlValue(row[which])}`]));
        return [...(table === '' ? [] : [`[${table}]`]), ...said, ''].join('\n');
      })
      .join('\n');
  return { before: side('before'), after: side('after') };
};
