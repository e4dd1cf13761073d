/**
 * Homes of Hermes.
 *
 * H1  A conversation that Hermes compressed goes on in another session: the chain is one conversation, in its order.
 * H2  A session that begins with the messages of the one before it is a branch of that.
 * H3  Messages that were rewound (`active` is 0) are not part of a conversation.
 */
import type { ForeignDatabase, ForeignDir } from '@svc/api';
import { parse } from 'yaml';
import { migrateErrors } from '../errors.js';
import { argsOf, assistantEntry, callEntry, messageEntries, noteEntry, type Origin, readContent, resultEntry } from './entries.js';
import { columnsOf, envLines, holdersOf, isFile, jsonAt, memoriesIn, modelOf, namesIn, providerOfVariable, reasonOf, skillsIn, textAt } from './files.js';
import { isTable, listOf, type Source, type SourceCron, type SourceMemory, type SourceMessage, type SourceRemark, type SourceSession, type Table, tableOf, textOf, timeOf } from './model.js';

const KNOWN_SCHEMA = 60;
const AGENT = 'hermes';
const PAGE_ROWS = 1_000;
const CHANNEL = /^[a-z][a-z0-9_-]{0,63}$/;

interface SessionRow {
  readonly id: string;
  readonly source: string | null;
  readonly title: string | null;
  readonly parent: string | null;
  readonly started: number | string | null;
  readonly ended: string | null;
}

interface MessageRow {
  readonly id: number;
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls: string | null;
  readonly tool_call_id: string | null;
  readonly tool_name: string | null;
  readonly timestamp: number | string | null;
  readonly reasoning: string | null;
}

export const openHermes = async (dir: ForeignDir): Promise<Source> => {
  const warnings: string[] = [];
  const remarks: SourceRemark[] = [];
  const config = await configOf(dir, warnings);
  const pid = tableOf(await jsonAt(dir, 'gateway.pid').catch(() => undefined)).pid;
  const running = [...new Set([...((await isFile(dir, 'state.db')) ? await holdersOf(dir, ['state.db']) : []), ...(typeof pid === 'number' && dir.isRunning(pid) ? [pid] : [])])];
  if (running.length > 0) warnings.push(`Hermes is running (process ${running.join(', ')}): what it writes from now on is not imported. Run the import once more after you have stopped it.`);
  const database = (await isFile(dir, 'state.db')) ? await openState(dir, warnings) : undefined;
  const { provider, model } = modelOf(tableOf(config.model).default ?? tableOf(config.model).model ?? config.model);
  const memories: SourceMemory[] = [];
  for (const name of (await namesIn(dir, 'memories', 'file')).filter((one) => one.endsWith('.md'))) memories.push(...memoriesIn((await textAt(dir, `memories/${name}`)) ?? '', `memories/${name}`));
  const identity = (await isFile(dir, 'SOUL.md')) ? [{ path: 'SOUL.md', to: '.identity/SOUL.md' }] : [];
  return {
    type: 'hermes',
    dir,
    version: database ? `schema ${await versionOf(database)}` : null,
    hasConfig: Object.keys(config).length > 0,
    warnings,
    agents: [
      {
        key: AGENT,
        name: AGENT,
        description: 'From Hermes',
        format: 'Hermes home',
        provider: textOf(tableOf(config.model).provider) ?? provider,
        model,
        manifest: { capabilities: { memory_read: ['*'], memory_write: ['*'], network: ['*'] } },
        tools: listOf(config.toolsets).filter((one): one is string => typeof one === 'string'),
        files: identity,
        memories,
        pairs: [],
      },
    ],
    skills: await skillsIn(dir, 'skills'),
    channels: Object.keys(tableOf(config.platforms ?? config.gateway)).filter((name) => CHANNEL.test(name)),
    crons: await cronsOf(dir, remarks),
    remarks,
    secrets: envLines((await textAt(dir, '.env')) ?? '').map(([name, value]) => ({ name, provider: providerOfVariable(name), value })),
    sessions: () => sessionsIn(database),
    countSessions: async () => (await chainsOf(database)).length,
    close: async () => database?.close(),
  };
};

