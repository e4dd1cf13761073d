import { ErrorBody, OneOf, reply, type RouteDecl, routeGroup, Type, UuidText } from '@svc/api';
import type { ToolInfo, ToolResult, ToolsService } from '../contract.js';
import { callDirectly, type DirectDeps } from '../direct-call.js';
import { toolErrors } from '../errors.js';
import { similarNames } from '../call-policy.js';

const route = routeGroup({ area: 'tools' });

const MAX_NAME_CHARS = 200;
/** The largest arguments of a tool here: four million characters of a file, as JSON. */
const MAX_INPUT_BYTES = 8 * 1_048_576;
const INVOKE_COST = 10;

const Tool = Type.Object(
  {
    name: Type.String(),
    description: Type.String({ description: 'Description for the model' }),
    input_schema: Type.Unknown({ description: 'JSON Schema of the arguments' }),
    source: Type.String({ description: '`builtin`, the kind of what brought it, such as `mcp`, or the extension it comes from' }),
    mcp_server: Type.Optional(Type.String({ description: 'With `mcp`: which server brought it' })),
    risk: OneOf(['read', 'write', 'network', 'exec', 'agent'], { description: '`exec` needs the grant `shell`, `network` the grant `network`' }),
    replay: OneOf(['safe', 'keyed', 'never'], { description: 'What happens after a restart to a call with an unknown outcome' }),
    parallel: Type.Boolean({ description: 'Whether it can run in parallel with other calls of the same message' }),
  },
  { 'x-name': 'ToolInfo' },
);

const InvokeResult = Type.Object(
  {
    tool_use_id: Type.String({ description: '`rest-api`: not called by a model' }),
    tool_name: Type.String(),
    content: Type.String({ description: 'The text for the model; at most 64 KiB, with a note if it was cut' }),
    is_error: Type.Boolean(),
    status: OneOf(['completed', 'error', 'waiting_approval', 'denied', 'expired', 'skipped', 'outcome_unknown']),
    files: Type.Optional(Type.Array(Type.Object({ file_id: Type.String({ description: 'An upload: `GET /api/uploads/{file_id}`' }), filename: Type.String(), content_type: Type.String() }))),
  },
  { 'x-name': 'ToolResult' },
);

/** A tool that ran and failed: what it said, beside the fields of an error. */
const InvokeFailure = Type.Object({ ...ErrorBody.properties, ...InvokeResult.properties }, { 'x-name': 'ToolFailure' });

const NameParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS, description: 'Name of the tool', examples: ['file_read'] }) });

export type ToolRouteDeps = DirectDeps & { readonly tools: Pick<ToolsService, 'all' | 'decide' | 'execute'> };

export const toolRoutes = (deps: ToolRouteDeps): RouteDecl[] => [listTools(deps), getTool(deps), invokeTool(deps)];

const listTools = ({ tools }: ToolRouteDeps): RouteDecl =>
  route({
    id: 'listTools',
    method: 'GET',
    path: '/api/tools',
    summary: 'List tools',
    description:
      "All available tools by name: built-in ones and those of extensions that are on. An agent's manifest decides which of them it can use: `GET /api/agents/{id}/tools`. Tools that need setup are listed once they are configured: `web_search` needs a search provider under `[web]`.",
    responses: { 200: Type.Object({ tools: Type.Array(Tool), total: Type.Integer() }) },
    handler: async () => {
      const found = await tools.all();
      return reply(200, { tools: found.map(shownTool), total: found.length });
    },
  });

const shownTool = ({ from, ...tool }: ToolInfo) => ({ ...tool, ...(from?.kind === 'mcp' ? { mcp_server: from.name } : {}) });

const getTool = ({ tools, registry }: ToolRouteDeps): RouteDecl =>
  route({
    id: 'getTool',
    method: 'GET',
    path: '/api/tools/{name}',
    summary: 'Get a tool',
    description: 'The same as its entry in `GET /api/tools`. A tool that exists but cannot be called now answers 404 `tools_unavailable`, which says what is missing.',
    params: NameParams,
    errors: [404],
    responses: { 200: Tool },
    handler: async ({ params: { name } }) => {
      const found: ToolInfo | undefined = (await tools.all()).find((tool) => tool.name === name);
      if (found) return reply(200, shownTool(found));
      const lack = registry.find(name) ? registry.unavailable(name) : undefined;
      throw lack === undefined ? toolErrors.unknown(name, await similarNames(registry, name)) : toolErrors.unavailable(name, lack);
    },
  });

const invokeTool = (deps: ToolRouteDeps): RouteDecl =>
  route({
    id: 'invokeTool',
    method: 'POST',
    path: '/api/tools/{name}/invoke',
    summary: 'Call a tool directly',
    description: [
      "Calls a tool without a model. The body is the tool's input; see its schema in `GET /api/tools/{name}`. Only for owners and admins, and only for tools listed in `[tool_invoke]` of config.toml:",
      '```toml\n[tool_invoke]\nenabled = true\nallowlist = ["system_time", "file_*"]\n```',
      "With `agent_id` the call has that agent's capabilities and runs in its folder. Without it the call has what your role may grant, runs in the folder that holds those of all agents, and tools whose work belongs to an agent (processes) refuse it.",
      'The same policies apply as in a run, and the call ends when you disconnect. Calls that need approval are refused. If the tool ran and failed, the status is 400 with the code `tools_call_failed`, and the body has the fields of a result and of an error.',
    ].join('\n\n'),
    permission: 'tools.admin',
    cost: INVOKE_COST,
    params: NameParams,
    query: Type.Object({ agent_id: Type.Optional(UuidText('The agent whose capabilities and folder are used')) }),
    body: Type.Object({}, { additionalProperties: true, description: 'The input of the tool' }),
    bodyRule: 'optional',
    examples: {
      'get the time (system_time)': {},
      'read the beginning of a file (file_read)': { path: 'notes.md', limit: 20 },
      'run a command (shell_exec)': { command: 'git status --short', timeout_seconds: 30 },
    },
    maxBodyBytes: MAX_INPUT_BYTES,
    errors: [403, 404, 429, 502],
    responses: { 200: InvokeResult, 400: Type.Union([InvokeFailure, ErrorBody]) },
    handler: async ({ actor, params: { name }, query, body, signal, log, id }) => {
      const result = await callDirectly(deps, { actor, name, args: body, agentId: query.agent_id, signal, log });
      const shown = resultOf(name, result);
      return result.isError ? reply(400, { ...shown, error: result.content, code: 'tools_call_failed', request_id: id }) : reply(200, shown);
    },
  });

const resultOf = (name: string, { content, isError, status, files }: ToolResult) => ({
  tool_use_id: 'rest-api',
  tool_name: name,
  content,
  is_error: isError,
  status,
  ...(files ? { files: files.map(({ id, name: filename, mediaType }) => ({ file_id: id, filename, content_type: mediaType })) } : {}),
});
