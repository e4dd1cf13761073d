/**
 * A provider that answers nothing until it is told to: calls stay on their way for as long as a measurement needs.
 *
 *   node held-provider.mjs     prints its port
 *
 * GET /release answers calls from now on, and counts them anew. Every GET gives {calls, firstAt}: calls since then, and when
 * the first of them came, in milliseconds since 1970.
 */
import { ending, event, sendAtOnce, serveCalls } from './chat-completions.mjs';

const answer = `${event({ role: 'assistant', content: 'Here I am again.' })}${ending('stop', { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 })}`;
let isHeld = true;
let seen = { calls: 0, firstAt: undefined };

serveCalls(
  (_body, response) => {
    seen.calls += 1;
    seen.firstAt ??= performance.timeOrigin + performance.now();
    if (!isHeld) sendAtOnce(response, answer);
  },
  (path) => {
    if (path === '/release') {
      isHeld = false;
      seen = { calls: 0, firstAt: undefined };
    }
    return seen;
  },
);
