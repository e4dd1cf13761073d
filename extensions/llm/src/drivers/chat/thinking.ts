/** Thinking as a model of the chat-completions protocol is told to. */
import type { DriverTarget, ModelRequest } from '../../contract.js';
import { chatForm } from '../../call/thinking-forms.js';
import { effortOf } from '../../call/thinking.js';
import type { Adaptation } from '../adaptation.js';

export const chatThinking = ({ provider, model }: Pick<DriverTarget, 'provider' | 'model'>, thinking: ModelRequest['thinking'], { noThinking, effort }: Adaptation): object => {
  if (thinking === undefined || noThinking) return {};
  const { budgetTokens } = thinking;
  switch (chatForm(provider, model)) {
    case 'effort_low_high':
      return { reasoning_effort: effort ?? (effortOf(thinking) === 'high' ? 'high' : 'low') };
    case 'effort_high':
      return { reasoning_effort: effort ?? 'high' };
    case 'effort_default':
      return { reasoning_effort: effort ?? 'default' };
    case 'reasoning':
      return { reasoning: TAKES_TOKENS.test(model) ? { max_tokens: budgetTokens } : { effort: effort ?? effortOf(thinking) } };
    case 'thinking':
      return { thinking: { type: 'enabled' } };
    case 'thinking_budget':
      return { thinking: { type: 'enabled', budget_tokens: budgetTokens } };
    case 'enable_thinking':
      return { enable_thinking: true, thinking_budget: budgetTokens };
    case 'template':
      return { chat_template_kwargs: { enable_thinking: true, thinking: true } };
    case 'always':
      return {};
    default:
      return { reasoning_effort: effort ?? effortOf(thinking) };
  }
};

/** OpenRouter turns tokens into an effort for the others, and these take them as they are. */
const TAKES_TOKENS = /claude|gemini|qwen/i;
