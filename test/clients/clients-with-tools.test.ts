/** Clients from npm, unchanged, that bring tools of their own: the model, a server of the provider's protocol, sees them and calls them. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type AIMessage, type AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { z } from 'zod';
import { type ModelKernel, useModelKernel } from './model-kernel.js';

const CALL = {
  toolCalls: [
    { name: 'weather', args: { city: 'Oslo' } },
    { name: 'weather', args: { city: 'Bergen' } },
  ],
};
const ANSWER = { text: 'Rain in Oslo, rain in Bergen.' };
const QUESTION = 'How is the weather in Oslo and Bergen?';
const Weather = z.object({ city: z.string() });

describe('clients with tools of their own', function () {
  this.timeout(30_000); // the first of them loads LangChain
  const boot = useModelKernel();
  const asked: string[] = [];
  const weather = async ({ city }: { city: string }): Promise<string> => {
    asked.push(city);
    return `rain in ${city}`;
  };
  beforeEach(() => {
    asked.length = 0;
  });

  /** The model was offered the tool, and has read what it gave. */
  const expectUsed = ({ model }: ModelKernel): void => {
    expect(asked.toSorted()).to.deep.equal(['Bergen', 'Oslo']);
    const [first, second] = model.requests;
    const offered = first?.body.tools.find((one: { function: { name: string } }) => one.function.name === 'weather');
    expect(offered.function.parameters.properties.city.type).to.equal('string');
    const results = second?.body.messages.filter(({ role }: { role: string }) => role === 'tool').map(({ content }: { content: string }) => content);
    expect(results.join()).to.contain('rain in Oslo').and.contain('rain in Bergen');
    expect(model.requests).to.have.length(2);
  };

  for (const model of ['svc:assistant', 'svc:assistant:stateless']) {
    const openai = (svc: ModelKernel) => new OpenAI({ baseURL: `${svc.kernel.url}/v1`, apiKey: 'any', maxRetries: 0 });
    const runnable = [{ type: 'function' as const, function: { name: 'weather', description: 'Weather now', parse: JSON.parse, parameters: z.toJSONSchema(Weather) as object, function: weather } }];
    const aiSdk = (svc: ModelKernel) => createOpenAICompatible({ name: 'svc', baseURL: `${svc.kernel.url}/v1`, apiKey: 'any', includeUsage: true })(model);
    const tools = { weather: tool({ description: 'Weather now', inputSchema: Weather, execute: weather }) };

    it(`openai runTools: ${model}`, async () => {
      const svc = await boot([CALL, ANSWER]);
      const runner = openai(svc).chat.completions.runTools({ model, messages: [{ role: 'user', content: QUESTION }], tools: runnable });
      expect(await runner.finalContent()).to.equal(ANSWER.text);
      expectUsed(svc);
    });

    it(`openai runTools, streamed: ${model}`, async () => {
      const svc = await boot([CALL, ANSWER]);
      const runner = openai(svc).chat.completions.runTools({ model, stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: QUESTION }], tools: runnable });
      expect(await runner.finalContent()).to.equal(ANSWER.text);
      expect((await runner.totalUsage()).total_tokens).to.equal(30);
      expectUsed(svc);
    });

    it(`AI SDK generateText: ${model}`, async () => {
      const svc = await boot([CALL, ANSWER]);
      const { text, steps } = await generateText({ model: aiSdk(svc), prompt: QUESTION, tools, stopWhen: stepCountIs(3) });
      expect([text, steps.map(({ finishReason }) => finishReason)]).to.deep.equal([ANSWER.text, ['tool-calls', 'stop']]);
      expectUsed(svc);
    });

    it(`AI SDK streamText: ${model}`, async () => {
      const svc = await boot([CALL, ANSWER]);
      const streamed = streamText({ model: aiSdk(svc), prompt: QUESTION, tools, stopWhen: stepCountIs(3) });
      expect(await streamed.text).to.equal(ANSWER.text);
      expect((await streamed.totalUsage).totalTokens).to.equal(30);
      expectUsed(svc);
    });

    for (const streams of [false, true])
      it(`LangChain bindTools${streams ? ', streamed' : ''}: ${model}`, async () => {
        const svc = await boot([CALL, ANSWER]);
        const chat = new ChatOpenAI({ model, apiKey: 'any', configuration: { baseURL: `${svc.kernel.url}/v1` } });
        const bound = chat.bindTools([langchainTool(weather, { name: 'weather', description: 'Weather now', schema: Weather })]);
        const question = new HumanMessage(QUESTION);
        // Its `streaming` flag counts tokens itself, with tables that it downloads.
        const ask = async (messages: BaseMessage[]): Promise<AIMessage> => (streams ? whole(await bound.stream(messages)) : bound.invoke(messages));
        const first = await ask([question]);
        const results = await Promise.all((first.tool_calls ?? []).map(async ({ id = '', args }) => new ToolMessage({ tool_call_id: id, content: await weather(Weather.parse(args)) })));
        const second = await ask([question, first, ...results]);
        expect(second.content).to.equal(ANSWER.text);
        // LangGraph keeps messages by their id.
        expect(second.id).to.not.equal(first.id);
        expectUsed(svc);
      });
  }
});

const whole = async (pieces: AsyncIterable<AIMessageChunk>): Promise<AIMessage> => {
  let all: AIMessageChunk | undefined;
  for await (const piece of pieces) all = all ? all.concat(piece) : piece;
  if (!all) throw new Error('the stream had no message');
  return all;
};
