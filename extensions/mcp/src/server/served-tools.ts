/**
 * What this daemon offers to MCP clients.
 *
 * V1  Without a key: the tools of `[mcp] public_tools` and nothing else.
 * V2  With a key: `ask_agent`, and for owners and admins what `[tool_invoke]` allows. Each call runs for the caller and is decided like any direct call.
 */
import type { Server, Tool } from '@modelcontextprotocol/server';
import { type Actor, type Clock, isSvcError, matchesAny } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunsService } from '@svc/ext-runs/contract';
import type { ToolsService } from '@svc/ext-tools/contract';

const POLL_MS = 100;
const ASK = 'ask_agent';
const MAX_NAME_CHARS = 64;

export interface ServedDeps {
  readonly version: string;
  readonly clock: Clock;
  readonly agents: AgentsService;
  readonly runs: () => RunsService | undefined;
  readonly tools: () => ToolsService | undefined;
  readonly publicTools: () => readonly string[];
}

/** Who asks; undefined without a key. */
export type Caller = Actor | undefined;

const ASK_TOOL: Tool = {
  name: ASK,
  description: 'Sends a message to one of your svc agents and waits for its answer. The answer names the session, so that you can go on in it.',
  inputSchema: {
    type: 'object',
    properties: {
      agent: { type: 'string', description: 'Name or id of the agent' },
      message: { type: 'string', description: 'What to ask' },
      session_id: { type: 'string', description: 'A conversation to go on with; by default a new one is not begun, and the current one of the agent is used' },
    },
    required: ['agent', 'message'],
  },
};

export const mayInvoke = (caller: Caller): boolean => caller?.role === 'owner' || caller?.role === 'admin' || caller?.role === 'system';

/** In one order always. */
export const offered = async ({ tools, publicTools }: ServedDeps, caller: Caller): Promise<Tool[]> => {
  const service = tools();
  const all = service ? await service.all() : [];
  const names = caller === undefined ? publicTools() : mayInvoke(caller) && service ? (await service.invokable(caller)).allowlist : [];
  const shown = all
    .filter(({ name, input_schema: schema }) => name.length <= MAX_NAME_CHARS && matchesAny(names, name) && (schema as { type?: unknown } | null)?.type === 'object')
    .map(({ name, description, input_schema: schema }): Tool => ({ name, description: description || name, inputSchema: JSON.parse(JSON.stringify(schema)) as Tool['inputSchema'] }));
  return caller === undefined ? shown : [ASK_TOOL, ...shown];
};

interface Answer {
  [more: string]: unknown;
  content: Array<{ type: 'text'; text: string }>;
  isError?: boolean;
}

const said = (text: string, isError = false): Answer => ({ content: [{ type: 'text', text }], ...(isError ? { isError } : {}) });

/** Undefined for a tool that is not offered. */
export const callOffered = async (deps: ServedDeps, caller: Caller, name: string, args: Readonly<Record<string, unknown>>, actor: Actor, signal: AbortSignal): Promise<Answer | undefined> => {
  if (!(await offered(deps, caller)).some((tool) => tool.name === name)) return undefined;
  try {
    if (name === ASK && caller !== undefined) return await askAgent(deps, caller, args, signal);
    const result = await deps.tools()?.invoke(actor, { name, args, ...(caller === undefined ? { allow: [...deps.publicTools()] } : {}) }, { signal });
    return result ? said(result.content, result.isError) : said('This daemon has no tools now.', true);
  } catch (error) {
    if (!isSvcError(error) || error.status >= 500) throw error;
    return said(error.hint === undefined ? error.message : `${error.message} ${error.hint}`, true);
  }
};

const askAgent = async (
  { agents, runs, clock }: ServedDeps,
  actor: Actor,
  { agent: wanted, message, session_id: sessionId }: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Answer> => {
  const service = runs();
  if (typeof wanted !== 'string' || typeof message !== 'string' || message === '') return said('Send "agent" and "message" as texts.', true);
  const agent = await agents.find(actor, wanted);
  if (!agent || !service) return said(`There is no agent ${JSON.stringify(wanted.slice(0, 100))}.`, true);
  const { runId } = await service.submit(actor, {
    agentId: agent.id,
    parts: [{ type: 'text', text: message }],
    door: 'rest',
    via: { channel: 'mcp' },
    ...(typeof sessionId === 'string' ? { sessionId } : {}),
  });
  const stop = (): void => void service.stop(actor, { runId }, 'the MCP client cancelled its call');
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const run = await service.get(actor, runId);
      if (run.status === 'done' && run.result) return said(`${run.result.response}\n\n[session ${run.sessionId}]`);
      if (run.status === 'failed' || run.status === 'cancelled') return said(run.error?.message ?? 'The run was cancelled.', true);
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/** A server for one request. */
export const serverFor = async (deps: ServedDeps, caller: Caller, actor: Actor): Promise<Server> => {
  const { Server: McpServer, ProtocolError, ProtocolErrorCode } = await import('@modelcontextprotocol/server');
  const server = new McpServer({ name: 'svc', version: deps.version }, { capabilities: { tools: {}, resources: {}, prompts: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: await offered(deps, caller) }));
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const answer = await callOffered(deps, caller, params.name, params.arguments ?? {}, actor, mcpReq.signal);
    if (!answer) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    return { ...answer };
  });
  return server;
};
