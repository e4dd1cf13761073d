/**
 * Tokens and money. A price of n USD per million tokens is n micro-dollars per token, so costs are sums of products.
 *
 * A reservation takes the highest rate that can apply: every tier that so many tokens can reach, input that is read from or
 * written to a cache. What was used is billed at the rate that did apply, by what the provider says of its cache. Where the
 * catalog names no price for that, such tokens count as input, and so do those of pictures. Sums are of integers, so they are
 * exact: a price has at most six decimals of a dollar per million tokens.
 */
import { CHARS_PER_TOKEN, tokensOfChars } from '@svc/api';
import type { CatalogModel } from '@svc/ext-models/contract';
import type { ContentPart, ModelMessage, ModelRequest, ToolSchema, Usage } from '../contract.js';
import { remembered } from '../remembered.js';

export type Price = Pick<CatalogModel, 'input_cost_per_1m' | 'output_cost_per_1m' | 'cache_read_cost_per_1m' | 'cache_write_cost_per_1m' | 'context_tiers'>;
type Rates = Omit<Price, 'context_tiers'>;

/** Of input tokens, which are counted among them. */
export interface CachedTokens {
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
}

/** Of a model that the catalog does not know, at a provider that takes money: a limit of cost must hold for it too. What it cost is marked as estimated. */
export const ASSUMED_PRICE: Price = { input_cost_per_1m: 1, output_cost_per_1m: 3 };

/** For ceilings: no common text has more tokens than a third of its UTF-8 bytes. */
const CEILING_BYTES_PER_TOKEN = 3;
/** What providers take for one large image, as a rule. */
const IMAGE_TOKENS = 1_600;
/** The most that providers of catalogued models take for one; some of models that no catalog knows take more than ten times as much. */
const CEILING_IMAGE_TOKENS = 4_200;
const UNKNOWN_IMAGE_TOKENS = 50_000;
const MESSAGE_TOKENS = 4;

export const estimateTokens = (text: string): number => tokensOfChars(text.length);

/** Micro-dollars, rounded up: a call is never free because it was small. */
export const costMicros = (price: Price | undefined, inputTokens: number, outputTokens: number, cached: CachedTokens = {}): number =>
  price === undefined ? 0 : sumOf(ratesAt(price, inputTokens), inputTokens, outputTokens, believed(cached, inputTokens));

/** The most that a call with up to so many tokens can cost. */
export const ceilingMicros = (price: Price | undefined, inputTokens: number, outputTokens: number): number => {
  if (price === undefined) return 0;
  const reachable = [price, ...(price.context_tiers ?? []).filter(({ above_input_tokens: above }) => above < inputTokens)];
  const dearest = {
    input_cost_per_1m: Math.max(...reachable.flatMap((rates) => [rates.input_cost_per_1m, rates.cache_read_cost_per_1m ?? 0, rates.cache_write_cost_per_1m ?? 0])),
    output_cost_per_1m: Math.max(...reachable.map((rates) => rates.output_cost_per_1m)),
  };
  return sumOf(dearest, inputTokens, outputTokens, NOT_CACHED);
};

/** Those of the highest tier that the request is in. */
const ratesAt = (price: Price, inputTokens: number): Rates => price.context_tiers?.findLast(({ above_input_tokens: above }) => inputTokens > above) ?? price;

type Cached = { readonly read: number; readonly write: number };
const NOT_CACHED: Cached = { read: 0, write: 0 };

/** More cached tokens than there were is no count. */
const believed = ({ cacheReadTokens: read = 0, cacheWriteTokens: write = 0 }: CachedTokens, inputTokens: number): Cached => (read + write > inputTokens ? NOT_CACHED : { read, write });

const RATE_DECIMALS = 1_000_000;
const whole = (rate: number): bigint => BigInt(Math.round(rate * RATE_DECIMALS));
const count = (tokens: number): bigint => BigInt(Math.ceil(tokens));
const ONE_MICRO = BigInt(RATE_DECIMALS);

