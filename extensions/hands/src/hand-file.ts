/**
 * HAND.toml: what a hand is, as its author wrote it.
 *
 * H1  Keys stand at the top or under [hand]. A list may be one text. Keys that svc does not know are named, not refused.
 * H2  A hand has one coordinator: the role that says so, else `main`, else the first one.
 * H3  Nothing of the file is run or filled in when it is read.
 */
import { isTable, OneOf, type Plain, type Schemas, type TSchema, Type } from '@svc/api';
import { handErrors } from './errors.js';

export const MAX_FILE_BYTES = 262_144;
export const HAND_ID = '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$';
const ROLE = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';
/** They are addresses below /api/hands. */
const RESERVED: ReadonlySet<string> = new Set(['active', 'install', 'instances', 'marketplace', 'reload']);
export const CATEGORIES = ['content', 'security', 'productivity', 'development', 'communication', 'data', 'finance', 'other'] as const;
const FREQUENCIES = ['continuous', 'periodic', 'on-demand', 'daily', 'hourly', 'reactive'] as const;

const Text = (max: number) => Type.String({ maxLength: max });
const Texts = Type.Optional(Type.Array(Text(200), { maxItems: 200 }));

const Install = Type.Object({
  macos: Type.Optional(Text(500)),
  windows: Type.Optional(Text(500)),
  linux_apt: Type.Optional(Text(500)),
  linux_dnf: Type.Optional(Text(500)),
  linux_pacman: Type.Optional(Text(500)),
  pip: Type.Optional(Text(500)),
  signup_url: Type.Optional(Text(2_000)),
  docs_url: Type.Optional(Text(2_000)),
  env_example: Type.Optional(Text(500)),
  manual_url: Type.Optional(Text(2_000)),
  estimated_time: Type.Optional(Text(100)),
  steps: Type.Optional(Type.Array(Text(1_000), { maxItems: 50 })),
});
export type InstallHints = Plain<typeof Install>;

export const Requirement = Type.Object({
  key: Text(128),
  label: Text(200),
  requirement_type: OneOf(['binary', 'env_var', 'api_key', 'any_env_var']),
  check_value: Type.String({ minLength: 1, maxLength: 1_000 }),
  description: Type.Optional(Text(2_000)),
  optional: Type.Optional(Type.Boolean()),
  install: Type.Optional(Install),
});
export type Requirement = Plain<typeof Requirement>;

const Option = Type.Object({ value: Text(500), label: Type.Optional(Text(500)), provider_env: Type.Optional(Text(128)), binary: Type.Optional(Text(128)) });

export const Setting = Type.Object({
  key: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$' }),
  label: Type.Optional(Text(200)),
  description: Type.Optional(Text(2_000)),
  setting_type: OneOf(['select', 'text', 'toggle', 'number']),
  default: Type.Optional(Type.Union([Text(5_000), Type.Number(), Type.Boolean()])),
  env_var: Type.Optional(Text(128)),
  options: Type.Optional(Type.Array(Option, { maxItems: 200 })),
});
export type Setting = Plain<typeof Setting>;

export const Metric = Type.Object({
  label: Text(200),
  memory_key: Type.String({ minLength: 1, maxLength: 256 }),
  format: Type.Optional(OneOf(['number', 'duration', 'bytes', 'percentage', 'text', 'date'])),
});

const Metadata = Type.Object({
  frequency: Type.Optional(OneOf(FREQUENCIES)),
  token_consumption: Type.Optional(OneOf(['low', 'medium', 'high'])),
  default_active: Type.Optional(Type.Boolean()),
  activation_warning: Type.Optional(Text(2_000)),
});

const Head = Type.Object({
  id: Type.String({ pattern: HAND_ID }),
  version: Type.Optional(Text(64)),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.String({ minLength: 1, maxLength: 4_000 }),
  category: Type.Optional(Text(100)),
  icon: Type.Optional(Text(100)),
  tools: Texts,
  skills: Texts,
  mcp_servers: Texts,
  allowed_plugins: Texts,
  tags: Texts,
  requires: Type.Optional(Type.Array(Requirement, { maxItems: 50 })),
  settings: Type.Optional(Type.Array(Setting, { maxItems: 100 })),
  dashboard: Type.Optional(Type.Object({ metrics: Type.Optional(Type.Array(Metric, { maxItems: 50 })) })),
  routing: Type.Optional(Type.Object({ aliases: Texts, weak_aliases: Texts })),
  metadata: Type.Optional(Metadata),
  i18n: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))),
});

