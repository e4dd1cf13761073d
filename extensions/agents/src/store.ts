/** All that agents keep. Every read for somebody filters by the actor. An agent on its way out (`Terminated`) is seen by no reader. */
import { type Actor, type Db, type Found, idGroups, type ListDecl, type ListQuery, type Reader, readList, type Scalar, seesAll, type Where, type Write } from '@svc/api';
import type { Agent, AgentBrief, AgentLimits, AgentManifest, AgentState } from './contract.js';

export interface AgentFilter {
  readonly state?: AgentState | 'Terminated';
  readonly owner?: string;
}

export interface AgentRow {
  id: string;
  name: string;
  owner_id: string;
  state: AgentState;
  mode: string;
  parent_id: string | null;
  session_id: string;
  manifest: unknown;
  created_at: string;
  last_active_at: string | null;
  revision: number;
}

/** Of an agent on its way into the bin, or out of it. */
export interface OnItsWay {
  readonly deletedAt: string;
  readonly keepUntil: string;
  /** Its state before. */
  readonly state: AgentState;
  readonly isComingBack?: boolean;
}

export interface Leaving {
  readonly agent: Agent;
  /** null for one that is erased. */
  readonly way: OnItsWay | null;
}

export interface AgentStore {
  get(actor: Actor, id: string): Promise<Agent | undefined>;
  byName(actor: Actor, name: string): Promise<Agent | undefined>;
  /** The agent even when it is `Terminated`: to finish what a crash cut off. */
  forKill(actor: Actor, id: string): Promise<Leaving | undefined>;
  page(actor: Actor, list: ListDecl, query: ListQuery, filter: AgentFilter): Promise<Found<Agent>>;
  all(actor: Actor, limit: number): Promise<Agent[]>;
  /** Those on their way into the bin or out of it are there: what belongs to them is no orphan. */
  briefs(actor: Actor, ids: readonly string[]): Promise<Record<string, AgentBrief>>;
  terminated(): Promise<Leaving[]>;
  /** All that live, whoever's they are. */
  count(): Promise<number>;
  /** Living agents below these that the actor may see, by parent; the oldest first. */
  children(actor: Actor, parentIds: readonly string[]): Promise<Record<string, readonly string[]>>;
  countChildren(parentId: string): Promise<number>;
  /** Which of these names the owner's agents have already, those on their way out included. */
  namesAmong(ownerId: string, names: readonly string[]): Promise<string[]>;
  hasMark(name: string): Promise<boolean>;
  insert(agent: Agent, way?: OnItsWay): Write;
  insertMark(name: string, at: string): Write;
  /** Its current session: no change of the agent itself. */
  setSession(id: string, sessionId: string): Write;
  /** The agent as it shall be. Conflicts when it has changed since it was read, or is on its way out. */
  change(before: Agent, after: Pick<Agent, 'name' | 'state' | 'mode' | 'manifest'>): Write;
  /** Marks it as on its way out, whatever else happens to it. */
  end(id: string, way: OnItsWay | null): Write;
  /** Conflicts unless it is on its way back. */
  reopen(id: string, state: AgentState): Write;
  toAgent(row: AgentRow): Agent;
  toRow(agent: Agent): Record<string, Scalar>;
  touch(at: ReadonlyMap<string, string>): Write;
  /** Conflicts when the row is gone already. */
  remove(id: string): Write;
  commit(writes: readonly Write[]): Promise<void>;
}

const LIVING: Where = { state: { not: 'Terminated' } };

