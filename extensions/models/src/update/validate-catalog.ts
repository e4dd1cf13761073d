/**
 * What is good in a fetched catalog.
 *
 * U1  An entry that is not right is dropped and named, with why; the others stand. Where more than half of them are not
 *     right, it is no catalog.
 * U2  A catalog says nothing of the daemon's own model, and its aliases lead in no ring.
 */
import { isTable, type Schemas, Type } from '@svc/api';
import { type Catalog, VERSION_PATTERN } from '../catalog.js';
import { type CatalogModel, FurtherPrices } from '../contract.js';
import { furtherPricesOf, tierProblem } from '../further-prices.js';
import { buildNames } from '../names.js';
import { tierOf } from '../views.js';

const MAX_MODELS = 5_000;
const MAX_ALIASES = 5_000;
/** Named one by one; of more only the number is told. */
const MAX_NAMED = 50;

const Head = Type.Object({
  version: Type.String({ pattern: VERSION_PATTERN }),
  updated: Type.String({ format: 'date-time' }),
  models: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_MODELS }),
  aliases: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: MAX_ALIASES })),
});

const Id = Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' });
const Tokens = Type.Integer({ minimum: 1, maximum: 100_000_000 });
const Price = Type.Number({ minimum: 0, maximum: 100_000 });

const Entry = Type.Object({
  id: Id,
  provider: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }),
  display_name: Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\x00-\\x1f\\x7f]+$' }),
  tier: Type.String({ maxLength: 40 }),
  context_window: Tokens,
  max_output_tokens: Tokens,
  input_cost_per_1m: Price,
  output_cost_per_1m: Price,
  ...FurtherPrices,
  supports_tools: Type.Boolean(),
  supports_vision: Type.Boolean(),
  supports_streaming: Type.Boolean(),
  wire_id: Type.Optional(Id),
  pricing_known: Type.Optional(Type.Boolean()),
});

export interface Dropped {
  /** `openai/gpt-5 (models[3])`, or `alias fast`. */
  readonly entry: string;
  readonly why: string;
}

export interface Validated {
  readonly catalog: Catalog;
  readonly dropped: readonly Dropped[];
  /** With those that are not named. */
  readonly droppedCount: number;
}

/** The good part, or a sentence that says why there is none. */
export const validateCatalog = async (value: unknown, schemas: Schemas): Promise<Validated | string> => {
  const head = await schemas.check(Head, value, 'catalog');
  if (!head.ok) return head.message.replace(/\.$/, '');
  // What the schema has just found.
  const { version, updated, models: given, aliases: named = {} } = head.value as { version: string; updated: string; models: unknown[]; aliases?: Record<string, unknown> };
  const found = createFindings();
  const models: CatalogModel[] = [];
  const seen = new Set<string>();
  for (const [index, entry] of given.entries()) {
    const validated = await validateEntry(entry, schemas, seen);
    if (typeof validated === 'string') found.add(`${nameOf(entry)}models[${index}]`, validated);
    else models.push(validated);
  }
  if (models.length * 2 < given.length || models.length === 0)
    return `${given.length - models.length} of its ${given.length} models are not right, the first because ${found.dropped[0]?.why ?? 'it is empty'}`;
  const catalog = { version, updated, models, aliases: goodAliases(named, models, found) };
  return { catalog, dropped: found.dropped, droppedCount: found.count() };
};

interface Findings {
  readonly dropped: Dropped[];
  add(entry: string, why: string): void;
  count(): number;
}

const createFindings = (): Findings => {
  const dropped: Dropped[] = [];
  let count = 0;
  return {
    dropped,
    add: (entry, why) => {
      count++;
      if (dropped.length < MAX_NAMED) dropped.push({ entry, why });
    },
    count: () => count,
  };
};

const validateEntry = async (entry: unknown, schemas: Schemas, seen: Set<string>): Promise<CatalogModel | string> => {
  const checked = await schemas.check(Entry, entry, 'model');
  if (!checked.ok) return checked.message;
  // What the schema has just found.
  const model = checked.value as CatalogModel;
  if (model.provider === 'builtin') return 'the built-in mock provider is part of the daemon';
  if (model.max_output_tokens > model.context_window) return `max_output_tokens (${model.max_output_tokens}) is more than context_window (${model.context_window})`;
  const unordered = tierProblem(model);
  if (unordered !== undefined) return unordered;
  const key = `${model.provider}\n${model.id.toLowerCase()}`;
  if (seen.has(key)) return 'it is listed twice';
  seen.add(key);
  return plainModel(model);
};

/** The fields that we know, and no other. */
const plainModel = (model: CatalogModel): CatalogModel => ({
  id: model.id,
  provider: model.provider,
  display_name: model.display_name,
  tier: tierOf(model.tier),
  context_window: model.context_window,
  max_output_tokens: model.max_output_tokens,
  input_cost_per_1m: model.input_cost_per_1m,
  output_cost_per_1m: model.output_cost_per_1m,
  ...furtherPricesOf(model),
  supports_tools: model.supports_tools,
  supports_vision: model.supports_vision,
  supports_streaming: model.supports_streaming,
  ...(model.wire_id === undefined ? {} : { wire_id: model.wire_id }),
  ...(model.pricing_known === undefined ? {} : { pricing_known: model.pricing_known }),
});

/** What the entry calls itself, as far as that can be shown. */
const nameOf = (entry: unknown): string => {
  if (!isTable(entry) || typeof entry.id !== 'string') return '';
  const words = typeof entry.provider === 'string' ? `${entry.provider}/${entry.id}` : entry.id;
  return `${words.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 120)} at `;
};

const goodAliases = (named: Readonly<Record<string, unknown>>, models: readonly CatalogModel[], found: Findings): ReadonlyMap<string, string> => {
  const aliases = new Map<string, string>();
  for (const [alias, target] of Object.entries(named)) {
    const shown = `alias ${alias.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 120)}`;
    if (!/^[\x21-\x7e]{1,100}$/.test(alias)) found.add(shown, 'its name is empty, too long, or contains characters that are not allowed in an alias');
    else if (typeof target !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(target)) found.add(shown, 'its target cannot be a model');
    else aliases.set(alias.toLowerCase(), target);
  }
  const names = buildNames({ version: '', updated: '', models, aliases }, { revision: 0, aliases: new Map(), custom: [], lists: [] });
  for (const alias of [...aliases.keys()]) {
    const end = names.end(alias);
    // One that is a model's id already is never followed, and does no harm.
    const why = names.isModel(alias) ? undefined : end === undefined ? 'it forms a cycle' : names.find(end) ? undefined : `it leads to ${end}, which is not a model of this catalog`;
    if (why === undefined) continue;
    found.add(`alias ${alias}`, why);
    aliases.delete(alias);
  }
  return aliases;
};
