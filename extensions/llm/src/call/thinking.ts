/** Thinking before the answer: which models can be told to, and how much of the answer's room it takes. */
import type { LeftOut, ModelRequest } from '../contract.js';
import { chatForm } from './thinking-forms.js';

/** Claude since 3.7. Older ones refuse the parameter. */
const OLD_CLAUDE = /claude-(?:instant|[12](?:\D|$)|3-(?:opus|sonnet|haiku|5))/i;
const MIN_THINKING_TOKENS = 1_024;
const MIN_ANSWER_TOKENS = 512;

/** Gemini since 2.5, but for its models of images and speech. */
const THINKING_GEMINI = /gemini-(?:2\.5|[3-9]|\d\d)(?!.*(?:image|tts|audio))/i;

/** Others that speak Anthropic's protocol, and take its word for thinking. */
const THINKING_OTHERS = /kimi|glm-(?:4\.[5-9]|[5-9])|minimax-m|deepseek|seed|mimo|qwen-?3|ark-code/i;

const THINKS: Readonly<Record<string, (model: string, provider: string) => boolean>> = {
  anthropic: (model) => (/claude/i.test(model) ? !OLD_CLAUDE.test(model) : THINKING_OTHERS.test(model)),
  openai: (model, provider) => chatForm(provider, model) !== undefined,
  gemini: (model) => THINKING_GEMINI.test(model),
};

export const canThink = (wire: string, provider: string, model: string): boolean => THINKS[wire]?.(model, provider) ?? false;

/** Said of a model that is asked to answer without the thinking that it was to do. */
export const unthought = (asked: Pick<ModelRequest, 'thinking'>, sent: Pick<ModelRequest, 'thinking'>, isAble: boolean): readonly LeftOut[] => {
  if (!asked.thinking || sent.thinking) return [];
  return [{ parameter: 'thinking', why: isAble ? 'its answer may not be long enough to think before it' : 'svc knows no way to tell the model to think' }];
};

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