const sumOf = (rates: Rates, inputTokens: number, outputTokens: number, { read, write }: Cached): number => {
  const input = whole(rates.input_cost_per_1m);
  const sum =
    input * count(inputTokens - read - write) +
    (rates.cache_read_cost_per_1m === undefined ? input : whole(rates.cache_read_cost_per_1m)) * count(read) +
    (rates.cache_write_cost_per_1m === undefined ? input : whole(rates.cache_write_cost_per_1m)) * count(write) +
    whole(rates.output_cost_per_1m) * count(outputTokens);
  return Number((sum + ONE_MICRO - 1n) / ONE_MICRO);
};

export const usageOf = (model: Price | undefined, tokens: CachedTokens & { inputTokens: number; outputTokens: number; estimated: boolean }): Usage => ({
  inputTokens: tokens.inputTokens,
  outputTokens: tokens.outputTokens,
  costMicros: costMicros(model, tokens.inputTokens, tokens.outputTokens, tokens),
  ...(tokens.estimated || model === ASSUMED_PRICE ? { estimated: true } : {}),
});

/** A middle estimate of what a request takes in, for providers that do not say. */
export const estimateInput = (request: ModelRequest): number => {
  const { images, tokens } = measure(request, ({ chars }) => chars / CHARS_PER_TOKEN);
  return tokens + images * IMAGE_TOKENS;
};

/** What a request takes in, the images apart: how many tokens they are depends on the model. */
export interface Measured {
  readonly tokens: number;
  readonly images: number;
}

/** More than the words of a request take in, for reservations. */
export const ceilingOfWords = (request: ModelRequest): Measured => measure(request, ({ bytes }) => bytes / CEILING_BYTES_PER_TOKEN);

/** More than it takes in by a model; undefined is a model that no catalog knows. */
export const ceilingInput = ({ images, tokens }: Measured, model: Pick<CatalogModel, 'image_tokens'> | undefined): number =>
  tokens + images * (model === undefined ? UNKNOWN_IMAGE_TOKENS : (model.image_tokens ?? CEILING_IMAGE_TOKENS));

interface Size {
  readonly chars: number;
  readonly bytes: number;
  /** Tokens that no letter stands for. */
  readonly tokens: number;
}

interface MessageSize extends Size {
  readonly images: number;
}

const measure = (request: ModelRequest, tokensOf: (size: Size) => number): Measured => {
  let tokens = tokensOf(sizeOfTexts([request.system]));
  let images = 0;
  const add = (size: Size): void => {
    tokens += size.tokens + tokensOf(size);
  };
  for (const message of request.messages) {
    const size = sizeOfMessage(message);
    add(size);
    images += size.images;
  }
  add(sizeOfTools(request.tools));
  return { tokens: Math.ceil(tokens), images };
};

const sizeOfMessage = remembered(({ parts }: ModelMessage): MessageSize => {
  const images = parts.filter((part) => part.type === 'image').length;
  const texts = parts.map((part) => (part.type === 'image' ? '' : textOf(part)));
  return { ...sizeOfTexts(texts, MESSAGE_TOKENS), images };
});

const sizeOfTools = remembered(
  (tools: readonly ToolSchema[]): Size =>
    sizeOfTexts(
      tools.flatMap(({ name, description, parameters }) => [name, description, JSON.stringify(parameters) ?? '']),
      tools.length * MESSAGE_TOKENS,
    ),
);

const sizeOfTexts = (texts: readonly string[], tokens = 0): Size => {
  let chars = 0;
  let bytes = 0;
  for (const text of texts) {
    chars += text.length;
    bytes += Buffer.byteLength(text);
  }
  return { chars, bytes, tokens };
};

const textOf = (part: Exclude<ContentPart, { type: 'image' }>): string => {
  if (part.type === 'tool_result') return part.content;
  const state = part.state === undefined ? '' : JSON.stringify([part.state.message, part.state.call]);
  return (part.type === 'text' ? part.text : part.name + JSON.stringify(part.args ?? {})) + state;
};
