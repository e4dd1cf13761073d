/** Prices of cached tokens, of images and of long requests, as a catalog or a person gives them. */
import type { CatalogModel } from './contract.js';

export type Further = Pick<CatalogModel, 'cache_read_cost_per_1m' | 'cache_write_cost_per_1m' | 'context_tiers' | 'image_tokens'>;

/** Those that are given, and no other field. */
export const furtherPricesOf = ({ cache_read_cost_per_1m: read, cache_write_cost_per_1m: write, context_tiers: tiers, image_tokens: image }: Further): Further => ({
  ...(read === undefined ? {} : { cache_read_cost_per_1m: read }),
  ...(write === undefined ? {} : { cache_write_cost_per_1m: write }),
  ...(image === undefined ? {} : { image_tokens: image }),
  ...(tiers === undefined || tiers.length === 0 ? {} : { context_tiers: tiers }),
});

/** Why the tiers cannot be used; undefined where they can. */
export const tierProblem = ({ context_tiers: tiers = [], context_window: window }: Pick<CatalogModel, 'context_tiers' | 'context_window'>): string | undefined => {
  for (const [index, { above_input_tokens: above }] of tiers.entries()) {
    const before = tiers[index - 1]?.above_input_tokens ?? 0;
    if (above <= before) return `context_tiers[${index}] has above_input_tokens ${above}, which is not more than ${before} of the one before`;
    if (above >= window) return `context_tiers[${index}] begins above ${above} tokens, which context_window (${window}) does not allow`;
  }
  return undefined;
};
