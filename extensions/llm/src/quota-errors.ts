import { defineErrors } from '@svc/api';

const usd = (amount: number): string => `${Number(amount.toFixed(6))} USD`;

/** Codes as clients of such daemons know them, without the area's prefix. */
export const quotaErrors = defineErrors('', {
  token_quota_exceeded: {
    status: 429,
    retry: true,
    message: (what: string, limit: number, used: number, freeAt: string) => `The agent has used ${used} of its ${limit} ${what}. It goes on at ${freeAt}.`,
    hint: 'Wait until then, or raise max_llm_tokens_per_hour in its manifest.',
  },
  budget_exceeded: {
    status: 429,
    retry: true,
    message: (period: string, limit: number, used: number, need: number, freeAt: string) =>
      `The agent may spend ${usd(limit)} per ${period} and has spent ${usd(used)}; the next model call may cost ${usd(need)}. It can go on at ${freeAt}.`,
    hint: 'Wait until then, lower max_tokens, or raise the max_cost keys under [resources] of its manifest.',
  },
});
