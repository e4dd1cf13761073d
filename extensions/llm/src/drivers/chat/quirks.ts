/** What is known of models of the chat-completions protocol before their first refusal. The rest is learned (adaptation.ts). */
import type { DriverTarget } from '../../contract.js';
import type { Adaptation } from '../adaptation.js';

/** Models of OpenAI's own that refuse `max_tokens`; others are learned from their 400. */
const REASONING_MODEL = /^(o\d|gpt-5|gpt-6)/;
/** Of these, the ones that refuse any temperature but 1 from the first day. */
const ONE_TEMPERATURE = /^(o\d|gpt-5(?!\.\d)|gpt-6)(?!.*-chat)/;
/** Their templates take no person's words straight after a result, and no empty answer. */
const MISTRAL = /mistral|mixtral|magistral|ministral|codestral|devstral|pixtral/i;

export const initialAdaptation = ({ provider, model }: Pick<DriverTarget, 'provider' | 'model'>): Adaptation => {
  if (provider === 'openai' && REASONING_MODEL.test(model)) return { completionTokens: true, ...(ONE_TEMPERATURE.test(model) ? { onlyTemperature: 1 } : {}) };
  if (provider === 'mistral') return { shortIds: true, bridges: true };
  return MISTRAL.test(model) ? { bridges: true } : {};
};
