/**
 * Letta: agent files (.af) and the memory folder of its command line.
 *
 * T1  Tools of Letta are code: they are named, and never run or stored.
 */
import type { ForeignDir } from '@svc/api';
import { parse } from 'yaml';
import { migrateErrors } from '../errors.js';
import { argsOf, assistantEntry, callEntry, messageEntries, noteEntry, type Origin, readContent, resultEntry } from './entries.js';
import { isFolder, jsonAt, namesIn, reasonOf, textAt } from './files.js';
import { isTable, listOf, type Source, type SourceAgent, type SourceMemory, type SourceMessage, type SourceRemark, type SourceSession, type Table, tableOf, textOf, timeOf } from './model.js';

interface AgentFile {
  readonly path: string;
  readonly data: Table;
}

export const openLetta = async (dir: ForeignDir, only?: string): Promise<Source> => {
  const warnings: string[] = [];
  const remarks: SourceRemark[] = [];
  const files = await agentFiles(dir, only, remarks);
  const agents: SourceAgent[] = [];
  const logs = new Map<string, readonly unknown[]>();
  for (const { path, data } of files) {
    const blocks = new Map(
      listOf(data.blocks)
        .filter(isTable)
        .map((block) => [String(block.id), block]),
    );
    const tools = new Map(
      listOf(data.tools)
        .filter(isTable)
        .map((tool) => [String(tool.id), tool]),
    );
    for (const agent of agentsIn(data)) {
      const key = textOf(agent.id) === undefined ? path : `${path}#${String(agent.id)}`;
      const own = [...byIds(blocks, agent.block_ids), ...listOf(agent.core_memory).filter(isTable), ...listOf(agent.blocks).filter(isTable)];
      const named = [...byIds(tools, agent.tool_ids), ...listOf(agent.tools).filter(isTable)];
      for (const tool of named)
        remarks.push({
          kind: 'Tool',
          name: `${textOf(agent.name) ?? key}: ${textOf(tool.name) ?? 'tool'}`,
          reason: 'tools of Letta are code, which svc does not run; write a skill or an MCP server instead',
        });
      agents.push(agentOf(key, agent, own, named));
      logs.set(key, listOf(agent.messages));
    }
    for (const file of [...listOf(data.files), ...listOf(data.sources)].filter(isTable))
      remarks.push({ kind: 'Config', name: textOf(file.file_name) ?? textOf(file.name) ?? 'file', reason: 'files and folders of Letta are not taken over; upload them to the agent' });
  }
  if (only === undefined) agents.push(...(await folderAgents(dir)));
  return {
    type: 'letta',
    dir,
    version: null,
    hasConfig: files.length > 0,
    warnings,
    agents,
    skills: [],
    channels: [],
    crons: [],
    remarks,
    secrets: [],
    sessions: async function* (agent) {
      const messages = logs.get(agent);
      if (messages && messages.length > 0) yield sessionOf(agent, messages);
    },
    countSessions: async () => Promise.resolve([...logs.values()].filter((messages) => messages.length > 0).length),
    close: () => Promise.resolve(),
  };
};

const byIds = (known: ReadonlyMap<string, Table>, ids: unknown): Table[] => listOf(ids).flatMap((id) => [known.get(String(id))].filter(isTable));

const agentFiles = async (dir: ForeignDir, only: string | undefined, remarks: SourceRemark[]): Promise<AgentFile[]> => {
  const found: AgentFile[] = [];
  for (const path of (await namesIn(dir, '', 'file')).filter((name) => name.endsWith('.af') && (only === undefined || name === only))) {
    try {
      const data = tableOf(await jsonAt(dir, path));
      if (agentsIn(data).length === 0) throw migrateErrors.unknown_version('Letta', path, 'it has no agents');
      found.push({ path, data });
    } catch (error) {
      remarks.push({ kind: 'Agent', name: path, reason: reasonOf(error) });
    }
  }
  return found;
};

/** An agent file of before had one agent, and its fields at the top. */
const agentsIn = (data: Table): Table[] => {
  const listed = listOf(data.agents).filter(isTable);
  return listed.length > 0 ? listed : Array.isArray(data.messages) && (data.name !== undefined || data.system !== undefined) ? [data] : [];
};

