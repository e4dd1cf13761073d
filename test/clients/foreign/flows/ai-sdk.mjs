/** Vercel's AI SDK with its provider for compatible servers. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { BASE_URL, MODEL, PIXEL, run, CONVERSATION, thrown } from './flows.mjs';

const model = createOpenAICompatible({ name: 'svc', baseURL: BASE_URL, apiKey: 'any' })(MODEL);
const look = (image) => [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'what is it?' },
      { type: 'image', image },
    ],
  },
];
const ask = async (asked) => (await generateText({ model, ...asked })).text;

await run({
  chat: () => ask({ prompt: 'two and two?' }),
  stream: async () => streamText({ model, prompt: 'count' }).text,
  history: () => ask({ messages: CONVERSATION }),
  image: () => ask({ messages: look(PIXEL) }),
  // Addresses it fetches by itself; an image that is none is what comes here.
  error: () => thrown(() => ask({ messages: look('data:image/png;base64,AAAA') })),
  abort: async () => {
    const gone = new AbortController();
    const { textStream } = streamText({ model, prompt: 'go on and on', abortSignal: gone.signal, onError: () => undefined });
    for await (const _piece of textStream) gone.abort();
  },
});
