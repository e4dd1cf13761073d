/**
 * Resources of a server, as two of its tools: what there is to read, and one of it.
 *
 * R1  A server has them where it has something to read; its own tools of these names go before.
 */
import type { CallToolResult, Client, RequestOptions } from '@modelcontextprotocol/client';
import type { ServerTool } from './server-tools.js';

const LOOK_MS = 10_000;
const MAX_LISTED = 500;
const MAX_CHARS = 500;

export const RESOURCE_TOOLS: readonly ServerTool[] = [
  {
    name: 'list_resources',
    description: 'Lists what this MCP server offers to read: addresses (URIs) with names, and patterns of addresses.',
    input_schema: { type: 'object', properties: {}, additionalProperties: false },
    serves: 'resources/list',
  },
  {
    name: 'read_resource',
    description: 'Reads one resource of this MCP server by its address. list_resources shows the addresses.',
    input_schema: {
      type: 'object',
      properties: { uri: { type: 'string', minLength: 1, maxLength: 4_000, description: 'As list_resources shows it, or made from a pattern' } },
      required: ['uri'],
      additionalProperties: false,
    },
    serves: 'resources/read',
  },
];

export const withResources = (tools: readonly ServerTool[], hasSome: boolean): readonly ServerTool[] => {
  const own = new Set(tools.map(({ name }) => name));
  return hasSome ? [...tools, ...RESOURCE_TOOLS.filter(({ name }) => !own.has(name))] : tools;
};

/** A server that cannot say it has none: its tools are what people added it for. */
export const hasResources = async (client: Client): Promise<boolean> => {
  if (!client.getServerCapabilities()?.resources) return false;
  const options = { timeout: LOOK_MS };
  const some = async (look: () => Promise<readonly unknown[]>): Promise<boolean> => {
    try {
      return (await look()).length > 0;
    } catch {
      return false;
    }
  };
  return (await some(async () => (await client.listResources({}, options)).resources)) || (await some(async () => (await client.listResourceTemplates({}, options)).resourceTemplates));
};

type Question = (client: Client, options: RequestOptions) => Promise<CallToolResult>;

/** What a tool of these asks its server. */
export const resourceQuestion = (serves: NonNullable<ServerTool['serves']>, { uri }: Readonly<Record<string, unknown>>): Question => {
  if (serves === 'resources/list') return listed;
  return async (client, options) => {
    const { contents } = await client.readResource({ uri: String(uri) }, options);
    return { content: contents.map((resource) => ({ type: 'resource', resource })) };
  };
};

const listed: Question = async (client, options) => {
  const { resources } = await client.listResources({}, options);
  // Servers without patterns need not know the question.
  const patterns = await client.listResourceTemplates({}, options).then(
    ({ resourceTemplates }) => resourceTemplates,
    () => [],
  );
  const lines = [
    ...resources.map(({ uri, name, mimeType, description }) => lineOf(uri, name, mimeType, description)),
    ...patterns.map(({ uriTemplate, name, mimeType, description }) => lineOf(`pattern ${uriTemplate}`, name, mimeType, description)),
  ];
  const left = lines.length - MAX_LISTED;
  return { content: [{ type: 'text', text: [...lines.slice(0, MAX_LISTED), ...(left > 0 ? [`[${left} more are left out.]`] : [])].join('\n') || 'The server has nothing to read now.' }] };
};

const lineOf = (uri: string, name: string, type = '', about = ''): string =>
  [uri, name, type, about.replaceAll(/\s+/g, ' ')]
    .filter((part) => part !== '')
    .join(' · ')
    .slice(0, MAX_CHARS);
