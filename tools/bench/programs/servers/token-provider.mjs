/**
 * A provider that writes one token after the other, as a model does; the client counts them by their `~`.
 *
 *   node token-provider.mjs <tokens a second> <tokens of an answer>     prints its port
 */
import { ending, event, serveCalls } from './chat-completions.mjs';
import { writePaced } from './paced.mjs';

const [rate, count] = process.argv.slice(2).map(Number);
const token = event({ content: ' tok~en' });
const last = ending('stop', { prompt_tokens: 400, completion_tokens: count, total_tokens: 400 + count });

serveCalls((_body, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  writePaced(response, { rate, count, write: (from, until) => response.write(token.repeat(until - from)), end: () => response.end(last) });
});
