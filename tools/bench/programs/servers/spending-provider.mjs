/**
 * A provider whose answer is as long as it may be, so that a call costs what it could cost; it takes 20 to 60 ms.
 *
 *   node spending-provider.mjs     prints its port
 */
import { ending, event, sendAtOnce, serveCalls } from './chat-completions.mjs';

const INPUT_TOKENS = 40;
let count = 0;

serveCalls((body, response) => {
  const tokens = body.max_completion_tokens ?? body.max_tokens;
  const events = `${event({ content: 'Hello.' })}${ending('stop', { prompt_tokens: INPUT_TOKENS, completion_tokens: tokens, total_tokens: INPUT_TOKENS + tokens })}`;
  count += 1;
  setTimeout(() => sendAtOnce(response, events), 20 + (count % 41));
});
