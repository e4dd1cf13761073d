/**
 * Tokens and money. A price of n USD per million tokens is n micro-dollars per token, so costs are sums of products.
 *
 * The catalog has one price for input and one for output, and no others: tokens that a provider read from its cache count as
 * input (it bills less), and so do those that it wrote to it (svc asks for no cache of Anthropic's, the one that bills more for
 * writing) and those of pictures. Where a provider bills long contexts at a higher rate, its bill is higher than what is counted.
 */
import type { CatalogModel } from '@svc/ext-models/contract';
import type { ContentPart, ModelMessage, ModelRequest, ToolSchema, Usage } from '../contract.js';
import { remembered } from '../remembered.js';

export type Price = Pick<CatalogModel, 'input_cost_per_1m' | 'output_cost_per_1m'>;

/** Of a model that the catalog does not know, at a provider that takes money: a limit of cost must hold for it too. What it cost is marked as estimated. */
export const ASSUMED_PRICE: Price = { input_cost_per_1m: 1, output_cost_per_1m: 3 };

const CHARS_PER_TOKEN = 4;
/** For ceilings: no common text has more tokens than a third of its UTF-8 bytes. */
const CEILING_BYTES_PER_TOKEN = 3;
/** What providers take for one large image. */
const IMAGE_TOKENS = 1_600;
const MESSAGE_TOKENS = 4;

export const estimateTokens = (text: string): number => tokensOfChars(text.length);

export const tokensOfChars = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

/** Micro-dollars, rounded up: a call is never free because it was small. */
export const costMicros = (model: Price | undefined, inputTokens: number, outputTokens: number): number =>
  model === undefined ? 0 : Math.ceil(inputTokens * model.input_cost_per_1m + outputTokens * model.output_cost_per_1m - 1e-9);

export const usageOf = (model: Price | undefined, tokens: { inputTokens: number; outputTokens: number; estimated: boolean }): Usage => ({
  inputTokens: tokens.inputTokens,
  outputTokens: tokens.outputTokens,
  costMicros: costMicros(model, tokens.inputTokens, tokens.outputTokens),
  ...(tokens.estimated || model === ASSUMED_PRICE ? { estimated: true } : {}),
});

/** A middle estimate of what a request takes in, for providers that do not say. */
export const estimateInput = (request: ModelRequest): number => measure(request, ({ chars }) => chars / CHARS_PER_TOKEN);

/** More than a request takes in, for reservations. */
export const ceilingInput = (request: ModelRequest): number => measure(request, ({ bytes }) => bytes / CEILING_BYTES_PER_TOKEN);

interface Size {
  readonly chars: number;
  readonly bytes: number;
  /** Tokens that no letter stands for. */
  readonly tokens: number;
}

const measure = (request: ModelRequest, tokensOf: (size: Size) => number): number => {
  let tokens = tokensOf(sizeOfTexts([request.system]));
  const add = (size: Size): void => {
    tokens += size.tokens + tokensOf(size);
  };
  for (const message of request.messages) add(sizeOfMessage(message));
  add(sizeOfTools(request.tools));
  return Math.ceil(tokens);
};

const sizeOfMessage = remembered(({ parts }: ModelMessage): Size => {
  const images = parts.filter((part) => part.type === 'image').length;
  return sizeOfTexts(
    parts.map((part) => (part.type === 'image' ? '' : textOf(part))),
    MESSAGE_TOKENS + images * IMAGE_TOKENS,
  );
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

const textOf = (part: Exclude<ContentPart, { type: 'image' }>): string => (part.type === 'text' ? part.text : part.type === 'tool_call' ? part.name + JSON.stringify(part.args ?? {}) : part.content);
