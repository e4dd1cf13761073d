import { Type, defineConfig } from '@svc/api';
import { ServerEntry } from './server-spec.js';

export const McpServersSetting = defineConfig(
  '/mcp_servers',
  Type.Array(ServerEntry, {
    default: [],
    maxItems: 64,
    description: 'MCP servers that are set here and cannot be changed over the API. Values of env and headers are better stored with `svc mcp add`, which puts them into the vault',
    'x-security': true,
    'x-by-hand': 'it names programs that the daemon starts',
  }),
);

export const McpSection = defineConfig(
  'mcp',
  Type.Object(
    {
      public_tools: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        default: ['system_time'],
        maxItems: 200,
        description: 'Tools that everybody who reaches /mcp may call without a key: names, or patterns with `*`',
      }),
    },
    { additionalProperties: false, default: {}, 'x-security': true },
  ),
);
