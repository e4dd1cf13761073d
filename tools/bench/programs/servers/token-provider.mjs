/**
 * A provider that writes one token after the other, as a model does; the client counts them by their `~`.
 *
 *   node token-provider.mjs <tokens a second> <tokens of an answer>     prints its port
 */
import { ending, event, serveCalls } from './chat-completions.mjs';

const [rate, count] = process.argv.slice(2).map(Number);
const token = event({ content: ' tok~en' });
const last = ending('stop', { prompt_tokens: 400, completion_tokens: count, total_tokens: 400 + count });

serveCalls((_body, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const begun = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    // What is due by now: a late timer makes no slower model.
    const due = Math.min(count, Math.ceil(((performance.now() - begun) / 1_000) * rate));
    if (due > sent) response.write(token.repeat(due - sent));
    sent = due;
    if (sent < count) return;
    clearInterval(timer);
    response.end(last);
  }, 1_000 / rate);
  response.once('close', () => clearInterval(timer));
});
