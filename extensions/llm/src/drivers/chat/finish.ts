/** Why an answer ended, in the words of forty providers. */
import type { ModelAnswer } from '../../contract.js';
import { ModelFailure } from '../../call/model-failure.js';
import { withoutSecrets } from '../../call/secret-words.js';

const LENGTH = /^(?:length|max_tokens|max_output_tokens|max_completion_tokens|model_length|token_limit|context_length_exceeded|model_context_window_exceeded|max_length)$/i;
const FILTERED =
  /^(?:content_filter(?:ed)?|content-filter|safety|recitation|blocklist|prohibited_content|spii|language|image_safety|refusal|sensitive|guardrail_intervened|model_armor|moderation|violation|content_policy(?:_violation)?|risk_control)$/i;
/** The model or its server failed. Such a word may stand behind another one, as in `function_call_filter: MALFORMED_FUNCTION_CALL`. */
const FAILED =
  /error|fail|abort|cancel|malformed|function_call_filter|unexpected_tool|too_many_tool|invalid|insufficient|overload|load_shed|time[d_]?_?out|interrupt|unavailable|preempt|exception|network|disconnect|repetition|^other$|^unknown$/i;
const OVERLOADED = /insufficient|overload|load_shed|unavailable|preempt/i;

export interface Ending {
  readonly reason: string;
  /** The word of the provider behind a router. */
  readonly native: string | undefined;
  readonly calls: number;
  readonly hasSaid: boolean;
}

/** Throws where the reason means that there is no answer. */
export const stopReason = ({ reason, native, calls, hasSaid }: Ending): ModelAnswer['stop'] => {
  if (LENGTH.test(reason)) return 'length';
  if (FILTERED.test(reason)) return 'content_filter';
  if (FAILED.test(reason)) throw failed(native !== undefined && native.toLowerCase() !== reason.toLowerCase() ? `${reason} (${native})` : reason, OVERLOADED.test(reason));
  if (calls > 0) return 'tool_calls';
  if (!hasSaid && native !== undefined) {
    if (FILTERED.test(native)) return 'content_filter';
    if (FAILED.test(native)) throw failed(native, OVERLOADED.test(native));
  }
  return 'end';
};

const failed = (word: string, isOverloaded: boolean): ModelFailure =>
  new ModelFailure(isOverloaded ? 'overloaded' : 'server', withoutSecrets(`the model ended with ${word.slice(0, 300)}`), { httpStatus: 200, isOfAnswer: true });