const configOf = async (dir: ForeignDir, warnings: string[]): Promise<Table> => {
  try {
    return tableOf(parse((await textAt(dir, 'config.yaml')) ?? ''));
  } catch (error) {
    warnings.push(`config.yaml is not read: ${reasonOf(error).split('\n')[0]}.`);
    return {};
  }
};

const versionOf = async (database: ForeignDatabase): Promise<number> => {
  if ((await columnsOf(database, 'schema_version')).has('version')) return (await database.all<{ version: number }>('SELECT MAX(version) AS version FROM schema_version'))[0]?.version ?? 0;
  return (await database.all<{ user_version: number }>('PRAGMA user_version'))[0]?.user_version ?? 0;
};

const openState = async (dir: ForeignDir, warnings: string[]): Promise<ForeignDatabase> => {
  const database = await dir.database('state.db');
  try {
    const [sessions, messages] = [await columnsOf(database, 'sessions'), await columnsOf(database, 'messages')];
    if (!sessions.has('id') || !['session_id', 'role', 'content'].every((name) => messages.has(name)))
      throw migrateErrors.unknown_version('Hermes', 'state.db', 'it has no tables sessions and messages with id, session_id, role and content');
    const version = await versionOf(database);
    if (version > KNOWN_SCHEMA) warnings.push(`state.db has schema ${version}; schemas up to ${KNOWN_SCHEMA} are known. What is read may be incomplete.`);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
};

/** Sessions that are one conversation, the first to the last. */
type Chain = readonly [SessionRow, ...SessionRow[]];

const chainsOf = async (database: ForeignDatabase | undefined): Promise<Chain[]> => {
  if (!database) return [];
  const columns = await columnsOf(database, 'sessions');
  const of = (name: string): string => (columns.has(name) ? name : 'NULL');
  const rows = await database.all<SessionRow>(
    `SELECT id, ${of('source')} AS source, ${of('title')} AS title, ${of('parent_session_id')} AS parent, ${of('started_at')} AS started, ${of('end_reason')} AS ended FROM sessions ORDER BY started, id`,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const continued = new Map<string, SessionRow>();
  for (const row of rows) if (row.parent !== null && byId.get(row.parent)?.ended?.startsWith('compress') && !continued.has(row.parent)) continued.set(row.parent, row);
  const later = new Set([...continued.values()].map(({ id }) => id));
  return rows
    .filter(({ id }) => !later.has(id))
    .map((first): Chain => {
      const chain: [SessionRow, ...SessionRow[]] = [first];
      for (let next = continued.get(first.id); next && !chain.includes(next); next = continued.get(next.id)) chain.push(next);
      return chain;
    });
};

async function* sessionsIn(database: ForeignDatabase | undefined): AsyncGenerator<SourceSession> {
  if (!database) return;
  const chains = await chainsOf(database);
  const chainOf = new Map(chains.flatMap((chain) => chain.map(({ id }) => [id, chain] as const)));
  const begun = new Set<string>();
  const branches: Array<readonly [Chain, Chain]> = [];
  for (const chain of chains) {
    const parent = chain[0].parent === null ? undefined : chainOf.get(chain[0].parent);
    if (parent && parent !== chain && begun.has(parent[0].id)) {
      branches.push([chain, parent]);
      continue;
    }
    begun.add(chain[0].id);
    yield sessionOf(database, chain);
  }
  for (const [chain, parent] of branches) {
    const messages = await sharedMessages(database, chain, parent);
    yield { ...sessionOf(database, chain), ...(messages === 0 ? {} : { branch: { from: parent[0].id, messages }, isUnchosen: true }) };
  }
}

const sessionOf = (database: ForeignDatabase, chain: Chain): SourceSession => {
  const [first] = chain;
  const createdAt = timeOf(first.started) ?? '1970-01-01T00:00:00.000Z';
  const via = { channel: first.source !== null && CHANNEL.test(first.source) ? first.source : 'hermes', chat: first.id.slice(0, 200) };
  return { key: first.id, agent: AGENT, label: textOf(chain.at(-1)?.title) ?? textOf(first.title) ?? null, createdAt, messages: () => messagesIn(database, chain, { at: createdAt, via }) };
};

async function* rowsIn(database: ForeignDatabase, chain: Chain): AsyncGenerator<MessageRow> {
  const columns = await columnsOf(database, 'messages');
  const of = (name: string): string => (columns.has(name) ? name : 'NULL');
  const text = `SELECT rowid AS id, role, content, ${of('tool_calls')} AS tool_calls, ${of('tool_call_id')} AS tool_call_id, ${of('tool_name')} AS tool_name, ${of('timestamp')} AS timestamp, ${of('reasoning')} AS reasoning
    FROM messages WHERE session_id = ? AND rowid > ?${columns.has('active') ? ' AND COALESCE(active, 1) <> 0' : ''} ORDER BY rowid LIMIT ${PAGE_ROWS}`;
  for (const { id } of chain) {
    for (let after = -1; ; ) {
      const rows = await database.all<MessageRow>(text, [id, after]);
      yield* rows;
      const last = rows.at(-1);
      if (!last || rows.length < PAGE_ROWS) break;
      after = last.id;
    }
  }
}

async function* messagesIn(database: ForeignDatabase, chain: Chain, origin: Origin): AsyncGenerator<SourceMessage> {
  let { at } = origin;
  for await (const row of rowsIn(database, chain)) {
    at = timeOf(row.timestamp) ?? at;
    yield messageOf(row, { ...origin, at });
  }
}

/** H2. Copies have times of their own. */
const sharedMessages = async (database: ForeignDatabase, chain: Chain, parent: Chain): Promise<number> => {
  const other = rowsIn(database, parent);
  let shared = 0;
  try {
    for await (const row of rowsIn(database, chain)) {
      const { value, done } = await other.next();
      if (done || value.role !== row.role || value.content !== row.content || value.tool_calls !== row.tool_calls) return shared;
      shared += 1;
    }
    return shared;
  } finally {
    await other.return(undefined);
  }
};

const messageOf = (row: MessageRow, origin: Origin): SourceMessage => {
  const content = contentOf(row.content);
  if (row.role === 'tool') return { entries: [resultEntry(origin, row.tool_call_id ?? '', row.tool_name ?? 'unknown', typeof content === 'string' ? content : JSON.stringify(content), false)] };
  if (row.role !== 'user' && row.role !== 'assistant') return { entries: [noteEntry(origin, typeof content === 'string' ? content : JSON.stringify(content))] };
  const calls = row.tool_calls === null ? [] : listOf(argsOf(row.tool_calls)).filter(isTable);
  if (row.role === 'user' || (calls.length === 0 && row.reasoning === null)) return messageEntries(origin, row.role, content);
  const { parts, thoughts } = readContent(content);
  return {
    entries: [
      assistantEntry(origin, parts, row.reasoning ?? thoughts),
      ...calls.map((call) =>
        callEntry(origin, textOf(call.id) ?? '', textOf(tableOf(call.function).name) ?? textOf(call.name) ?? 'unknown', argsOf(tableOf(call.function).arguments ?? call.arguments)),
      ),
    ],
  };
};

/** Content of several parts is JSON behind a mark. */
const contentOf = (content: string | null): unknown => {
  const text = content ?? '';
  const [, json] = /^(?:\0json:|)(\[\{.*\}\])$/s.exec(text) ?? [];
  if (json === undefined) return text;
  try {
    const parts = JSON.parse(json) as unknown;
    return Array.isArray(parts) && parts.every((part) => isTable(part) && typeof part.type === 'string') ? parts : text;
  } catch {
    return text;
  }
};

const cronsOf = async (dir: ForeignDir, remarks: SourceRemark[]): Promise<SourceCron[]> => {
  const read = await jsonAt(dir, 'cron/jobs.json').catch(() => undefined);
  return (Array.isArray(read) ? read : listOf(tableOf(read).jobs)).filter(isTable).flatMap((job) => {
    const schedule = tableOf(job.schedule);
    const when = textOf(schedule.expr) ?? (typeof schedule.minutes === 'number' ? `every ${Math.max(1, schedule.minutes)}m` : (timeOf(schedule.run_at) ?? textOf(job.schedule)));
    const [message, name] = [textOf(job.prompt), textOf(job.name) ?? 'job'];
    if (message === undefined || when === undefined) {
      remarks.push({ kind: 'Cron', name, reason: 'it has no prompt, or a schedule that is not known' });
      return [];
    }
    return [{ key: textOf(job.id) ?? name, name, agent: AGENT, schedule: when, message, isEnabled: job.enabled !== false }];
  });
};
