/**
 * What this daemon offers to MCP clients.
 *
 * V1  Without a key: the tools of `[mcp] public_tools` and nothing else.
 * V2  With a key: `ask_agent`, and for owners and admins what `[tool_invoke]` allows. Each call runs for the caller and is decided like any direct call.
 * V3  A client that asks for it learns every two seconds that an agent is at work. A call that ends stops the run.
 */
import type { ContentBlock, Server, Tool } from '@modelcontextprotocol/server';
import { type Actor, type Clock, isSvcError, matchesAny } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { RunsService, UploadsService } from '@svc/ext-runs/contract';
import type { ToolResult, ToolsService } from '@svc/ext-tools/contract';
import { type Caller, type PromptDeps, promptOf, promptsOf } from './served-prompts.js';
import { readResourceOf, RESOURCE_PATTERNS, type ResourceDeps, resourcesOf } from './served-resources.js';

const POLL_MS = 100;
/** A client that sees progress waits longer than one that sees nothing. */
const LOOKS_A_PROGRESS = 20;
const MAX_FILES = 20;
const MAX_FILE_BYTES = 4 * 1_048_576;
const ASK = 'ask_agent';
const MAX_NAME_CHARS = 64;

export interface ServedDeps extends Omit<ResourceDeps, 'agents'>, PromptDeps {
  readonly version: string;
  readonly clock: Clock;
  readonly agents: AgentsService;
  readonly runs: () => RunsService | undefined;
  readonly tools: () => ToolsService | undefined;
  readonly uploads: () => UploadsService | undefined;
  readonly publicTools: () => readonly string[];
}

/** One call of a client. */
export interface ServedCall {
  readonly signal: AbortSignal;
  /** Where the client asked for it. */
  readonly progress?: ((done: number, message: string) => Promise<void>) | undefined;
}

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
  content: ContentBlock[];
  isError?: boolean;
}

const said = (text: string, isError = false): Answer => ({ content: [{ type: 'text', text }], ...(isError ? { isError } : {}) });

/** Files of a result go along, as far as they fit into an answer. */
const answerOf = async ({ uploads }: ServedDeps, actor: Actor, { content, isError, files = [] }: ToolResult): Promise<Answer> => {
  const service = uploads();
  const blocks: ContentBlock[] = content === '' && files.length > 0 ? [] : [{ type: 'text', text: content }];
  for (const { id, name } of files.slice(0, MAX_FILES)) {
    const file = await service?.read(actor, id, MAX_FILE_BYTES);
    blocks.push(file ? blockOf(file) : { type: 'text', text: `[The file ${name} is too large for an answer, or gone. It is the upload ${id}.]` });
  }
  return { content: blocks, ...(isError ? { isError } : {}) };
};

const blockOf = ({ id, filename, contentType: mimeType, data }: NonNullable<Awaited<ReturnType<UploadsService['read']>>>): ContentBlock => {
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  const uri = `svc://uploads/${id}/${encodeURIComponent(filename)}`;
  const isText = /^(?:text\/|application\/json\b)/.test(mimeType);
  return { type: 'resource', resource: isText ? { uri, mimeType, text: Buffer.from(data, 'base64').toString('utf8') } : { uri, mimeType, blob: data } };
};

/** Undefined for a tool that is not offered. */
export const callOffered = async (deps: ServedDeps, caller: Caller, name: string, args: Readonly<Record<string, unknown>>, actor: Actor, call: ServedCall): Promise<Answer | undefined> => {
  if (!(await offered(deps, caller)).some((tool) => tool.name === name)) return undefined;
  try {
    if (name === ASK && caller !== undefined) return await askAgent(deps, caller, args, call);
    const result = await deps.tools()?.invoke(actor, { name, args, ...(caller === undefined ? { allow: [...deps.publicTools()] } : {}) }, { signal: call.signal });
    return result ? await answerOf(deps, actor, result) : said('This daemon has no tools now.', true);
  } catch (error) {
    if (!isSvcError(error) || error.status >= 500) throw error;
    return said(error.hint === undefined ? error.message : `${error.message} ${error.hint}`, true);
  }
};

const askAgent = async (
  { agents, runs, clock }: ServedDeps,
  actor: Actor,
  { agent: wanted, message, session_id: sessionId }: Readonly<Record<string, unknown>>,
  { signal, progress }: ServedCall,
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
    for (let looks = 0; ; looks++) {
      const run = await service.get(actor, runId);
      if (looks % LOOKS_A_PROGRESS === 0) await progress?.(looks / LOOKS_A_PROGRESS, `${agent.name}: ${run.status}`);
      if (run.status === 'done' && run.result) return said(`${run.result.response}\n\n[session ${run.sessionId}]`);
      if (run.status === 'failed' || run.status === 'cancelled') return said(run.error?.message ?? 'The run was cancelled.', true);
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

type Params = Readonly<Record<string, unknown>>;

/** What a client may ask for beside tools, for both ways to speak. Undefined: there is no such thing. */
export const LISTS: Readonly<
  Record<'resources/list' | 'resources/templates/list' | 'resources/read' | 'prompts/list' | 'prompts/get', (deps: ServedDeps, caller: Caller, params: Params) => Promise<object | undefined>>
> = {
  'resources/list': (deps, caller, { cursor }) => resourcesOf(deps, caller, cursor),
  'resources/templates/list': async (_deps, caller) => ({ resourceTemplates: caller === undefined ? [] : [...RESOURCE_PATTERNS] }),
  'resources/read': (deps, caller, { uri }) => readResourceOf(deps, caller, uri),
  'prompts/list': async (deps, caller) => ({ prompts: await promptsOf(deps, caller) }),
  'prompts/get': (deps, caller, { name, arguments: args }) => promptOf(deps, caller, name, (args ?? {}) as Params),
};

export const NOT_FOUND = 'There is no such resource, prompt or page here, or you may not see it.';

/** A server for one request. */
export const serverFor = async (deps: ServedDeps, caller: Caller, actor: Actor): Promise<Server> => {
  const { Server: McpServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError } = await import('@modelcontextprotocol/server');
  const server = new McpServer({ name: 'svc', version: deps.version }, { capabilities: { tools: {}, resources: {}, prompts: {} } });
  const found = async (method: keyof typeof LISTS, params: Params): Promise<never> => {
    try {
      const answer = await LISTS[method](deps, caller, params);
      if (answer !== undefined) return answer as never;
    } catch (error) {
      if (!isSvcError(error) || error.status >= 500) throw error;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    }
    throw method === 'resources/read' ? new ResourceNotFoundError(String(params.uri), NOT_FOUND) : new ProtocolError(ProtocolErrorCode.InvalidParams, NOT_FOUND);
  };
  server.setRequestHandler('tools/list', async () => ({ tools: await offered(deps, caller) }));
  for (const method of Object.keys(LISTS) as Array<keyof typeof LISTS>) server.setRequestHandler(method, ({ params = {} }) => found(method, params as Params));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const token = mcpReq._meta?.progressToken;
    const progress =
      token === undefined ? undefined : (done: number, message: string) => mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token, progress: done, message } });
    const answer = await callOffered(deps, caller, params.name, params.arguments ?? {}, actor, { signal: mcpReq.signal, progress });
    if (!answer) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    return { ...answer };
  });
  return server;
};
