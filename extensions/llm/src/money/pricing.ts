/** Tokens and money. A price of n USD per million tokens is n micro-dollars per token, so costs are sums of products. */
import type { CatalogModel } from '@svc/ext-models/contract';
import type { ContentPart, ModelRequest, Usage } from '../contract.js';

export type Price = Pick<CatalogModel, 'input_cost_per_1m' | 'output_cost_per_1m'>;

/** Of a model that the catalog does not know, at a provider that takes money: a limit of cost must hold for it too. */
export const ASSUMED_PRICE: Price = { input_cost_per_1m: 1, output_cost_per_1m: 3 };

const CHARS_PER_TOKEN = 4;
/** For ceilings: no common text has more tokens than a third of its UTF-8 bytes. */
const CEILING_BYTES_PER_TOKEN = 3;
/** What providers take for one large image. */
const IMAGE_TOKENS = 1_600;
const MESSAGE_TOKENS = 4;

export const estimateTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);

/** Micro-dollars, rounded up: a call is never free because it was small. */
export const costMicros = (model: Price | undefined, inputTokens: number, outputTokens: number): number =>
  model === undefined ? 0 : Math.ceil(inputTokens * model.input_cost_per_1m + outputTokens * model.output_cost_per_1m - 1e-9);

export const usageOf = (model: Price | undefined, tokens: { inputTokens: number; outputTokens: number; estimated: boolean }): Usage => ({
  inputTokens: tokens.inputTokens,
  outputTokens: tokens.outputTokens,
  costMicros: costMicros(model, tokens.inputTokens, tokens.outputTokens),
  ...(tokens.estimated ? { estimated: true } : {}),
});

/** A middle estimate of what a request takes in, for providers that do not say. */
export const estimateInput = (request: ModelRequest): number => measure(request, (text) => text.length / CHARS_PER_TOKEN);

/** More than a request takes in, for reservations. */
export const ceilingInput = (request: ModelRequest): number => measure(request, (text) => Buffer.byteLength(text) / CEILING_BYTES_PER_TOKEN);

const measure = (request: ModelRequest, tokensOf: (text: string) => number): number => {
  let tokens = tokensOf(request.system);
  for (const { parts } of request.messages) {
    tokens += MESSAGE_TOKENS;
    for (const part of parts) tokens += part.type === 'image' ? IMAGE_TOKENS : tokensOf(textOf(part));
  }
  for (const { name, description, parameters } of request.tools) tokens += MESSAGE_TOKENS + tokensOf(name) + tokensOf(description) + tokensOf(jsonOf(parameters));
  return Math.ceil(tokens);
};

/** The schemas of tools are the same objects in every call, as long as their tool lives. */
const schemaTexts = new WeakMap<object, string>();

const jsonOf = (schema: unknown): string => {
  if (typeof schema !== 'object' || schema === null) return JSON.stringify(schema) ?? '';
  const known = schemaTexts.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema);
  schemaTexts.set(schema, text);
  return text;
};

const textOf = (part: Exclude<ContentPart, { type: 'image' }>): string => (part.type === 'text' ? part.text : part.type === 'tool_call' ? part.name + JSON.stringify(part.args ?? {}) : part.content);
