/**
 * Homes of OpenClaw, of both layouts: logs in files, and logs in a database for each agent. A home that was moved halfway has both.
 *
 * W1  A session is read once, from where more of it is.
 * W2  Paths in its settings lead nowhere outside of the home.
 */
import { createHash } from 'node:crypto';
import type { ForeignDatabase, ForeignDir } from '@svc/api';
import JSON5 from 'json5';
import { migrateErrors } from '../errors.js';
import { columnsOf, envLines, holdersOf, isFile, isFolder, jsonAt, linesOf, modelOf, namesIn, providerOfVariable, readWorkspace, reasonOf, skillsIn, tableIn, tablesIn, textAt } from './files.js';
import {
  isTable,
  listOf,
  type Source,
  type SourceAgent,
  type SourceCron,
  type SourceRemark,
  type SourceSecret,
  type SourceSession,
  type SourceSkill,
  type Table,
  tableOf,
  textOf,
  timeOf,
} from './model.js';
import { type OpenClawSession, sessionsOf } from './openclaw-events.js';

/** Of the schema of an agent's database. */
const KNOWN_SCHEMA = 30;
const PAGE_EVENTS = 1_000;
const LOG = /^([0-9A-Za-z][0-9A-Za-z._-]*?)\.jsonl(?:\.(deleted|reset)\..+)?$/;
const PROVIDERS: ReadonlyMap<string, string> = new Map<string, string>(Object.entries({ google: 'gemini', 'google-vertex': 'gemini', 'openai-codex': 'openai', 'claude-cli': 'anthropic' }));

interface AgentPlace {
  readonly id: string;
  readonly settings: Table;
  database?: ForeignDatabase | undefined;
}

export const openOpenClaw = async (dir: ForeignDir): Promise<Source> => {
  const warnings: string[] = [];
  const config = await configOf(dir, warnings);
  const places = await placesOf(dir, config);
  const remarks: SourceRemark[] = [];
  const version = textOf(tableOf(config.meta).lastTouchedVersion) ?? null;
  const files = places.map(({ id }) => databasePath(id));
  const holders = await holdersOf(dir, ['state/openclaw.sqlite', ...files]);
  if (holders.length > 0) warnings.push(`OpenClaw is running (process ${holders.join(', ')}): what it writes from now on is not imported. Run the import once more after you have stopped it.`);
  for (const place of places) if (await isFile(dir, databasePath(place.id))) place.database = await openLogs(dir, place.id, warnings);
  const shared = (await isFile(dir, 'state/openclaw.sqlite')) ? await dir.database('state/openclaw.sqlite') : undefined;
  try {
    const skills: SourceSkill[] = await skillsIn(dir, 'skills');
    const agents: SourceAgent[] = [];
    for (const place of places) agents.push(await agentOf(dir, config, place, skills, remarks));
    const channels = Object.keys(tableOf(config.channels)).filter((name) => name !== 'defaults');
    remarks.push(
      ...listOf(config.bindings).map(
        (binding): SourceRemark => ({
          kind: 'Config',
          name: `binding of ${textOf(tableOf(binding).agentId) ?? 'an agent'}`,
          reason: 'channels come switched off; bind them when you have set them up',
        }),
      ),
    );
    return {
      type: 'openclaw',
      dir,
      version,
      hasConfig: Object.keys(config).length > 0,
      warnings,
      agents,
      skills,
      channels,
      crons: await cronsOf(dir, shared, places[0]?.id ?? 'main', remarks),
      remarks,
      secrets: await secretsOf(dir, config, places),
      sessions: (agent) =>
        allSessions(
          dir,
          places.find(({ id }) => id === agent),
        ),
      countSessions: async () => {
        let count = 0;
        for (const place of places) count += new Set([...(await fileLogs(dir, place.id)).keys(), ...(place.database ? (await databaseLogs(place.database, place.id)).keys() : [])]).size;
        return count;
      },
      close: async () => {
        for (const { database } of places) await database?.close();
      },
    };
  } finally {
    await shared?.close();
  }
};

const databasePath = (agent: string): string => `agents/${agent}/agent/openclaw-agent.sqlite`;

const configOf = async (dir: ForeignDir, warnings: string[]): Promise<Table> => {
  for (const name of ['openclaw.json', 'clawdbot.json', 'moltbot.json']) {
    const text = await textAt(dir, name);
    if (text === undefined) continue;
    try {
      return tableOf(JSON5.parse(text));
    } catch (error) {
      warnings.push(`${name} is not read: ${reasonOf(error)}.`);
    }
  }
  return {};
};

