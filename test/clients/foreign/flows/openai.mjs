/** The openai package. */
import OpenAI from 'openai';
import { BASE_URL, FAR_IMAGE, MODEL, PIXEL, run, CONVERSATION, thrown } from './flows.mjs';

const client = new OpenAI({ baseURL: BASE_URL, apiKey: 'any' });
const ask = (messages, more = {}) => client.chat.completions.create({ model: MODEL, messages: typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages, ...more });
const saidBy = (completion) => completion.choices[0].message.content;
const look = (url) => [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url } },
    ],
  },
];

await run({
  chat: async () => saidBy(await ask('two and two?')),
  stream: async () => {
    let text = '';
    for await (const chunk of await ask('count', { stream: true, stream_options: { include_usage: true } })) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  },
  history: async () => saidBy(await ask(CONVERSATION)),
  image: async () => saidBy(await ask(look(PIXEL))),
  error: () => thrown(() => ask(look(FAR_IMAGE))),
  abort: async () => {
    const stream = await ask('go on and on', { stream: true });
    for await (const _chunk of stream) stream.controller.abort();
  },
});
