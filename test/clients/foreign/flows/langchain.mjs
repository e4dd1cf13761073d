/** LangChain's ChatOpenAI. */
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { BASE_URL, FAR_IMAGE, MODEL, PIXEL, run, CONVERSATION, thrown } from './flows.mjs';

const model = new ChatOpenAI({ model: MODEL, apiKey: 'any', configuration: { baseURL: BASE_URL } });
const look = (url) => [
  new HumanMessage({
    content: [
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url } },
    ],
  }),
];
const saidBy = async (asked) => (await model.invoke(asked)).content;

await run({
  chat: () => saidBy('two and two?'),
  stream: async () => {
    let text = '';
    for await (const piece of await model.stream('count')) text += piece.content;
    return text;
  },
  history: () => saidBy(CONVERSATION.map(({ role, content }) => (role === 'user' ? new HumanMessage(content) : new AIMessage(content)))),
  image: () => saidBy(look(PIXEL)),
  error: () => thrown(() => model.invoke(look(FAR_IMAGE))),
  abort: async () => {
    const gone = new AbortController();
    await thrown(async () => {
      for await (const _piece of await model.stream('go on and on', { signal: gone.signal })) gone.abort();
      throw new Error('it ended');
    });
  },
});