export interface Role {
  readonly role: string;
  readonly isCoordinator: boolean;
  readonly inviteHint: string;
  /** The template that it begins with. */
  readonly base: string | undefined;
  readonly name: string;
  readonly description: string;
  /** All other keys, as agent.toml has them. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly schedule: unknown;
}

export interface Hand extends Required<Omit<Plain<typeof Head>, 'dashboard' | 'routing' | 'metadata' | 'category'>> {
  readonly category: (typeof CATEGORIES)[number];
  readonly metrics: ReadonlyArray<Plain<typeof Metric>>;
  readonly routing: Plain<typeof Head>['routing'] | undefined;
  readonly metadata: Plain<typeof Metadata> | null;
  /** The coordinator first. */
  readonly roles: readonly Role[];
  /** Keys without effect here. */
  readonly unknown: readonly string[];
}

const HEAD_KEYS: ReadonlySet<string> = new Set([...Object.keys(Head.properties), 'agent', 'agents', 'hand']);
const LISTS = ['tools', 'skills', 'mcp_servers', 'allowed_plugins', 'tags'] as const;
const OWN_ROLE_KEYS: ReadonlySet<string> = new Set(['coordinator', 'invoke_hint', 'base', 'name', 'description', 'schedule', 'module']);
/** They stand beside the others in a hand, and in [model] of agent.toml. */
const MODEL_KEYS = ['provider', 'model', 'api_key_env', 'base_url', 'max_tokens', 'temperature', 'system_prompt'] as const;

type Table = Readonly<Record<string, unknown>>;

/** Throws `hands_bad_manifest`. */
export const readHand = async (schemas: Pick<Schemas, 'check'>, text: string): Promise<Hand> => {
  const raw = await parsed(text);
  const root: Table = { ...(isTable(raw.hand) ? raw.hand : {}), ...Object.fromEntries(Object.entries(raw).filter(([key]) => key !== 'hand')) };
  const head = (await checked(schemas, Head, { ...root, ...Object.fromEntries(LISTS.flatMap((key) => (typeof root[key] === 'string' ? [[key, [root[key]]]] : []))) })) as Plain<typeof Head>;
  if (RESERVED.has(head.id)) throw handErrors.bad_manifest(`the id "${head.id}" is an address of svc itself.`);
  const { dashboard, routing, metadata, category, ...rest } = head;
  refuseTwice(head);
  const empty = { version: '0.0.0', icon: '', tools: [], skills: [], mcp_servers: [], allowed_plugins: [], tags: [], requires: [], settings: [], i18n: {} };
  return {
    ...empty,
    ...rest,
    category: CATEGORIES.find((one) => one === category) ?? 'other',
    metrics: dashboard?.metrics ?? [],
    routing,
    metadata: metadata ?? null,
    roles: rolesOf(root, head),
    unknown: Object.keys(root).filter((key) => !HEAD_KEYS.has(key)),
  };
};

const parsed = async (text: string): Promise<Table> => {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw handErrors.bad_manifest(`it has more than ${MAX_FILE_BYTES} bytes.`);
  const { default: toml } = await import('@iarna/toml');
  try {
    const raw: unknown = toml.parse(text.replace(/^\uFEFF/, ''));
    return isTable(raw) ? raw : {};
  } catch (error) {
    throw handErrors.bad_manifest(`it is not valid TOML (${(error instanceof Error ? error.message : '').split('\n')[0]?.trim() ?? 'unreadable'}).`);
  }
};

const checked = async (schemas: Pick<Schemas, 'check'>, schema: TSchema, value: unknown): Promise<unknown> => {
  const answer = await schemas.check(schema, value, 'HAND.toml');
  if (!answer.ok) throw handErrors.bad_manifest(answer.message);
  return answer.value;
};

const refuseTwice = ({ settings = [], requires = [] }: Plain<typeof Head>): void => {
  for (const [what, keys] of [
    ['setting', settings.map(({ key }) => key)],
    ['requirement', requires.map(({ key }) => key)],
  ] as const) {
    const twice = keys.find((key, index) => keys.indexOf(key) !== index);
    if (twice !== undefined) throw handErrors.bad_manifest(`the ${what} "${twice}" is there twice.`);
  }
};