const placesOf = async (dir: ForeignDir, config: Table): Promise<AgentPlace[]> => {
  const listed = listOf(tableOf(config.agents).list).filter(isTable);
  const ids = new Set([...listed.flatMap(({ id }) => (typeof id === 'string' && isPlainName(id) ? [id] : [])), ...(await namesIn(dir, 'agents', 'dir'))]);
  if (ids.size === 0 && (await isFolder(dir, 'workspace'))) ids.add('main');
  return [...ids].map((id) => ({ id, settings: listed.find((one) => one.id === id) ?? {} }));
};

const isPlainName = (name: string): boolean => name !== '' && name.length <= 128 && !/[/\\\0]|^\.\.?$/.test(name);

const openLogs = async (dir: ForeignDir, agent: string, warnings: string[]): Promise<ForeignDatabase> => {
  const database = await dir.database(databasePath(agent));
  try {
    const columns = await columnsOf(database, 'transcript_events');
    if (!['session_id', 'seq', 'event_json'].every((name) => columns.has(name)))
      throw migrateErrors.unknown_version('OpenClaw', databasePath(agent), 'it has no table transcript_events with session_id, seq and event_json');
    const [version] = await database.all<{ user_version: number }>('PRAGMA user_version');
    if (version && version.user_version > KNOWN_SCHEMA)
      warnings.push(`The database of agent ${agent} has schema ${version.user_version}; schemas up to ${KNOWN_SCHEMA} are known. What is read may be incomplete.`);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
};

const agentOf = async (dir: ForeignDir, config: Table, { id, settings }: AgentPlace, skills: SourceSkill[], remarks: SourceRemark[]): Promise<SourceAgent> => {
  const defaults = tableOf(tableOf(config.agents).defaults);
  const { provider, model } = modelOf(settings.model ?? defaults.model);
  const workspace = await workspaceOf(dir, id, settings.workspace ?? (id === 'main' ? defaults.workspace : undefined), remarks);
  const found = workspace === undefined ? { files: [], memories: [], skills: [] } : await readWorkspace(dir, workspace);
  skills.push(...found.skills.filter(({ name }) => !skills.some((one) => one.name === name)));
  const tools = tableOf(settings.tools ?? config.tools);
  const allowed = listOf(tools.allow).filter((name): name is string => typeof name === 'string');
  const denied = listOf(tools.deny).filter((name): name is string => typeof name === 'string');
  return {
    key: id,
    name: textOf(settings.name) ?? textOf(tableOf(settings.identity).name) ?? id,
    description: textOf(settings.description) ?? '',
    format: 'OpenClaw agent',
    provider: provider === null ? null : (PROVIDERS.get(provider) ?? provider),
    model,
    manifest: { capabilities: capabilitiesOf(allowed, denied) },
    tools: allowed,
    files: found.files,
    memories: found.memories,
    pairs: [],
  };
};

/** What its tools could reach. A shell comes only where it was allowed by name. */
const capabilitiesOf = (allowed: readonly string[], denied: readonly string[]): Table => {
  const has = (...names: string[]): boolean => !names.some((name) => denied.includes(name)) && (allowed.length === 0 || allowed.includes('*') || names.some((name) => allowed.includes(name)));
  return {
    memory_read: ['*'],
    memory_write: ['*'],
    network: has('group:web', 'web_fetch', 'web_search') ? ['*'] : [],
    shell: allowed.some((name) => ['exec', 'bash', 'group:runtime'].includes(name)) && has('exec', 'bash', 'group:runtime') ? ['*'] : [],
    file_system: has('group:fs', 'read', 'write'),
  };
};

const workspaceOf = async (dir: ForeignDir, id: string, configured: unknown, remarks: SourceRemark[]): Promise<string | undefined> => {
  const usual = id === 'main' ? ['workspace', 'workspace-main'] : [`workspace-${id}`];
  if (typeof configured === 'string') {
    const inHome = /(?:^~\/|\/)\.(?:openclaw|clawdbot|moltbot)[^/]*\/(.+)$/.exec(configured)?.[1] ?? (configured.startsWith(`${dir.path}/`) ? configured.slice(dir.path.length + 1) : undefined);
    if (inHome !== undefined && !inHome.split('/').includes('..')) usual.unshift(inHome);
    else remarks.push({ kind: 'Config', name: `workspace of ${id}`, reason: `the workspace ${configured.slice(0, 200)} is outside of the home and is not read; copy it by hand` });
  }
  for (const path of usual) if (await isFolder(dir, path)) return path;
  return undefined;
};

interface Log {
  readonly session: OpenClawSession;
  readonly count: number;
  read(lost: Lost): Promise<Table[]>;
}

/** Lines of a log that are no JSON. */
interface Lost {
  lines: number;
}

async function* allSessions(dir: ForeignDir, place: AgentPlace | undefined): AsyncGenerator<SourceSession> {
  if (!place) return;
  const files = await fileLogs(dir, place.id);
  const rows = place.database ? await databaseLogs(place.database, place.id) : new Map<string, Log>();
  for (const key of new Set([...rows.keys(), ...files.keys()])) {
    const [inDatabase, inFile] = [rows.get(key), files.get(key)];
    const log = await fullerOf(inDatabase, inFile);
    if (!log) continue;
    try {
      const lost: Lost = { lines: 0 };
      const events = await log.read(lost);
      const label = log.session.label ?? inDatabase?.session.label ?? inFile?.session.label ?? null;
      const [whole, ...branches] = sessionsOf({ ...log.session, label }, events);
      if (whole) yield { ...whole, unread: lost.lines };
      yield* branches;
    } catch (error) {
      yield { ...log.session, messages: () => unreadable(error) };
    }
  }
}

/** The importer names it with its reason. */
export async function* unreadable(error: unknown): AsyncGenerator<never> {
  await Promise.reject(error instanceof Error ? error : new Error(reasonOf(error)));
  yield* [];
}

/** W1. Files are counted only where both have it. */
const fullerOf = async (one: Log | undefined, other: Log | undefined): Promise<Log | undefined> => {
  if (!one || !other) return one ?? other;
  return (await other.read({ lines: 0 })).length > one.count ? other : one;
};

const fileLogs = async (dir: ForeignDir, agent: string): Promise<Map<string, Log>> => {
  const folder = `agents/${agent}/sessions`;
  const named = new Map<string, OpenClawSession>();
  const index = tableOf(await jsonAt(dir, `${folder}/sessions.json`).catch(() => undefined));
  for (const [name, entry] of Object.entries(index)) {
    const session = indexed(name, tableOf(entry), agent);
    if (session) named.set(session.key, session);
  }
  const logs = new Map<string, Log>();
  const names = await namesIn(dir, folder, 'file');
  // The live log of a session counts before one that was put away.
  for (const name of names.sort((a, b) => Number(/\.jsonl\./.test(a)) - Number(/\.jsonl\./.test(b)))) {
    const [, key, gone] = LOG.exec(name) ?? [];
    if (key === undefined || logs.has(key)) continue;
    const changed = (await dir.stat(`${folder}/${name}`))?.modifiedAt ?? '1970-01-01T00:00:00.000Z';
    const session: OpenClawSession = { agent, createdAt: changed, label: null, ...named.get(key), key, isArchived: gone !== undefined || named.get(key)?.isArchived === true };
    logs.set(key, { session, count: 0, read: (lost) => readFile(dir, `${folder}/${name}`, lost) });
  }
  return logs;
};

const readFile = async (dir: ForeignDir, path: string, lost: Lost): Promise<Table[]> => {
  const events: Table[] = [];
  for await (const line of linesOf(dir.readStream(path))) {
    const event = tableIn(line);
    if (event) events.push(event);
    else if (line.trim() !== '') lost.lines++;
  }
  return events;
};

const indexed = (name: string, entry: Table, agent: string): OpenClawSession | undefined => {
  const key = textOf(entry.sessionId);
  if (key === undefined) return undefined;
  const channel = textOf(entry.lastChannel) ?? textOf(entry.channel) ?? textOf(tableOf(entry.origin).provider) ?? /^agent:[^:]+:([a-z]+):/.exec(name)?.[1];
  const label = textOf(entry.label) ?? textOf(entry.displayName) ?? textOf(entry.subject) ?? null;
  return {
    key,
    agent,
    label,
    isArchived: entry.archived === true || entry.archivedAt !== undefined,
    createdAt: timeOf(entry.createdAt) ?? timeOf(entry.updatedAt) ?? '1970-01-01T00:00:00.000Z',
    ...(channel === undefined ? {} : { channel }),
  };
};

const databaseLogs = async (database: ForeignDatabase, agent: string): Promise<Map<string, Log>> => {
  const names = await namesOf(database, agent);
  const logs = new Map<string, Log>();
  const dated = (await columnsOf(database, 'transcript_events')).has('created_at');
  const rows = await database.all<{ session_id: string; n: number; at: number | null }>(
    `SELECT session_id, COUNT(*) AS n, ${dated ? 'MIN(created_at)' : 'NULL'} AS at FROM transcript_events GROUP BY session_id ORDER BY session_id`,
  );
  for (const { session_id: key, n, at } of rows) {
    const session = { agent, label: null, isArchived: false, createdAt: timeOf(at) ?? '1970-01-01T00:00:00.000Z', ...names.get(key), key };
    logs.set(key, { session, count: n, read: (lost) => readEvents(database, key, lost) });
  }
  for (const [key, log] of await archivedLogs(database, agent)) if (!logs.has(key)) logs.set(key, { ...log, session: { ...names.get(key), ...log.session } });
  return logs;
};

const namesOf = async (database: ForeignDatabase, agent: string): Promise<Map<string, OpenClawSession>> => {
  const named = new Map<string, OpenClawSession>();
  const [nodes, windows] = [await columnsOf(database, 'session_nodes'), await columnsOf(database, 'session_windows')];
  if (!nodes.has('session_key')) return named;
  const byKey = new Map<string, OpenClawSession>();
  for (const row of await database.all<Record<string, unknown>>('SELECT * FROM session_nodes')) {
    const name = String(row.session_key);
    const entry = tableIn(String(row.entry_json ?? '')) ?? {};
    const session = indexed(
      name,
      { ...entry, sessionId: row.current_session_id, label: row.label ?? entry.label, displayName: row.display_name ?? entry.displayName, createdAt: row.created_at ?? entry.createdAt },
      agent,
    );
    if (!session) continue;
    const known = { ...session, isArchived: typeof row.archived_at === 'number' };
    byKey.set(name, known);
    named.set(session.key, known);
  }
  if (windows.has('session_key') && windows.has('session_id'))
    for (const row of await database.all<{ session_id: string; session_key: string }>('SELECT session_id, session_key FROM session_windows')) {
      const node = byKey.get(row.session_key);
      if (node && !named.has(row.session_id)) named.set(row.session_id, { ...node, key: row.session_id });
    }
  return named;
};

const readEvents = async (database: ForeignDatabase, key: string, lost: Lost): Promise<Table[]> => {
  const events: Table[] = [];
  for (let after = -1; ; ) {
    const rows = await database.all<{ seq: number; event_json: string }>(`SELECT seq, event_json FROM transcript_events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ${PAGE_EVENTS}`, [
      key,
      after,
    ]);
    for (const { event_json: text } of rows) {
      const event = tableIn(text);
      if (event) events.push(event);
      else lost.lines++;
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_EVENTS) return events;
    after = last.seq;
  }
};

/** Whole logs of sessions that were put away, the newest generation of each. */
const archivedLogs = async (database: ForeignDatabase, agent: string): Promise<Map<string, Log>> => {
  const logs = new Map<string, Log>();
  const columns = await columnsOf(database, 'session_transcript_archives');
  if (!['session_id', 'encoding', 'archive_blob', 'created_at'].every((name) => columns.has(name))) return logs;
  const rows = await database.all<{ place: number; session_id: string; created_at: number }>('SELECT rowid AS place, session_id, created_at FROM session_transcript_archives ORDER BY created_at DESC');
  for (const { place, session_id: key, created_at: at } of rows)
    if (!logs.has(key))
      logs.set(key, { session: { key, agent, label: null, isArchived: true, createdAt: timeOf(at) ?? '1970-01-01T00:00:00.000Z' }, count: 0, read: (lost) => readArchive(database, place, lost) });
  return logs;
};

const readArchive = async (database: ForeignDatabase, place: number, lost: Lost): Promise<Table[]> => {
  const [row] = await database.all<{ encoding: string; archive_blob: Uint8Array | string; archive_sha256?: string }>('SELECT * FROM session_transcript_archives WHERE rowid = ?', [place]);
  if (!row) return [];
  const packed = typeof row.archive_blob === 'string' ? Buffer.from(row.archive_blob) : row.archive_blob;
  if (row.encoding !== 'identity' && row.encoding !== 'zstd') throw new Error(`its archive has the encoding ${String(row.encoding).slice(0, 40)}, which is not known`);
  const { decompress } = await import('fzstd');
  const text = Buffer.from(row.encoding === 'zstd' ? decompress(packed) : packed).toString('utf8');
  const events = tablesIn(text);
  lost.lines += text.split('\n').filter((line) => line.trim() !== '').length - events.length;
  return events;
};

const cronsOf = async (dir: ForeignDir, shared: ForeignDatabase | undefined, first: string, remarks: SourceRemark[]): Promise<SourceCron[]> => {
  const jobs = listOf(tableOf(await jsonAt(dir, 'cron/jobs.json').catch(() => undefined)).jobs).filter(isTable);
  const columns = shared ? await columnsOf(shared, 'cron_jobs') : new Set<string>();
  const json = ['job_json', 'entry_json', 'raw_json', 'payload_json'].find((name) => columns.has(name));
  if (shared && json !== undefined) {
    const known = new Set(jobs.map(({ id }) => id));
    for (const row of await shared.all<Record<string, unknown>>('SELECT * FROM cron_jobs')) {
      const job = tableIn(String(row[json] ?? ''));
      if (job && !known.has(job.id)) jobs.push(job);
    }
  }
  // Only what such a column holds whole is known: other columns are not guessed at.
  if (shared && json === undefined && columns.size > 0)
    for (const { id, name } of await shared.all<Record<string, unknown>>('SELECT * FROM cron_jobs'))
      remarks.push({ kind: 'Cron', name: textOf(name) ?? String(id ?? 'a job'), reason: 'its columns in state/openclaw.sqlite are not known to svc' });
  return jobs.flatMap((job) => {
    const cron = cronOf(job, first);
    if (typeof cron !== 'string') return [cron];
    remarks.push({ kind: 'Cron', name: textOf(job.name) ?? String(job.id), reason: cron });
    return [];
  });
};

/** A sentence where it cannot be a job here. */
const cronOf = (job: Table, first: string): SourceCron | string => {
  const [schedule, payload] = [tableOf(job.schedule), tableOf(job.payload)];
  const message = textOf(payload.message) ?? textOf(payload.text);
  if (message === undefined) return 'it says nothing to an agent';
  const when = scheduleOf(schedule);
  if (when === undefined) return 'its schedule is none of cron, every and at';
  const tz = textOf(schedule.tz);
  return {
    key: textOf(job.id) ?? createHash('sha256').update(JSON.stringify(job)).digest('hex').slice(0, 16),
    name: textOf(job.name) ?? 'job',
    agent: textOf(job.agentId) ?? first,
    schedule: when,
    message,
    isEnabled: job.enabled !== false,
    ...(tz === undefined ? {} : { tz }),
  };
};

const scheduleOf = (schedule: Table): string | undefined => {
  if (typeof schedule.expr === 'string') return schedule.expr;
  if (typeof schedule.everyMs === 'number') return `every ${Math.max(60, Math.round(schedule.everyMs / 1_000))}s`;
  return timeOf(schedule.at ?? schedule.atMs);
};

const secretsOf = async (dir: ForeignDir, config: Table, places: readonly AgentPlace[]): Promise<SourceSecret[]> => {
  const found = new Map<string, SourceSecret>();
  const add = (name: string, provider: string | null, value: unknown): void => {
    if (typeof value === 'string' && value !== '' && !/^\$\{.*\}$/.test(value) && !found.has(name))
      found.set(name, { name, provider: provider === null ? null : (PROVIDERS.get(provider) ?? provider), value });
  };
  for (const { id } of places)
    for (const [name, profile] of Object.entries(tableOf(tableOf(await jsonAt(dir, `agents/${id}/agent/auth-profiles.json`).catch(() => undefined)).profiles)))
      if (tableOf(profile).type === 'api_key') add(name, textOf(tableOf(profile).provider) ?? null, tableOf(profile).key);
  for (const [name, provider] of Object.entries(tableOf(tableOf(config.models).providers))) add(`models.providers.${name}.apiKey`, name, tableOf(provider).apiKey);
  for (const [name, value] of envLines((await textAt(dir, '.env')) ?? '')) add(name, providerOfVariable(name), value);
  for (const [name, channel] of Object.entries(tableOf(config.channels)))
    for (const field of ['botToken', 'token', 'appToken', 'signingSecret', 'password']) add(`channels.${name}.${field}`, null, tableOf(channel)[field]);
  return [...found.values()];
};
