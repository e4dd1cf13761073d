/**
 * Tokens as servers of the chat-completions protocol count them.
 *
 * U1  Usage stands in the event, in a choice, or in a member of the provider's own (`x_groq`); llama.cpp says it as `timings`.
 * U2  Thoughts may stand within the completion or beside it: what the total has more than prompt and completion is output.
 * U3  Tokens of a cache are among those of the prompt, unless there are more of them than that.
 * U4  Each count is the highest that came: a running total grows, and a late zero takes nothing back.
 */
import { isTable } from '@svc/api';
import { higher, tokensIn, type UsageEvent, usageEvent } from '../token-count.js';
import type { Table } from './parts.js';

interface Counts {
  prompt?: number | undefined;
  completion?: number | undefined;
  reasoning?: number | undefined;
  total?: number | undefined;
  cached?: number | undefined;
  written?: number | undefined;
}

export interface UsageReader {
  /** What is known after this event; undefined where it says nothing of tokens. */
  take(chunk: Table): UsageEvent | undefined;
}

export const createUsageReader = (): UsageReader => {
  const counts: Counts = {};
  return {
    take: (chunk) => {
      const found = usagesIn(chunk);
      if (found.length === 0) return undefined;
      for (const usage of found) note(counts, usage);
      return eventOf(counts);
    },
  };
};

/** U1. */
const usagesIn = (chunk: Table): Table[] => {
  const [choice] = Array.isArray(chunk.choices) ? chunk.choices : [];
  const own = Object.entries(chunk).flatMap(([name, value]) => (name.startsWith('x_') && isTable(value) ? [value.usage] : []));
  const within = isTable(choice) ? [choice.usage, ...[choice.delta, choice.message].map((one) => (isTable(one) ? one.usage : undefined))] : [];
  const usages = [chunk.usage, chunk.usage_metadata, ...own, ...within].filter(isTable);
  return usages.length > 0 || !isTable(chunk.timings) ? usages : [timings(chunk.timings)];
};

const timings = ({ prompt_n, predicted_n, cache_n }: Table): Table => ({
  prompt_tokens: tokensIn(prompt_n) === undefined ? undefined : (tokensIn(prompt_n) ?? 0) + (tokensIn(cache_n) ?? 0),
  completion_tokens: predicted_n,
  cached_tokens: cache_n,
});

const highestOf = (known: number | undefined, ...values: readonly unknown[]): number | undefined => values.reduce<number | undefined>(higher, known);

const note = (counts: Counts, usage: Table): void => {
  const inputs = isTable(usage.prompt_tokens_details) ? usage.prompt_tokens_details : isTable(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const outputs = isTable(usage.completion_tokens_details) ? usage.completion_tokens_details : isTable(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const hits = tokensIn(usage.prompt_cache_hit_tokens);
  const misses = tokensIn(usage.prompt_cache_miss_tokens);
  counts.prompt = highestOf(counts.prompt, usage.prompt_tokens, usage.input_tokens, hits !== undefined && misses !== undefined ? hits + misses : undefined);
  counts.completion = highestOf(counts.completion, usage.completion_tokens, usage.output_tokens);
  counts.reasoning = highestOf(counts.reasoning, outputs.reasoning_tokens, usage.reasoning_tokens, outputs.thinking_tokens);
  counts.total = highestOf(counts.total, usage.total_tokens);
  counts.cached = highestOf(counts.cached, inputs.cached_tokens, hits, usage.cached_tokens, usage.cache_read_input_tokens, inputs.cache_read_tokens);
  counts.written = highestOf(counts.written, usage.cache_creation_input_tokens, inputs.cache_write_tokens, inputs.cache_creation_tokens);
};

const eventOf = ({ prompt, completion, reasoning, total, cached, written }: Counts): UsageEvent => {
  const ofCache = (cached ?? 0) + (written ?? 0);
  const isBeside = prompt !== undefined && ofCache > 0 && (ofCache > prompt || (reasoning === undefined && total === prompt + (completion ?? 0) + ofCache));
  const input = isBeside ? prompt + ofCache : prompt;
  return usageEvent(input, outputOf(input, completion, reasoning, total), { read: cached, write: written });
};

/** U2. A total that is less than its parts says nothing. */
const outputOf = (input: number | undefined, completion: number | undefined, reasoning = 0, total = 0): number | undefined => {
  const said = completion === undefined && reasoning > 0 ? reasoning : completion;
  if (said === undefined) return undefined;
  return Math.max(reasoning > said ? said + reasoning : said, input ? total - input : 0);
};
