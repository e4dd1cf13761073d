/** All SQL of agents. Every read for somebody filters by `ownerScope`. An agent on its way out (`Terminated`) is seen by no reader. */
import { type Actor, type Db, idGroups, ownerScope, type Scalar, type Write } from '@svc/api';
import type { Agent, AgentLimits, AgentManifest, AgentState } from './contract.js';

export type SortField = 'name' | 'created_at' | 'last_active' | 'state';

export interface AgentFilter {
  /** Part of a name or description, without case. */
  readonly q?: string;
  readonly status?: string;
  readonly owner?: string;
  readonly sort: SortField;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

export interface SpawnKey {
  readonly fingerprint: string;
  readonly agentId: string;
  readonly name: string;
}

interface AgentRow {
  id: string;
  name: string;
  owner_id: string;
  state: string;
  mode: string;
  parent_id: string | null;
  session_id: string;
  manifest: unknown;
  created_at: string;
  last_active_at: string | null;
}

/** Never taken from a request: the only texts that reach ORDER BY. */
const SORT_COLUMNS: Readonly<Record<SortField, string>> = { name: 'lower(name)', created_at: 'created_at', last_active: 'last_active_at', state: 'state' };

export interface AgentStore {
  get(actor: Actor, id: string): Promise<Agent | undefined>;
  byName(actor: Actor, name: string): Promise<Agent | undefined>;
  /** The agent even when it is `Terminated`: to finish what a crash cut off. */
  forKill(actor: Actor, id: string): Promise<Agent | undefined>;
  page(actor: Actor, filter: AgentFilter): Promise<{ agents: Agent[]; total: number }>;
  all(actor: Actor, limit: number): Promise<Agent[]>;
  terminated(): Promise<Agent[]>;
  /** Living agents below these that the actor may see, by parent; the oldest first. */
  children(actor: Actor, parentIds: readonly string[]): Promise<Map<string, string[]>>;
  countChildren(parentId: string): Promise<number>;
  hasMark(name: string): Promise<boolean>;
  spawnKey(ownerId: string, key: string): Promise<SpawnKey | undefined>;
  insert(agent: Agent): Write;
  insertKey(ownerId: string, key: string, record: SpawnKey, at: string): Write;
  insertMark(name: string, at: string): Write;
  update(id: string, changes: { session_id?: string; manifest?: AgentManifest; state?: AgentState }): Write;
  touch(at: ReadonlyMap<string, string>): Write;
  /** Conflicts when the row is gone already. */
  remove(id: string): Write;
  forgetKeysBefore(at: string): Write;
  commit(writes: readonly Write[]): Promise<void>;
}

export const createStore = (db: Db): AgentStore => {
  const agents = db.table('agents');
  const keys = db.table('spawn_keys');
  const marks = db.table('marks');
  const one = async (where: string, args: readonly Scalar[]): Promise<Agent | undefined> => {
    const row = await db.readOne<AgentRow>(`SELECT * FROM ${agents} WHERE ${where}`, args);
    return row && toAgent(row);
  };
  const many = async (tail: string, args: readonly Scalar[]): Promise<Agent[]> => (await db.read<AgentRow>(`SELECT * FROM ${agents} ${tail}`, args)).map(toAgent);
  const mine = '(? = 1 OR owner_id = ?)';
  return {
    get: (actor, id) => one(`${mine} AND id = ? AND state <> 'Terminated'`, [...ownerScope(actor), id]),
    // One who sees several owners' agents of this name gets their own before others', then the oldest.
    byName: (actor, name) => one(`${mine} AND name = ? AND state <> 'Terminated' ORDER BY CASE WHEN owner_id = ? THEN 0 ELSE 1 END, created_at LIMIT 1`, [...ownerScope(actor), name, actor.ownerId]),
    forKill: (actor, id) => one(`${mine} AND id = ?`, [...ownerScope(actor), id]),
    page: (actor, filter) => page(db, agents, actor, filter),
    all: (actor, limit) => many(`WHERE ${mine} AND state <> 'Terminated' ORDER BY lower(name), id LIMIT ?`, [...ownerScope(actor), limit]),
    terminated: () => many(`WHERE state = 'Terminated'`, []),
    children: async (actor, parentIds) => {
      const reads = idGroups(parentIds).map((group) =>
        db.read<{ id: string; parent_id: string }>(
          `SELECT id, parent_id FROM ${agents} WHERE parent_id IN (${group.map(() => '?').join(', ')}) AND ${mine} AND state <> 'Terminated' ORDER BY created_at, id`,
          [...group, ...ownerScope(actor)],
        ),
      );
      const below = new Map<string, string[]>();
      for (const { id, parent_id } of (await Promise.all(reads)).flat()) below.set(parent_id, [...(below.get(parent_id) ?? []), id]);
      return below;
    },
    countChildren: async (parentId) => (await db.readOne<{ n: number }>(`SELECT count(*) AS n FROM ${agents} WHERE parent_id = ?`, [parentId]))?.n ?? 0,
    hasMark: async (name) => (await db.readOne(`SELECT name FROM ${marks} WHERE name = ?`, [name])) !== undefined,
    spawnKey: (ownerId, key) =>
      db.readOne<{ fingerprint: string; agentId: string; name: string }>(`SELECT fingerprint, agent_id AS "agentId", name FROM ${keys} WHERE owner_id = ? AND spawn_key = ?`, [ownerId, key]),
    insert: (agent) => ({ insert: agents, rows: [toRow(agent)] }),
    insertKey: (ownerId, key, record, at) => ({
      insert: keys,
      rows: [{ owner_id: ownerId, spawn_key: key, fingerprint: record.fingerprint, agent_id: record.agentId, name: record.name, created_at: at }],
    }),
    insertMark: (name, at) => ({ insert: marks, rows: [{ name, at }] }),
    update: (id, { manifest, ...columns }) => ({
      update: agents,
      key: ['id'],
      rows: [{ id, ...columns, ...(manifest ? { manifest: JSON.stringify(manifest), description: manifest.description } : {}) }],
    }),
    touch: (at) => ({ update: agents, key: ['id'], rows: [...at].map(([id, last]) => ({ id, last_active_at: last })) }),
    remove: (id) => ({ sql: `DELETE FROM ${agents} WHERE id = ?`, args: [id], expect: 1 }),
    forgetKeysBefore: (at) => ({ sql: `DELETE FROM ${keys} WHERE created_at < ?`, args: [at] }),
    commit: async (writes) => void (await db.commit(writes)),
  };
};

const page = async (db: Db, agents: string, actor: Actor, filter: AgentFilter): Promise<{ agents: Agent[]; total: number }> => {
  const conditions = ['(? = 1 OR owner_id = ?)', "state <> 'Terminated'"];
  const args: Scalar[] = [...ownerScope(actor)];
  if (filter.q) {
    conditions.push(`(lower(name) LIKE ? ESCAPE '!' OR lower(description) LIKE ? ESCAPE '!')`);
    const like = `%${filter.q.toLowerCase().replace(/[!%_]/g, '!$&')}%`;
    args.push(like, like);
  }
  if (filter.status) {
    conditions.push('lower(state) = ?');
    args.push(filter.status.toLowerCase());
  }
  if (filter.owner) {
    conditions.push('owner_id = ?');
    args.push(filter.owner);
  }
  const where = conditions.join(' AND ');
  const direction = filter.order === 'desc' ? 'DESC' : 'ASC';
  const [rows, count] = await Promise.all([
    // The id breaks ties, so that pages neither repeat nor skip an agent.
    db.read<AgentRow>(`SELECT * FROM ${agents} WHERE ${where} ORDER BY ${SORT_COLUMNS[filter.sort]} ${direction}, id LIMIT ? OFFSET ?`, [...args, filter.limit, filter.offset]),
    db.readOne<{ n: number }>(`SELECT count(*) AS n FROM ${agents} WHERE ${where}`, args),
  ]);
  return { agents: rows.map(toAgent), total: count?.n ?? 0 };
};

const NO_LIMITS: AgentLimits = { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0, max_concurrent_tools: 0 };

const toAgent = (row: AgentRow): Agent => ({
  id: row.id,
  name: row.name,
  ownerId: row.owner_id,
  // Both columns are only ever written from an Agent; PostgreSQL hands JSON back parsed, SQLite as text.
  state: row.state as AgentState,
  manifest: upToDate((typeof row.manifest === 'string' ? JSON.parse(row.manifest) : row.manifest) as AgentManifest),
  mode: row.mode,
  parentId: row.parent_id,
  sessionId: row.session_id,
  createdAt: row.created_at,
  lastActiveAt: row.last_active_at,
});

/** Keys that manifests had no place for when an older program wrote the row. */
const upToDate = (manifest: AgentManifest): AgentManifest => ({
  ...manifest,
  enabled: manifest.enabled ?? true,
  model: { ...manifest.model, context_window: manifest.model.context_window ?? null, max_output_tokens: manifest.model.max_output_tokens ?? null },
  thinking: manifest.thinking ?? null,
  max_history_messages: manifest.max_history_messages ?? null,
  resources: { ...NO_LIMITS, ...manifest.resources },
  kept: manifest.kept ?? {},
});

const toRow = (agent: Agent): Record<string, Scalar> => ({
  id: agent.id,
  name: agent.name,
  description: agent.manifest.description,
  owner_id: agent.ownerId,
  state: agent.state,
  mode: agent.mode,
  parent_id: agent.parentId,
  session_id: agent.sessionId,
  manifest: JSON.stringify(agent.manifest),
  created_at: agent.createdAt,
  last_active_at: agent.lastActiveAt,
});
