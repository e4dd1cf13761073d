import { defineRoute, OneOf, reply, type RouteDecl, Type } from '@svc/api';
import type { ToolsService } from './contract.js';

const Tool = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    input_schema: Type.Unknown({ description: 'JSON Schema of the arguments' }),
    source: Type.String({ description: '`builtin`, `mcp`, or the extension it comes from' }),
    risk: OneOf(['read', 'write', 'network', 'exec', 'agent']),
    replay: OneOf(['safe', 'keyed', 'never'], { description: 'What a restart does with a call whose outcome is not known' }),
    parallel: Type.Boolean(),
  },
  { 'x-name': 'ToolInfo' },
);

export const toolRoutes = (tools: ToolsService): RouteDecl[] => [
  defineRoute({
    id: 'listTools',
    method: 'GET',
    path: '/api/tools',
    summary: 'Every tool that an agent could be allowed to call',
    auth: 'bearer',
    permission: 'tools.read',
    cost: 1,
    responses: { 200: Type.Object({ tools: Type.Array(Tool), total: Type.Integer() }) },
    handler: async () => {
      const found = await tools.all();
      return reply(200, { tools: found, total: found.length });
    },
  }),
];
