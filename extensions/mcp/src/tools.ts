/**
 * Tools of MCP servers among the tools of agents.
 *
 * T1  They are offered from the stored list, whether or not their server is connected; a call connects it.
 * T2  Being given the server is the grant: no other capability is needed. What a server says of its tools lowers no check: each is a `write` of the open world, never repeated.
 * T3  Pictures and files of a result are uploads of the call's owner, named in the text; their bytes are never in it.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { type AnyTool, type Disposable, isSvcError, type OptionalHandle, type ToolCall, type ToolFile, toolNames, type ToolOutput } from '@svc/api';
import type { UploadsService } from '@svc/ext-runs/contract';
import type { LiveServer } from './client/live-server.js';
import { resourceQuestion } from './client/server-resources.js';
import type { ServerTool } from './client/server-tools.js';

/** Beyond the time of the server itself, which is what counts. */
const SPARE_MS = 10_000;
const RENEWALS = 11;
const MAX_FILES = 20;

export interface OfferedTool {
  readonly name: string;
  readonly server: string;
  readonly tool: ServerTool;
}

export interface ToolOffer {
  /** Makes what is offered these. */
  set(servers: ReadonlyArray<{ readonly name: string; readonly timeoutSecs: number; readonly tools: readonly ServerTool[] }>): Promise<void>;
  of(server: string): readonly OfferedTool[];
}

export interface ToolOfferDeps {
  add(tool: AnyTool): Disposable;
  server(name: string): LiveServer | undefined;
  readonly uploads: OptionalHandle<UploadsService>;
}

interface Entry extends OfferedTool {
  readonly key: string;
  readonly handle: Disposable;
}

export const createToolOffer = (deps: ToolOfferDeps): ToolOffer => {
  let entries = new Map<string, Entry>();
  let turn: Promise<void> = Promise.resolve();
  const apply = async (servers: Parameters<ToolOffer['set']>[0]): Promise<void> => {
    const all = servers.flatMap(({ name: server, timeoutSecs, tools }) => tools.map((tool) => ({ server, timeoutSecs, tool })));
    const names = await toolNames(
      'mcp',
      all.map(({ server, tool }) => ({ owner: server, tool: tool.name })),
    );
    const next = new Map<string, Entry>();
    const wanted = all.map((one, index) => ({ ...one, name: names[index] ?? '', key: JSON.stringify([one.server, one.timeoutSecs, one.tool]) }));
    const staying = new Set(wanted.filter(({ name, key }) => entries.get(name)?.key === key).map(({ name }) => name));
    for (const [name, { handle }] of entries) if (!staying.has(name)) await handle.dispose();
    for (const { name, key, server, timeoutSecs, tool } of wanted) {
      if (next.has(name)) continue;
      const known = staying.has(name) ? entries.get(name) : undefined;
      next.set(name, known ?? { name, key, server, tool, handle: deps.add(asTool(deps, name, server, timeoutSecs, tool)) });
    }
    entries = next;
  };
  return {
    set: (servers) => (turn = turn.then(() => apply(servers))),
    of: (server) => [...entries.values()].filter((entry) => entry.server === server),
  };
};

const asTool = ({ server: serverNamed, uploads }: ToolOfferDeps, name: string, server: string, timeoutSecs: number, tool: ServerTool): AnyTool => ({
  name,
  description: tool.description === '' ? `The tool ${tool.name} of the MCP server ${server}.` : tool.description,
  // A schema of somebody else, of which `usableTools` has shown that values can be checked by it.
  params: tool.input_schema as AnyTool['params'],
  risk: 'write',
  replay: 'never',
  parallel: false,
  source: { kind: 'mcp', name: server },
  timeoutMs: timeoutSecs * 1_000 * RENEWALS + SPARE_MS,
  run: async (args, call) => {
    const live = serverNamed(server);
    if (!live) return { content: `The MCP server ${server} was removed.`, isError: true };
    const given = args as Readonly<Record<string, unknown>>;
    const result = tool.serves ? await live.ask(resourceQuestion(tool.serves, given), { signal: call.signal }) : await live.call(tool.name, given, { signal: call.signal });
    return outputOf(result, uploads.value, call, `${server}-${tool.name}`);
  },
});

export const outputOf = async (
  { content = [], structuredContent, isError }: CallToolResult,
  uploads: UploadsService | undefined,
  call: Pick<ToolCall, 'actor' | 'agentId' | 'log'>,
  label: string,
): Promise<ToolOutput> => {
  const texts: string[] = [];
  const files: ToolFile[] = [];
  for (const block of content) {
    const file = fileOf(block, `${label}-${files.length + 1}`.replace(/[^A-Za-z0-9_.-]/g, '_'));
    if (file === undefined) texts.push(textOf(block));
    else if (files.length >= MAX_FILES) texts.push(`[One more file was left out: a result has at most ${MAX_FILES}.]`);
    else texts.push(await stored(file, uploads, call, files));
  }
  if (content.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  return {
    content: texts.join('\n\n') || 'The tool gave no output.',
    ...(isError ? { isError: true } : {}),
    ...(files.length > 0 ? { files } : {}),
    origin: { labels: ['ExternalNetwork'], source: label },
  };
};

interface Blob {
  readonly name: string;
  readonly mediaType: string | undefined;
  readonly data: string;
}

const fileOf = (block: ContentBlock, name: string): Blob | undefined => {
  if (block.type === 'image' || block.type === 'audio') return { name: `${name}.${block.mimeType.split('/')[1]?.replace(/[^a-z0-9]/gi, '') ?? 'bin'}`, mediaType: block.mimeType, data: block.data };
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined;
  return { name: block.resource.uri.split('/').at(-1)?.slice(0, 100) || name, mediaType: block.resource.mimeType, data: String(block.resource.blob) };
};

const textOf = (block: ContentBlock): string => {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return `[Resource: ${block.name}, ${block.uri}]`;
  if (block.type === 'resource' && 'text' in block.resource) return `[${block.resource.uri}]\n${block.resource.text}`;
  return `[Content of the type ${block.type}, which is not shown.]`;
};

const stored = async (
  { name, mediaType, data }: Blob,
  uploads: UploadsService | undefined,
  { actor, agentId, log }: Pick<ToolCall, 'actor' | 'agentId' | 'log'>,
  files: ToolFile[],
): Promise<string> => {
  const size = `${Math.floor((data.length * 3) / 4).toLocaleString('en')} bytes`;
  if (!uploads) return `[A file of ${size} was left out: this daemon stores no uploads.]`;
  try {
    const { id, filename, contentType } = await uploads.create(actor, { agentId, filename: name, data, ...(mediaType === undefined ? {} : { contentType: mediaType }) });
    files.push({ id, name: filename, mediaType: contentType });
    return `[${contentType.startsWith('image/') ? 'Picture' : 'File'}: ${filename} (${contentType}, ${size}), stored as the upload ${id}]`;
  } catch (error) {
    if (!isSvcError(error)) throw error;
    log.warn('a file of an MCP server could not be stored', { file: name, cause: error });
    return `[The file ${name} (${mediaType ?? 'of no type'}, ${size}) was left out: ${error.message}]`;
  }
};
