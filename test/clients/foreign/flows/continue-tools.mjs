// The adapter through which Continue speaks to a model, with the shape of a request of its agent mode.
import { constructLlmApi } from '@continuedev/openai-adapters';

const api = constructLlmApi({ provider: 'openai', model: process.env.SVC_MODEL, apiKey: 'any', apiBase: `${process.env.SVC_URL}/v1/` });
const tools = [{ type: 'function', function: { name: 'weather', description: 'Weather now', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } } }];
const messages = [{ role: 'user', content: 'How is the weather in Oslo?' }];

async function ask() {
  const message = { role: 'assistant', content: '', tool_calls: [] };
  for await (const chunk of api.chatCompletionStream({ model: process.env.SVC_MODEL, messages, tools, stream: true, parallel_tool_calls: false }, new AbortController().signal)) {
    const delta = chunk.choices[0]?.delta ?? {};
    message.content += delta.content ?? '';
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      message.tool_calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } };
      const call = message.tool_calls[index];
      call.function.name += called?.name ?? '';
      call.function.arguments += called?.arguments ?? '';
    }
  }
  return message;
}

const first = await ask();
messages.push(first, ...first.tool_calls.map(({ id, function: { arguments: args } }) => ({ role: 'tool', tool_call_id: id, content: `rain in ${JSON.parse(args).city}` })));
process.stdout.write(`${(await ask()).content}\n`);
