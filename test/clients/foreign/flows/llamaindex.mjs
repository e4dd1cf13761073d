/** LlamaIndex's OpenAI model. */
import { openai } from '@llamaindex/openai';
import { BASE_URL, FAR_IMAGE, MODEL, PIXEL, run, CONVERSATION, thrown } from './flows.mjs';

const model = openai({ model: MODEL, apiKey: 'any', baseURL: BASE_URL, maxRetries: 0 });
const look = (url) => [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url } },
    ],
  },
];
const ask = async (messages) => (await model.chat({ messages: typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages })).message.content;

await run({
  chat: () => ask('two and two?'),
  stream: async () => {
    let text = '';
    for await (const piece of await model.chat({ messages: [{ role: 'user', content: 'count' }], stream: true })) text += piece.delta;
    return text;
  },
  history: () => ask(CONVERSATION),
  image: () => ask(look(PIXEL)),
  error: () => thrown(() => ask(look(FAR_IMAGE))),
  abort: async () => {
    for await (const _piece of await model.chat({ messages: [{ role: 'user', content: 'go on and on' }], stream: true })) break;
  },
});
