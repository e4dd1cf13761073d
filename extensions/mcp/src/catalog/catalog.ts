/**
 * Templates of MCP servers: those that come with svc, and TOML files in `mcp/catalog` of the home folder.
 *
 * C1  A file that cannot be read is named with the reason, and the others are there. One with the id of a built-in template takes its place.
 */
import { type Dir, isSvcError, isTable, OneOf, type Plain, type Schemas, Type } from '@svc/api';
import { Transport } from '../server-spec.js';
import builtin from './templates.json' with { type: 'json' };

const FOLDER = 'catalog';
const MAX_FILES = 500;
const MAX_FILE_BYTES = 262_144;

const CATEGORIES = ['devtools', 'productivity', 'communication', 'data', 'cloud', 'ai'] as const;
const Text = (max: number) => Type.String({ maxLength: max });
const Localized = Type.Object({ name: Type.Optional(Text(200)), description: Type.Optional(Text(2_000)), setup_instructions: Type.Optional(Text(20_000)) });

export const RequiredEnv = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }),
  label: Type.Optional(Text(200)),
  help: Type.Optional(Text(2_000)),
  is_secret: Type.Optional(Type.Boolean({ default: true })),
  get_url: Type.Optional(Type.String({ maxLength: 2_000, description: 'Where to get it' })),
});
export type RequiredEnv = Plain<typeof RequiredEnv>;

export const Template = Type.Object({
  id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$' }),
  name: Text(200),
  description: Type.Optional(Text(2_000)),
  category: Type.Optional(OneOf(CATEGORIES)),
  icon: Type.Optional(Text(100)),
  tags: Type.Optional(Type.Array(Text(60), { maxItems: 50 })),
  transport: Transport,
  required_env: Type.Optional(Type.Array(RequiredEnv, { maxItems: 50 })),
  oauth: Type.Optional(
    Type.Object({ provider: Type.Optional(Text(100)), scopes: Type.Optional(Type.Array(Text(300), { maxItems: 100 })), auth_url: Type.Optional(Text(2_000)), token_url: Type.Optional(Text(2_000)) }),
  ),
  health_check: Type.Optional(Type.Object({ interval_secs: Type.Optional(Type.Integer()), unhealthy_threshold: Type.Optional(Type.Integer()), setup_instructions: Type.Optional(Text(20_000)) })),
  setup_instructions: Type.Optional(Text(20_000)),
  i18n: Type.Optional(Type.Record(Type.String(), Localized)),
});
export type Template = Plain<typeof Template>;

export interface Catalog {
  list(): Promise<{ readonly templates: readonly Template[]; readonly faults: readonly string[] }>;
  find(id: string): Promise<Template | undefined>;
  /** Reads the files anew with the next question. */
  reload(): void;
}

export const createCatalog = ({ root, schemas }: { readonly root: Dir; readonly schemas: Pick<Schemas, 'check'> }): Catalog => {
  let loaded: ReturnType<Catalog['list']> | undefined;
  const list = (): ReturnType<Catalog['list']> => (loaded ??= load(root, schemas));
  return {
    list,
    find: async (id) => (await list()).templates.find((one) => one.id === id),
    reload: () => {
      loaded = undefined;
    },
  };
};

const load = async (root: Dir, schemas: Pick<Schemas, 'check'>): ReturnType<Catalog['list']> => {
  // Checked against `Template` by a test.
  const byId = new Map((builtin as unknown as readonly Template[]).map((one) => [one.id, one]));
  const faults: string[] = [];
  for (const path of await filesOf(root)) {
    const read = await readTemplate(root, path, schemas);
    if (typeof read === 'string') faults.push(`mcp/${path}: ${read}`);
    else byId.set(read.id, read);
  }
  return { templates: [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)), faults };
};

const filesOf = async (root: Dir): Promise<string[]> => {
  if (!(await root.stat(FOLDER))) return [];
  const found: string[] = [];
  for (const { name, kind } of await root.list(FOLDER, { limit: MAX_FILES })) {
    if (kind === 'file' && name.endsWith('.toml')) found.push(`${FOLDER}/${name}`);
    else if (kind === 'dir' && (await root.stat(`${FOLDER}/${name}/MCP.toml`))) found.push(`${FOLDER}/${name}/MCP.toml`);
  }
  return found;
};

const readTemplate = async (root: Dir, path: string, schemas: Pick<Schemas, 'check'>): Promise<Template | string> => {
  try {
    const { default: toml } = await import('@iarna/toml');
    const raw: unknown = toml.parse(await root.readText(path, { maxBytes: MAX_FILE_BYTES }));
    const checked = await schemas.check(Template, isTable(raw) ? raw : {}, 'template');
    if (!checked.ok) return checked.message;
    const template = checked.value as Template;
    // Files of the public registry have it below [health_check], where TOML puts what follows that line.
    const nested = template.health_check?.setup_instructions;
    return nested !== undefined && template.setup_instructions === undefined ? { ...template, setup_instructions: nested } : template;
  } catch (error) {
    return isSvcError(error) || error instanceof Error ? (error.message.split('\n')[0] ?? 'it cannot be read') : 'it cannot be read';
  }
};

/** In the first language of the header that the template has. */
export const inLanguage = (template: Template, header: string | undefined): Template => {
  const wanted = (header ?? '').split(',').map((part) => part.split(';')[0]?.trim().toLowerCase() ?? '');
  for (const language of wanted) {
    const texts = Object.entries(template.i18n ?? {}).find(([key]) => key.toLowerCase() === language || key.toLowerCase().split('-')[0] === language.split('-')[0])?.[1];
    if (texts) return { ...template, ...texts };
    if (language.startsWith('en')) break;
  }
  return template;
};
