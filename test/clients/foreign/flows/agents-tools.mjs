// @openai/agents as it comes, over the Responses API and over chat completions.
import { Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

setTracingDisabled(true);
const client = new OpenAI({ baseURL: `${process.env.SVC_URL}/v1`, apiKey: 'any' });
const weather = tool({ name: 'weather', description: 'Weather now', parameters: z.object({ city: z.string() }), execute: async ({ city }) => `rain in ${city}` });
const Model = process.env.SVC_API === 'chat' ? OpenAIChatCompletionsModel : OpenAIResponsesModel;
const agent = new Agent({ name: 'Forecaster', instructions: 'Use the tool.', model: new Model(client, process.env.SVC_MODEL), tools: [weather] });
const result = await new Runner().run(agent, 'How is the weather in Oslo?', { stream: process.env.SVC_STREAM === '1' });
if (process.env.SVC_STREAM === '1') await result.completed;
process.stdout.write(`${result.finalOutput}\n`);