const rolesOf = (root: Table, head: Plain<typeof Head>): readonly Role[] => {
  const tables = isTable(root.agents) ? Object.entries(root.agents) : [];
  const single = isTable(root.agent) ? [['main', root.agent] as const] : [];
  if (tables.length > 0 && single.length > 0) throw handErrors.bad_manifest('it has both [agent] and [agents.…]: a hand of one agent has [agent], others [agents.ROLE].');
  const entries = tables.length > 0 ? tables : single;
  if (entries.length === 0) throw handErrors.bad_manifest('it has neither [agent] nor [agents.ROLE].');
  if (entries.length > 20) throw handErrors.bad_manifest('it has more than 20 roles.');
  const roles = entries.map(([role, table]) => roleOf(role, table, head));
  const named = roles.filter(({ isCoordinator }) => isCoordinator);
  if (named.length > 1) throw handErrors.bad_manifest(`it has ${named.length} coordinators (${named.map(({ role }) => role).join(', ')}): one role leads the others.`);
  const leader = named[0]?.role ?? roles.find(({ role }) => role === 'main')?.role ?? roles[0]?.role;
  return roles.map((one) => ({ ...one, isCoordinator: one.role === leader })).sort((a, b) => Number(b.isCoordinator) - Number(a.isCoordinator));
};

const roleOf = (role: string, table: unknown, head: Plain<typeof Head>): Role => {
  if (!new RegExp(ROLE).test(role)) throw handErrors.bad_manifest(`"${role.slice(0, 80)}" is no name of a role: letters, digits, - and _, at most 64.`);
  if (!isTable(table)) throw handErrors.bad_manifest(`agents.${role} must be a table.`);
  const said = (key: string): string => (typeof table[key] === 'string' ? table[key] : '');
  return {
    role,
    isCoordinator: table.coordinator === true,
    inviteHint: said('invoke_hint'),
    base: said('base') || undefined,
    name: said('name') || role,
    description: said('description') || head.description.slice(0, 500),
    manifest: manifestOf(table),
    schedule: table.schedule,
  };
};

/** Flat keys of the model go into its table; others stay where they are. */
const manifestOf = (table: Table): Table => {
  const given = isTable(table.model) ? table.model : {};
  const flat = Object.fromEntries(MODEL_KEYS.flatMap((key) => (table[key] === undefined || isTable(table[key]) ? [] : [[key, table[key]]])));
  const model = { ...flat, ...given };
  const iterations = typeof table.max_iterations === 'number' ? { max_iterations: table.max_iterations } : {};
  const autonomous = { ...(isTable(table.autonomous) ? table.autonomous : {}), ...iterations };
  const rest = Object.fromEntries(
    Object.entries(table).filter(([key]) => !OWN_ROLE_KEYS.has(key) && !(MODEL_KEYS as readonly string[]).includes(key) && key !== 'max_iterations' && key !== 'autonomous'),
  );
  return { ...rest, ...(Object.keys(model).length > 0 ? { model } : {}), ...(Object.keys(autonomous).length > 0 ? { autonomous } : {}) };
};

/** Name, description and category in the first language of the header that the hand has. */
export const inLanguage = (hand: Hand, header: string | undefined): Hand => {
  const wanted = (header ?? '').split(',').map((part) => part.split(';')[0]?.trim().toLowerCase() ?? '');
  for (const language of wanted) {
    if (language === '' || language.startsWith('en')) break;
    const found = Object.entries(hand.i18n).find(([key]) => key.toLowerCase() === language) ?? Object.entries(hand.i18n).find(([key]) => key.toLowerCase() === language.split('-')[0]);
    if (found) return translated(hand, found[1]);
  }
  return hand;
};

const translated = (hand: Hand, texts: Table): Hand => {
  const said = (table: unknown, key: string, usual: string): string => (isTable(table) && typeof table[key] === 'string' ? (table[key] as string) : usual);
  const settings = isTable(texts.settings) ? texts.settings : {};
  const agents = isTable(texts.agents) ? texts.agents : {};
  return {
    ...hand,
    name: said(texts, 'name', hand.name),
    description: said(texts, 'description', hand.description),
    settings: hand.settings.map((one) => ({ ...one, label: said(settings[one.key], 'label', one.label ?? one.key), description: said(settings[one.key], 'description', one.description ?? '') })),
    roles: hand.roles.map((one) => ({ ...one, name: said(agents[one.role], 'name', one.name), description: said(agents[one.role], 'description', one.description) })),
  };
};
