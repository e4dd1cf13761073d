/** Thinking before the answer: which models can be told to, and how much of the answer's room it takes. */
import type { ModelRequest } from '../contract.js';

/** Claude since 3.7. Older ones refuse the parameter. */
const OLD_CLAUDE = /claude-(?:instant|[12](?:\D|$)|3-(?:opus|sonnet|haiku|5))/i;
/** Models that take `reasoning_effort`; others refuse it. */
const REASONS = /(?:^|\/)(?:o[134](?:-|$)|gpt-5|gpt-oss)/i;
const MIN_THINKING_TOKENS = 1_024;
const MIN_ANSWER_TOKENS = 512;

/** Gemini since 2.5, but for its models of images and speech. */
const THINKING_GEMINI = /gemini-(?:2\.5|[3-9]|\d\d)(?!.*(?:image|tts|audio))/i;

const THINKS: Readonly<Record<string, (model: string) => boolean>> = {
  anthropic: (model) => /claude/i.test(model) && !OLD_CLAUDE.test(model),
  openai: (model) => REASONS.test(model),
  gemini: (model) => THINKING_GEMINI.test(model),
};

export const canThink = (wire: string, model: string): boolean => THINKS[wire]?.(model) ?? false;

/**
 * `maxTokens` is what an answer and the thoughts before it may have together, within what the model can give;
 * where that leaves no room for thoughts there are none.
 */
export const withRoom = (request: ModelRequest, model: { canThink: boolean; maxOutputTokens: number | undefined }): ModelRequest => {
  const { thinking, ...plain } = request;
  const limit = model.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const unthinking = { ...plain, maxTokens: Math.min(request.maxTokens, limit) };
  if (!thinking || !model.canThink) return unthinking;
  const maxTokens = Math.min(request.maxTokens + thinking.budgetTokens, limit);
  const budgetTokens = Math.min(thinking.budgetTokens, maxTokens - MIN_ANSWER_TOKENS);
  return budgetTokens < MIN_THINKING_TOKENS ? unthinking : { ...plain, maxTokens, thinking: { budgetTokens } };
};

/** The words of the chat-completions protocol for an amount of thought. */
export const effortOf = ({ budgetTokens }: { readonly budgetTokens: number }): 'low' | 'medium' | 'high' => (budgetTokens < 4_096 ? 'low' : budgetTokens < 8_192 ? 'medium' : 'high');