export const createStore = (db: Db): AgentStore => {
  const one = async (actor: Actor, where: Where): Promise<Agent | undefined> => {
    const row = await db.as(actor).first<AgentRow>({ from: 'agents', where, order: [{ column: 'created_at' }] });
    return row && toAgent(row);
  };
  return {
    count: () => db.system('agents of the installation').count('agents', LIVING),
    get: (actor, id) => one(actor, { ...LIVING, id }),
    // One who sees several owners' agents of this name gets their own before others', then the oldest.
    byName: async (actor, name) => {
      const own = await one(actor, { ...LIVING, name, owner_id: actor.ownerId });
      return own ?? (seesAll(actor) ? one(actor, { ...LIVING, name }) : undefined);
    },
    forKill: async (actor, id) => {
      const row = await db.as(actor).first<LeavingRow>({ from: 'agents', where: { id } });
      return row && toLeaving(row);
    },
    page: async (actor, list, query, { state, owner }) => {
      const states: Where = state === undefined ? LIVING : { state: state === 'Terminated' ? [] : state };
      const found = await readList<AgentRow>(db.as(actor), list, query, {
        from: 'agents',
        where: { ...states, ...(owner === undefined ? {} : { owner_id: owner }) },
        search: ['name', 'description'],
        columns: { name: { column: 'name', ignoreCase: true }, last_active: { column: 'last_active_at' } },
      });
      return { ...found, rows: found.rows.map(toAgent) };
    },
    all: async (actor, limit) => (await db.as(actor).read<AgentRow>(`SELECT * FROM ${db.table('agents')} WHERE state <> 'Terminated' ORDER BY lower(name), id LIMIT ?`, [limit])).map(toAgent),
    briefs: async (actor, ids) => {
      const reads = idGroups(ids).map((group) =>
        db
          .as(actor)
          .read<Pick<AgentRow, 'id' | 'name' | 'session_id'>>(
            `SELECT id, name, session_id FROM ${db.table('agents')} WHERE (state <> 'Terminated' OR bin IS NOT NULL) AND id IN (${group.map(() => '?').join(', ')})`,
            group,
          ),
      );
      return Object.fromEntries((await Promise.all(reads)).flat().map(({ id, name, session_id: sessionId }) => [id, { name, sessionId }]));
    },
    terminated: async () => (await db.system('agents to end after a restart').select<LeavingRow>({ from: 'agents', where: { state: 'Terminated' } })).map(toLeaving),
    children: (actor, parentIds) => children(db.as(actor), parentIds),
    countChildren: (parentId) => db.system('limit of children').count('agents', { parent_id: parentId }),
    namesAmong: async (ownerId, names) =>
      (
        await db
          .system('names of one owner: a name is taken once per owner, also where the caller sees all')
          .select<{ name: string }>({ from: 'agents', columns: ['name'], where: { owner_id: ownerId, name: names } })
      ).map(({ name }) => name),
    hasMark: async (name) => (await db.system('what was done once').first({ from: 'marks', where: { name } })) !== undefined,
    insert: (agent, way) => db.insert('agents', [{ ...toRow(agent), ...(way === undefined ? {} : { bin: JSON.stringify(way) }) }]),
    insertMark: (name, at) => db.insert('marks', [{ name, at }]),
    setSession: (id, sessionId) => db.update('agents', ['id'], [{ id, session_id: sessionId }]),
    change: ({ id, revision }, { name, state, mode, manifest }) =>
      db.sql(
        `UPDATE ${db.table('agents')} SET name = ?, description = ?, manifest = ?, state = ?, mode = ?, revision = revision + 1 WHERE id = ? AND revision = ? AND state <> 'Terminated'`,
        [name, manifest.description, JSON.stringify(manifest), state, mode, id, revision],
        { expect: 1 },
      ),
    end: (id, way) => db.update('agents', ['id'], [{ id, state: 'Terminated', bin: way && JSON.stringify(way) }]),
    reopen: (id, state) => db.sql(`UPDATE ${db.table('agents')} SET state = ?, bin = NULL WHERE id = ? AND state = 'Terminated' AND bin IS NOT NULL`, [state, id], { expect: 1 }),
    toAgent,
    toRow,
    touch: (at) =>
      db.update(
        'agents',
        ['id'],
        [...at].map(([id, last]) => ({ id, last_active_at: last })),
      ),
    remove: (id) => db.remove('agents', { id }, { expect: 1 }),
    commit: async (writes) => void (await db.commit(writes)),
  };
};

interface LeavingRow extends AgentRow {
  bin: unknown;
}

const toLeaving = (row: LeavingRow): Leaving => ({ agent: toAgent(row), way: row.bin === null ? null : ((typeof row.bin === 'string' ? JSON.parse(row.bin) : row.bin) as OnItsWay) }); // as `end` and `insert` wrote it

const children = async (reader: Reader, parentIds: readonly string[]): Promise<Record<string, readonly string[]>> => {
  const order = [{ column: 'created_at' }, { column: 'id' }];
  const reads = idGroups(parentIds).map((group) => reader.select<{ id: string; parent_id: string }>({ from: 'agents', columns: ['id', 'parent_id'], where: { ...LIVING, parent_id: group }, order }));
  const below: Record<string, string[]> = {};
  for (const { id, parent_id } of (await Promise.all(reads)).flat()) {
    const listed = below[parent_id] ?? [];
    listed.push(id);
    below[parent_id] = listed;
  }
  return below;
};

const NO_LIMITS: AgentLimits = { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0, max_concurrent_tools: 0 };

const toAgent = (row: AgentRow): Agent => ({
  id: row.id,
  name: row.name,
  ownerId: row.owner_id,
  state: row.state,
  // Only ever written from an Agent; PostgreSQL hands JSON back parsed, SQLite as text.
  manifest: upToDate((typeof row.manifest === 'string' ? JSON.parse(row.manifest) : row.manifest) as AgentManifest),
  mode: row.mode,
  parentId: row.parent_id,
  sessionId: row.session_id,
  createdAt: row.created_at,
  lastActiveAt: row.last_active_at,
  revision: row.revision,
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
  revision: agent.revision,
});
