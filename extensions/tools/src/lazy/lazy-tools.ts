/** The tools with which a model finds and loads those that it was not sent. */
import { type AnyTool, type CallFacts, defineTool, nearest, Type } from '@svc/api';
import { TOOL_LOAD, TOOL_SEARCH, type ToolInfo } from '../contract.js';
import { toolErrors } from '../errors.js';

const DEFAULT_FOUND = 10;
const MAX_FOUND = 50;
const MAX_DESCRIPTION_CHARS = 300;
/** A word in the name says more than one in the description. */
const NAME_WEIGHT = 3;

/** `offered`: those that the agent of the call may use, and no others. */
export const lazyTools = (offered: (call: CallFacts) => Promise<readonly ToolInfo[]>): AnyTool[] => [searchTool(offered), loadTool(offered)];

const facts = { risk: 'read', openWorld: false, replay: 'safe', parallel: true } as const;

const searchTool = (offered: (call: CallFacts) => Promise<readonly ToolInfo[]>): AnyTool =>
  defineTool({
    name: TOOL_SEARCH,
    description: 'Finds tools that you may use and were not sent, by words in their names and descriptions. Load one with tool_load before you call it.',
    params: Type.Object({
      query: Type.String({ minLength: 1, maxLength: 200, description: 'Words, such as "download file"' }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_FOUND, default: DEFAULT_FOUND })),
    }),
    ...facts,
    run: async ({ query, limit = DEFAULT_FOUND }, call) => {
      const found = ranked(await offered(call), query);
      const tools = found.slice(0, limit).map(({ name, description }) => ({ name, description: description.slice(0, MAX_DESCRIPTION_CHARS) }));
      return JSON.stringify({ tools, total: found.length });
    },
  });

const loadTool = (offered: (call: CallFacts) => Promise<readonly ToolInfo[]>): AnyTool =>
  defineTool({
    name: TOOL_LOAD,
    description: 'Loads a tool that tool_search found. From then on you can call it.',
    params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) }),
    ...facts,
    run: async ({ name }, call) => {
      const tools = await offered(call);
      const tool = tools.find((one) => one.name === name);
      // Tools that exist and may not be used are as unknown as others.
      if (!tool)
        throw toolErrors.unknown(
          name,
          nearest(
            name,
            tools.map((one) => one.name),
          ),
        );
      return JSON.stringify({ name: tool.name, description: tool.description, parameters: tool.input_schema });
    },
  });

/** Those with the most of the words, and of these the ones that have them in their names. */
export const ranked = (tools: readonly ToolInfo[], query: string): readonly ToolInfo[] => {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const scored = tools.map((tool) => ({ tool, score: words.reduce((sum, word) => sum + scoreOf(tool, word), 0) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
};

const scoreOf = ({ name, description }: ToolInfo, word: string): number => (name.toLowerCase().includes(word) ? NAME_WEIGHT : 0) + (description.toLowerCase().includes(word) ? 1 : 0);
