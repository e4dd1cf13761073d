/** A provider that answers at once with a text as long as people get: 600 characters in ten events. GET tells how many bytes the last request had. */
import { ending, event, sendAtOnce, serveCalls } from './chat-completions.mjs';

const EVENTS = 10;
const piece = 'It depends on what you keep there, and how often you look at. ';

const answer = `${event({ role: 'assistant', content: '' })}${event({ content: piece }).repeat(EVENTS)}${ending('stop', { prompt_tokens: 400, completion_tokens: 140, total_tokens: 540 })}`;
let bytes = 0;

serveCalls(
  (_body, response, size) => {
    bytes = size;
    sendAtOnce(response, answer);
  },
  () => ({ bytes }),
);
