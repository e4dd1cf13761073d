/**
 * A provider that writes Markdown token by token: an answer as a person reads it.
 *
 *   node answer-provider.mjs <tokens a second> <tokens of an answer>     prints its port
 */
import { tokensFrom } from './answer-tokens.mjs';
import { ending, event, serveCalls } from './chat-completions.mjs';
import { writePaced } from './paced.mjs';

const [rate, count] = process.argv.slice(2).map(Number);
const last = ending('stop', { prompt_tokens: 400, completion_tokens: count, total_tokens: 400 + count });

serveCalls((_body, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = (from, until) =>
    response.write(
      tokensFrom(from, until - from)
        .map((content) => event({ content }))
        .join(''),
    );
  writePaced(response, { rate, count, write, end: () => response.end(last) });
});
