/** kernel/cli/reference/settings.md, from what a daemon says of its own config.toml. */
import { schemaAt } from '@svc/api';
import type { TestHttp } from '@svc/testing';
import { table } from './markdown.js';
import { defaultOf, type KeySchema, typeOf } from './schema-words.js';

interface Setting {
  readonly path: string;
  readonly by_hand: string | null;
  readonly restart: boolean;
  readonly owner: string;
}

interface Row {
  /** The table that the key stands in, as the file writes it: `[web.fetch]`, `[[users]]`; empty at the top. */
  readonly heading: string;
  readonly key: string;
  readonly schema: KeySchema;
  readonly marks: readonly string[];
}

const HEAD = ['key', 'type', 'default', 'notes', 'what it does'];

export const settingsReference = async (http: TestHttp): Promise<string> => {
  const schema = (await http.get('/api/config/schema')).body as KeySchema;
  const { settings } = (await http.get('/api/config/settings')).body as { settings: readonly Setting[] };
  const rows = settings.flatMap((setting) => rowsOf(setting, schemaAt(schema, setting.path.split('.')) ?? {}));
  const headings = [...new Set(rows.map(({ heading }) => heading))].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  return headings.map((heading) => sectionText(heading, rows)).join('\n\n');
};

const nameOf = (heading: string): string => heading.replaceAll(/[[\]]/g, '');

const sectionText = (heading: string, rows: readonly Row[]): string => {
  const own = rows.filter((row) => row.heading === heading);
  const title = heading === '' ? 'Top level\nBefore the first table of the file.' : heading;
  return `## ${title}\n\n${table(
    HEAD,
    own.map((row) => [`\`${row.key}\``, typeOf(row.schema), defaultOf(row.schema), row.marks.join(', '), meaningOf(row)]),
  )}`;
};

const meaningOf = ({ schema }: Row): string => {
  const aliases = schema['x-alias'];
  const also = aliases ? `Also \`${aliases.join('`, `')}\` at the top level` : '';
  const variable = schema['x-env'];
  const from = variable ? `\`${variable}\` in the environment overrides it` : '';
  return [schema.description ?? '', also, from].filter((text) => text !== '').join('. ');
};

/** A list of tables and a table with free names have keys of their own; every other setting is one row. */
const rowsOf = ({ path, by_hand, restart }: Setting, schema: KeySchema): Row[] => {
  const marks = [...(restart ? ['restart'] : []), ...(by_hand === null ? [] : ['by hand'])];
  const items = schema.items;
  if (items?.properties) return Object.entries(items.properties).map(([key, part]) => ({ heading: `[[${path}]]`, key, schema: part, marks }));
  const free = Object.values(schema.patternProperties ?? {})[0];
  if (free) return [{ heading: `[${path}]`, key: '<name>', schema: { ...free, description: schema.description ?? '' }, marks }];
  const at = path.lastIndexOf('.');
  return [{ heading: at < 0 ? '' : `[${path.slice(0, at)}]`, key: path.slice(at + 1), schema, marks }];
};
