/**
 * How much a model reads, learned where its provider refused a request as too long: the catalog does not know local servers and gateways.
 *
 * W1  A window that was learned only shrinks, and each refusal makes it smaller, so that asking again comes to an end.
 * W2  It counts as svc estimates, whatever the provider counts.
 */
const MAX_KNOWN = 1_000;
/** Of the refused request, where the provider names no numbers. */
const UNNAMED_SHARE = 0.6;
const MOST_SHARE = 0.9;
const SAFETY = 0.95;
/** No request fits into less. */
const LEAST_TOKENS = 1_500;

const NUMBER = /\d[\d,_]{2,14}/g;
const LIMITS: readonly RegExp[] = [
  />=?\s{0,3}(\d[\d,_]{2,14})/,
  /(?:context (?:length|size|window)|n_ctx|maximum(?: allowed)?(?: number of tokens)?(?: allowed)?|limit|at most|up to)[^\d]{0,40}(\d[\d,_]{2,14})/i,
  /(\d[\d,_]{2,14})(?: tokens?)? (?:maximum|max|limit)/i,
];

const toNumber = (digits: string): number => Number(digits.replaceAll(/[,_]/g, ''));

/** The share of the request that the provider would read, by its words. */
export const shareThatFits = (said: string): number => {
  const words = said.slice(0, 2_000);
  const used = Math.max(0, ...(words.match(NUMBER) ?? []).map(toNumber));
  for (const pattern of LIMITS) {
    const limit = toNumber(pattern.exec(words)?.[1] ?? '');
    if (limit > 0 && limit < used) return Math.min(MOST_SHARE, (limit / used) * SAFETY);
  }
  return UNNAMED_SHARE;
};

export interface Windows {
  of(provider: string, model: string): number | undefined;
  /** `tokens` is the estimate of the refused request. */
  refused(provider: string, model: string, tokens: number, said: string): void;
}

export const createWindows = (): Windows => {
  const known = new Map<string, number>();
  const keyOf = (provider: string, model: string): string => `${provider}\n${model}`;
  return {
    of: (provider, model) => known.get(keyOf(provider, model)),
    refused: (provider, model, tokens, said) => {
      const key = keyOf(provider, model);
      const before = known.get(key) ?? Number.MAX_SAFE_INTEGER;
      if (known.size >= MAX_KNOWN && !known.has(key)) known.clear();
      known.set(key, Math.max(LEAST_TOKENS, Math.floor(Math.min(tokens * shareThatFits(said), before * MOST_SHARE))));
    },
  };
};
