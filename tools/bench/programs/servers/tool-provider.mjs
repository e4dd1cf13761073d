/** A provider that asks for the time first, and answers when it has read it. */
import { ending, event, sendAtOnce, serveCalls } from './chat-completions.mjs';

const usage = { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 };
const asking = `${event({ role: 'assistant', tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'system_time', arguments: '{}' } }] })}${ending('tool_calls', usage)}`;
const answering = `${event({ role: 'assistant', content: 'It is' })}${event({ content: ' noon, or close to it.' })}${ending('stop', usage)}`;

serveCalls(({ messages }, response) => sendAtOnce(response, messages.at(-1).role === 'tool' ? answering : asking));
