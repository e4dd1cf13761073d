/**
 * Homes of LibreFang and OpenFang. What their database holds as blobs is MessagePack or JSON, by version.
 *
 * L1  An agent has its manifest from agent.toml, and from the database where there is none.
 */
import type { ForeignDatabase, ForeignDir, ForeignValue } from '@svc/api';
import { decode } from '@msgpack/msgpack';
import { migrateErrors } from '../errors.js';
import { messageEntries, noteEntry, type Origin } from './entries.js';
import { columnsOf, envLines, holdersOf, isFile, isFolder, jsonAt, namesIn, providerOfVariable, readWorkspace, reasonOf, skillsIn, textAt } from './files.js';
import {
  isTable,
  listOf,
  type Source,
  type SourceAgent,
  type SourceCron,
  type SourceMemory,
  type SourceMessage,
  type SourceRemark,
  type SourceSecret,
  type SourceSession,
  type SourceSkill,
  type Table,
  tableOf,
  textOf,
  timeOf,
} from './model.js';
import { unreadable } from './openclaw.js';

/** `user_version` of the database. */
const KNOWN_SCHEMA = 60;
const PAGE_ROWS = 2_000;
const FILES = ['data/librefang.db', 'data/openfang.db', 'librefang.db', 'openfang.db'];
/** Keys of agent.toml that other daemons write and that mean something else here. */
const LEFT_OUT = [
  'id',
  'workspace',
  'state_dir',
  'module',
  'schedule',
  'priority',
  'routing',
  'metadata',
  'tools',
  'mcp_servers',
  'skills',
  'generate_identity_files',
  'exec_policy',
  'source_toml_path',
  'workspaces',
];

interface Row {
  readonly id: string;
  readonly name: string;
  readonly manifest: Table;
}

/** JSON says itself by its first letter; anything else is MessagePack. Undefined for what is neither. */
export const blobOf = (value: ForeignValue | undefined): unknown => {
  if (value === null || value === undefined || typeof value === 'number') return value ?? undefined;
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  const text = Buffer.from(bytes).toString('utf8').trim();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return decode(bytes);
  }
};

export const openLibreFang = async (dir: ForeignDir): Promise<Source> => {
  const warnings: string[] = [];
  const remarks: SourceRemark[] = [];
  const { default: toml } = await import('@iarna/toml');
  const parsed = async (path: string): Promise<Table> => {
    const text = await textAt(dir, path);
    if (text === undefined) return {};
    try {
      return JSON.parse(JSON.stringify(toml.parse(text))) as Table;
    } catch (error) {
      warnings.push(`${path} is not read: ${reasonOf(error).split('\n')[0]}.`);
      return {};
    }
  };
  const config = await parsed('config.toml');
  const file = await firstFile(dir);
  const running = await runningOf(dir, file);
  if (running.length > 0) warnings.push(`The source is running (process ${running.join(', ')}): what it writes from now on is not imported. Run the import once more after you have stopped it.`);
  const database = file === undefined ? undefined : await openData(dir, file, warnings);
  try {
    const rows = database ? await agentRows(database, remarks) : [];
    const skills: SourceSkill[] = await skillsIn(dir, 'skills');
    const folders = new Map<string, string>();
    for (const root of ['workspaces/agents', 'agents', 'workspaces'])
      for (const name of await namesIn(dir, root, 'dir')) if (!folders.has(name) && (await isFile(dir, `${root}/${name}/agent.toml`))) folders.set(name, `${root}/${name}`);
    const agents: SourceAgent[] = [];
    for (const name of new Set([...rows.map((row) => row.name), ...folders.keys()])) {
      const row = rows.find((one) => one.name === name);
      const folder = folders.get(name);
      const written = folder === undefined ? {} : await parsed(`${folder}/agent.toml`);
      agents.push(await agentOf(dir, { name, row, folder, manifest: Object.keys(written).length > 0 ? written : (row?.manifest ?? {}), database, skills }));
    }
    if (database) await orphanedRows(database, rows, remarks);
    return {
      type: 'librefang',
      dir,
      version: textOf(config.config_version) ?? (database ? `schema ${await versionOf(database)}` : null),
      hasConfig: Object.keys(config).length > 0,
      warnings,
      agents,
      skills,
      channels: Object.keys(tableOf(config.channels)),
      crons: await cronsOf(dir, rows, remarks),
      remarks,
      secrets: await secretsOf(dir),
      sessions: (agent) =>
        sessionsIn(
          database,
          rows.find(({ name }) => name === agent),
        ),
      countSessions: async () => (database ? ((await database.all<{ n: number }>('SELECT COUNT(*) AS n FROM sessions'))[0]?.n ?? 0) : 0),
      close: async () => database?.close(),
    };
  } catch (error) {
    await database?.close();
    throw error;
  }
};