const agentOf = (key: string, agent: Table, blocks: readonly Table[], tools: readonly Table[]): SourceAgent => {
  const llm = tableOf(agent.llm_config);
  const [given, model] = textOf(agent.model)?.includes('/')
    ? [String(agent.model).split('/')[0], String(agent.model).split('/').slice(1).join('/')]
    : [textOf(llm.model_endpoint_type), textOf(llm.model)];
  const system = textOf(agent.system);
  return {
    key,
    name: textOf(agent.name) ?? key,
    description: textOf(agent.description) ?? '',
    format: 'Letta agent file',
    provider: given === 'google_ai' ? 'gemini' : (given ?? null),
    model: model ?? null,
    manifest: { model: system === undefined ? {} : { system_prompt: system.slice(0, 65_000) }, capabilities: { memory_read: ['*'], memory_write: ['*'] } },
    tools: tools.flatMap(({ name }) => textOf(name) ?? []),
    files: [],
    memories: blocks.flatMap((block) => {
      const value = textOf(block.value);
      return value === undefined
        ? []
        : [{ key: textOf(block.id) ?? `${key}/${String(block.label)}`, content: `${textOf(block.label) ?? 'memory'}: ${value}`.slice(0, 8_000), category: textOf(block.label) ?? 'block' }];
    }),
    pairs: [],
  };
};

const sessionOf = (agent: string, messages: readonly unknown[]): SourceSession => {
  const first = messages.map((message) => timeOf(tableOf(message).created_at)).find((at) => at !== undefined) ?? '1970-01-01T00:00:00.000Z';
  return {
    key: agent,
    agent,
    label: null,
    createdAt: first,
    messages: async function* () {
      let at = first;
      for (const message of messages) {
        at = timeOf(tableOf(message).created_at) ?? at;
        yield* [messageOf(tableOf(message), { at, via: { channel: 'letta', chat: agent.slice(0, 200) } })];
        await Promise.resolve();
      }
    },
  };
};

const messageOf = (message: Table, origin: Origin): SourceMessage => {
  const role = textOf(message.role) ?? 'user';
  const content = message.content ?? message.text;
  if (role === 'tool') {
    const returned = listOf(message.tool_returns).filter(isTable)[0] ?? {};
    return { entries: [resultEntry(origin, textOf(message.tool_call_id) ?? textOf(returned.tool_call_id) ?? '', textOf(message.name) ?? 'unknown', wordsOf(content), returned.status === 'error')] };
  }
  if (role === 'system') return { entries: [noteEntry(origin, wordsOf(content))] };
  const calls = listOf(message.tool_calls).filter(isTable);
  if (role !== 'assistant' || calls.length === 0) return messageEntries(origin, role, content);
  const { parts, thoughts } = readContent(content);
  const spoken = calls.flatMap((call) => (tableOf(call.function).name === 'send_message' ? (textOf(tableOf(argsOf(tableOf(call.function).arguments)).message) ?? []) : []));
  return {
    entries: [
      assistantEntry(
        origin,
        spoken.length > 0 ? spoken.map((text) => ({ type: 'text' as const, text })) : parts,
        spoken.length > 0 ? [thoughts, wordsOf(content)].filter((text) => text !== '').join('\n') : thoughts,
      ),
      ...calls.map((call) => callEntry(origin, textOf(call.id) ?? '', textOf(tableOf(call.function).name) ?? 'unknown', argsOf(tableOf(call.function).arguments))),
    ],
  };
};

const wordsOf = (content: unknown): string =>
  readContent(content)
    .parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');

/** `agents/ID/memory/system/*.md`, each with YAML before its text. */
const folderAgents = async (dir: ForeignDir): Promise<SourceAgent[]> => {
  const agents: SourceAgent[] = [];
  for (const id of await namesIn(dir, 'agents', 'dir')) {
    const root = `agents/${id}/memory`;
    if (!(await isFolder(dir, root))) continue;
    const memories: SourceMemory[] = [];
    for (const folder of ['', 'system']) {
      const path = folder === '' ? root : `${root}/${folder}`;
      for (const name of (await namesIn(dir, path, 'file')).filter((one) => one.endsWith('.md'))) {
        const { about, text } = frontMatter((await textAt(dir, `${path}/${name}`)) ?? '');
        const label = name.replace(/\.md$/, '');
        const said = textOf(about.description);
        if (text !== '') memories.push({ key: `${id}/${folder}/${name}`, content: `${label}${said === undefined ? '' : ` (${said})`}: ${text}`.slice(0, 8_000), category: label.slice(0, 100) });
      }
    }
    agents.push({
      key: `agents/${id}`,
      name: id,
      description: '',
      format: 'Letta memory folder',
      provider: null,
      model: null,
      manifest: { capabilities: { memory_read: ['*'], memory_write: ['*'] } },
      tools: [],
      files: [],
      memories,
      pairs: [],
    });
  }
  return agents;
};

const frontMatter = (text: string): { about: Table; text: string } => {
  const [, head, rest] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text) ?? [];
  if (head === undefined) return { about: {}, text: text.trim() };
  try {
    return { about: tableOf(parse(head)), text: (rest ?? '').trim() };
  } catch {
    return { about: {}, text: (rest ?? '').trim() };
  }
};
