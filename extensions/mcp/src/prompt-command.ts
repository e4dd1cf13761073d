/**
 * Prompts of MCP servers as a command of conversations: `/prompt SERVER NAME [ARGUMENTS]` sends one to the agent.
 *
 * M1  The text of a prompt is of its server, whoever sends it: it is labelled so, and begins with a line of svc, so that it is never itself a command.
 * M2  An agent gets prompts of the servers that it is given, and of no others.
 */
import type { ContentBlock, GetPromptResult, Prompt } from '@modelcontextprotocol/client';
import { defineSlashCommand, isSvcError, type Logger, type OptionalHandle, type SlashAnswer, type SlashCall, type SlashCommand } from '@svc/api';
import type { AgentManifest, AgentsService } from '@svc/ext-agents/contract';
import type { RunsService, UploadsService } from '@svc/ext-runs/contract';
import type { LiveServer } from './client/live-server.js';
import { promptArguments } from './prompt-arguments.js';
import type { Servers } from './servers.js';
import { outputOf } from './tools.js';

const MAX_SHOWN = 200;
const MAX_CHARS = 200_000;

export interface PromptDeps {
  readonly agents: Pick<AgentsService, 'get'>;
  readonly servers: Pick<Servers, 'list'>;
  readonly runs: OptionalHandle<RunsService>;
  readonly uploads: OptionalHandle<UploadsService>;
  readonly log: Logger;
}

export const promptCommand = (deps: PromptDeps): SlashCommand =>
  defineSlashCommand({
    name: 'prompt',
    usage: '/prompt [SERVER NAME [ARGUMENT=VALUE …]]',
    summary: 'List the prompts of MCP servers, or send one to the agent',
    permission: 'runs.send',
    takes: 'text',
    order: 45,
    run: async (call) => {
      const servers = await given(deps, call);
      const [, wanted = '', name = '', rest = ''] = /^(\S*)\s*(\S*)\s*([\s\S]*)$/.exec(call.args) ?? [];
      if (wanted === '') return listed(servers, call);
      const server = servers.find(({ spec }) => spec.name === wanted) ?? servers.find(({ spec }) => spec.name.toLowerCase() === wanted.toLowerCase());
      if (!server) return { message: `This agent has no MCP server ${shortened(wanted)}. Send /prompt for the list.` };
      return name === '' ? listed([server], call) : send(deps, server, name, rest, call);
    },
  });

const shortened = (text: string): string => JSON.stringify(text.slice(0, 100));

const given = async ({ agents, servers }: PromptDeps, { actor, agentId }: SlashCall): Promise<LiveServer[]> => {
  const { manifest } = await agents.get(actor, agentId);
  return servers.list().filter(({ spec, state }) => spec.enabled && isGiven(manifest, spec.name) && state().status === 'connected');
};

const isGiven = ({ mcp_servers: named, mcp_disabled: isOff }: AgentManifest, name: string): boolean => isOff !== true && (named === undefined || named.includes('*') || named.includes(name));

const promptsOf = (server: LiveServer, { signal }: SlashCall): Promise<readonly Prompt[]> =>
  server.ask(async (client, options) => (client.getServerCapabilities()?.prompts ? (await client.listPrompts({}, options)).prompts : []), { signal });

const listed = async (servers: readonly LiveServer[], call: SlashCall): Promise<SlashAnswer> => {
  const found = await Promise.all(
    servers.map(async (server) => {
      try {
        return (await promptsOf(server, call)).map((prompt) => lineOf(server.spec.name, prompt));
      } catch (error) {
        if (!isSvcError(error)) throw error;
        return [error.message];
      }
    }),
  );
  const lines = found.flat();
  if (lines.length === 0) return { message: 'The MCP servers of this agent that are connected have no prompts.' };
  return { message: [...lines.slice(0, MAX_SHOWN), ...(lines.length > MAX_SHOWN ? [`${lines.length - MAX_SHOWN} more are left out.`] : [])].join('\n') };
};

const usageOf = (server: string, { name, arguments: args = [] }: Prompt): string =>
  ['/prompt', server, name, ...args.map(({ name: one, required }) => (required ? `${one}=…` : `[${one}=…]`))].join(' ');

const lineOf = (server: string, prompt: Prompt): string => `${usageOf(server, prompt)}  ${(prompt.description ?? prompt.title ?? '').replaceAll(/\s+/g, ' ').slice(0, 200)}`.trimEnd();

const send = async (deps: PromptDeps, server: LiveServer, name: string, rest: string, call: SlashCall): Promise<SlashAnswer> => {
  const { name: of } = server.spec;
  const prompt = (await promptsOf(server, call)).find((one) => one.name === name);
  if (!prompt) return { message: `The MCP server ${of} has no prompt ${shortened(name)}. Send /prompt ${of} for the list.` };
  const args = promptArguments(
    rest,
    (prompt.arguments ?? []).map((one) => one.name),
  );
  const missing = (prompt.arguments ?? []).filter((one) => one.required && args[one.name] === undefined).map((one) => one.name);
  if (missing.length > 0) return { message: `This prompt needs ${missing.join(', ')}: ${usageOf(of, prompt)}` };
  const service = deps.runs.value;
  if (!service) return { message: 'This daemon runs no agents now.' };
  const { messages } = await server.ask((client, options) => client.getPrompt({ name, arguments: args }, options), { signal: call.signal });
  const label = `${of}-${name}`;
  const { content, files = [] } = await outputOf({ content: blocksOf(messages) }, deps.uploads.value, { ...call, log: deps.log }, label);
  const { runId } = await service.submit(call.actor, {
    agentId: call.agentId,
    sessionId: call.sessionId,
    door: 'internal',
    parts: [{ type: 'text', text: `[Prompt ${name} of the MCP server ${of}]\n\n${content.slice(0, MAX_CHARS)}` }],
    ...(files.length > 0 ? { attachments: files.map(({ id: fileId }) => ({ fileId })) } : {}),
    origin: { labels: ['ExternalNetwork'], source: label },
  });
  return { message: `The prompt ${name} of ${of} was sent to the agent.`, data: { run_id: runId, session_id: call.sessionId } };
};

/** A prompt may be a short conversation. */
const blocksOf = (messages: GetPromptResult['messages']): ContentBlock[] => {
  const isTalk = messages.some(({ role }) => role === 'assistant');
  return messages.flatMap(({ role, content }): ContentBlock[] => (isTalk ? [{ type: 'text', text: `${role}:` }, content] : [content]));
};