const firstFile = async (dir: ForeignDir): Promise<string | undefined> => {
  for (const file of FILES) if (await isFile(dir, file)) return file;
  return undefined;
};

const runningOf = async (dir: ForeignDir, file: string | undefined): Promise<number[]> => {
  const { pid } = tableOf(await jsonAt(dir, 'daemon.json').catch(() => undefined));
  const holders = file === undefined ? [] : await holdersOf(dir, [file]);
  return [...new Set([...holders, ...(typeof pid === 'number' && dir.isRunning(pid) ? [pid] : [])])];
};

const versionOf = async (database: ForeignDatabase): Promise<number> => (await database.all<{ user_version: number }>('PRAGMA user_version'))[0]?.user_version ?? 0;

const openData = async (dir: ForeignDir, file: string, warnings: string[]): Promise<ForeignDatabase> => {
  const database = await dir.database(file);
  try {
    for (const [table, needed] of [
      ['agents', ['id', 'name', 'manifest']],
      ['sessions', ['id', 'agent_id', 'messages']],
    ] as const) {
      const columns = await columnsOf(database, table);
      const missing = needed.filter((name) => !columns.has(name));
      if (missing.length > 0) throw migrateErrors.unknown_version('LibreFang', file, `its table ${table} has no ${missing.join(', ')}`);
    }
    const version = await versionOf(database);
    if (version > KNOWN_SCHEMA) warnings.push(`The database ${file} has schema ${version}; schemas up to ${KNOWN_SCHEMA} are known. What is read may be incomplete.`);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
};

const agentRows = async (database: ForeignDatabase, remarks: SourceRemark[]): Promise<Row[]> => {
  const rows = await database.all<{ id: string; name: string; manifest: ForeignValue }>('SELECT id, name, manifest FROM agents ORDER BY name');
  return rows.map(({ id, name, manifest }) => {
    let read: Table = {};
    try {
      read = tableOf(blobOf(manifest));
    } catch (error) {
      remarks.push({ kind: 'Config', name: `manifest of ${name}`, reason: `it cannot be read: ${reasonOf(error)}` });
    }
    return { id, name, manifest: read };
  });
};

/** Rows of agents that are not there any more. */
const orphanedRows = async (database: ForeignDatabase, rows: readonly Row[], remarks: SourceRemark[]): Promise<void> => {
  const known = new Set(rows.map(({ id }) => id));
  for (const { id, agent_id: agent } of await database.all<{ id: string; agent_id: string }>('SELECT id, agent_id FROM sessions ORDER BY id'))
    if (!known.has(agent)) remarks.push({ kind: 'Session', name: id, reason: `its agent ${agent} is not in the source any more` });
  for (const { id, agent_id: agent } of await memoryRows(database, undefined))
    if (!known.has(agent)) remarks.push({ kind: 'Memory', name: id, reason: `its agent ${agent} is not in the source any more` });
};

interface Found {
  readonly name: string;
  readonly row: Row | undefined;
  readonly folder: string | undefined;
  readonly manifest: Table;
  readonly database: ForeignDatabase | undefined;
  readonly skills: SourceSkill[];
}

const agentOf = async (dir: ForeignDir, { name, row, folder, manifest, database, skills }: Found): Promise<SourceAgent> => {
  const workspace = folder ?? ((await isFolder(dir, `workspaces/${name}`)) ? `workspaces/${name}` : undefined);
  const found = workspace === undefined ? { files: [], memories: [], skills: [] } : await readWorkspace(dir, workspace);
  skills.push(...found.skills.filter((skill) => !skills.some((one) => one.name === skill.name)));
  const model = tableOf(manifest.model);
  const stored: SourceMemory[] =
    database && row
      ? (await memoryRows(database, row.id)).map(({ id, content, created_at: at, scope }) => ({ key: id, content, ...dated(at), ...(scope === undefined ? {} : { category: scope }) }))
      : [];
  const { name: _name, ...rest } = manifest;
  return {
    key: name,
    name: textOf(manifest.name) ?? name,
    description: textOf(manifest.description) ?? '',
    format: 'LibreFang agent',
    provider: textOf(model.provider) ?? null,
    model: textOf(model.model) ?? textOf(model.name) ?? null,
    manifest: Object.fromEntries(Object.entries(rest).filter(([key, value]) => !LEFT_OUT.includes(key) && value !== null)),
    tools: listOf(tableOf(manifest.capabilities).tools).filter((tool): tool is string => typeof tool === 'string'),
    files: found.files,
    memories: [...stored, ...found.memories],
    pairs: database && row ? await pairsOf(database, row.id) : [],
  };
};

const dated = (at: unknown): { createdAt?: string } => {
  const time = timeOf(at);
  return time === undefined ? {} : { createdAt: time };
};

interface MemoryRow {
  readonly id: string;
  readonly agent_id: string;
  readonly content: string;
  readonly created_at: string;
  readonly scope?: string;
}

const memoryRows = async (database: ForeignDatabase, agent: string | undefined): Promise<MemoryRow[]> => {
  const columns = await columnsOf(database, 'memories');
  if (!columns.has('content') || !columns.has('agent_id')) return [];
  const there = `SELECT id, agent_id, content, created_at${columns.has('scope') ? ', scope' : ''} FROM memories WHERE ${columns.has('deleted') ? 'deleted = 0' : '1'}`;
  const rows: MemoryRow[] = [];
  for (let after = ''; ; ) {
    const page = await database.all<MemoryRow>(`${there} AND id > ?${agent === undefined ? '' : ' AND agent_id = ?'} ORDER BY id LIMIT ${PAGE_ROWS}`, agent === undefined ? [after] : [after, agent]);
    rows.push(...page);
    const last = page.at(-1);
    if (!last || page.length < PAGE_ROWS) return rows;
    after = last.id;
  }
};

const pairsOf = async (database: ForeignDatabase, agent: string): Promise<Array<{ key: string; value: unknown }>> => {
  if (!(await columnsOf(database, 'kv_store')).has('value')) return [];
  const rows = await database.all<{ key: string; value: ForeignValue }>('SELECT key, value FROM kv_store WHERE agent_id = ? ORDER BY key', [agent]);
  return rows.map(({ key, value }) => {
    try {
      return { key, value: blobOf(value) ?? null };
    } catch {
      return { key, value: undefined };
    }
  });
};

async function* sessionsIn(database: ForeignDatabase | undefined, row: Row | undefined): AsyncGenerator<SourceSession> {
  if (!database || !row) return;
  const columns = await columnsOf(database, 'sessions');
  const [label, created] = [columns.has('label') ? 'label' : 'NULL', columns.has('created_at') ? 'created_at' : 'NULL'];
  for (let after = ''; ; ) {
    const page = await database.all<{ id: string; label: string | null; created_at: string | null }>(
      `SELECT id, ${label} AS label, ${created} AS created_at FROM sessions WHERE agent_id = ? AND id > ? ORDER BY id LIMIT ${PAGE_ROWS}`,
      [row.id, after],
    );
    for (const session of page) yield sessionOf(database, row, session);
    const last = page.at(-1);
    if (!last || page.length < PAGE_ROWS) return;
    after = last.id;
  }
}

const sessionOf = (database: ForeignDatabase, row: Row, { id, label, created_at: at }: { id: string; label: string | null; created_at: string | null }): SourceSession => {
  const createdAt = timeOf(at) ?? '1970-01-01T00:00:00.000Z';
  const via = { channel: 'librefang', account: row.name.slice(0, 200), chat: id.slice(0, 200) };
  return { key: id, agent: row.name, label: label === '' ? null : label, createdAt, messages: () => messagesIn(database, id, { at: createdAt, via }) };
};

async function* messagesIn(database: ForeignDatabase, id: string, origin: Origin): AsyncGenerator<SourceMessage> {
  const [found] = await database.all<{ messages: ForeignValue }>('SELECT messages FROM sessions WHERE id = ?', [id]);
  let messages: unknown;
  try {
    messages = blobOf(found?.messages);
  } catch (error) {
    yield* unreadable(error);
  }
  let { at } = origin;
  for (const message of listOf(messages)) {
    const { role, content, time } = fieldsOf(message);
    at = timeOf(time) ?? at;
    yield role === 'system' ? { entries: [noteEntry({ ...origin, at }, typeof content === 'string' ? content : JSON.stringify(content))] } : messageEntries({ ...origin, at }, role, content);
  }
}

/** Fields by name, or by place as MessagePack has them in its short form. */
const fieldsOf = (message: unknown): { role: string; content: unknown; time: unknown } => {
  const [role, content, time] = Array.isArray(message) ? (message as unknown[]) : [tableOf(message).role, tableOf(message).content, tableOf(message).timestamp ?? tableOf(message).created_at];
  return { role: typeof role === 'string' ? role.toLowerCase() : 'user', content, time };
};

const cronsOf = async (dir: ForeignDir, rows: readonly Row[], remarks: SourceRemark[]): Promise<SourceCron[]> => {
  const crons: SourceCron[] = [];
  for (const path of ['data/cron_jobs.json', 'cron_jobs.json']) {
    const read = await jsonAt(dir, path).catch((error: unknown) => void remarks.push({ kind: 'Cron', name: path, reason: `it cannot be read: ${reasonOf(error)}` }));
    for (const one of Array.isArray(read) ? read : listOf(tableOf(read).jobs)) {
      const job = isTable(tableOf(one).job) ? tableOf(tableOf(one).job) : tableOf(one);
      const cron = cronOf(job, rows);
      if (typeof cron === 'string') remarks.push({ kind: 'Cron', name: textOf(job.name) ?? textOf(job.id) ?? 'job', reason: cron });
      else if (!crons.some(({ key }) => key === cron.key)) crons.push(cron);
    }
  }
  return crons;
};

const cronOf = (job: Table, rows: readonly Row[]): SourceCron | string => {
  const [schedule, action] = [tableOf(job.schedule), tableOf(job.action)];
  const agent = rows.find(({ id, name }) => id === job.agent_id || name === job.agent_id || name === job.agent);
  if (!agent) return 'its agent is not in the source any more';
  const message = textOf(action.message) ?? textOf(action.text) ?? textOf(job.message);
  if (message === undefined) return `its action ${textOf(action.kind) ?? ''} asks no agent`;
  const when = typeof schedule.expr === 'string' ? schedule.expr : typeof schedule.every_secs === 'number' ? `every ${Math.max(60, schedule.every_secs)}s` : timeOf(schedule.at);
  if (when === undefined) return 'its schedule is none of cron, every and at';
  const tz = textOf(schedule.tz);
  const name = textOf(job.name) ?? 'job';
  return { key: textOf(job.id) ?? name, name, agent: agent.name, schedule: when, message, isEnabled: job.enabled !== false, ...(tz === undefined ? {} : { tz }) };
};

const secretsOf = async (dir: ForeignDir): Promise<SourceSecret[]> => {
  const found = new Map<string, SourceSecret>();
  for (const file of ['secrets.env', '.env'])
    for (const [name, value] of envLines((await textAt(dir, file)) ?? '')) if (!found.has(name)) found.set(name, { name, provider: providerOfVariable(name), value });
  return [...found.values()];
};
