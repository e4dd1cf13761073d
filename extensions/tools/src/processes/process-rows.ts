/** The rows of processes: what an agent and later lives of the daemon know of them. */
import { type Actor, type Db, defineTable, type RowOf, type Write } from '@svc/api';

/** Of one agent, beside those that run. */
const KEPT_ROWS = 20;

export const ProcessRows = defineTable('processes', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: { kind: 'text', notNull: true },
    agent_id: { kind: 'text', notNull: true },
    command: { kind: 'text', notNull: true },
    state: { kind: 'text', notNull: true },
    exit_code: { kind: 'integer' },
    note: { kind: 'text' },
    started_at: { kind: 'text', notNull: true },
    ended_at: { kind: 'text' },
  },
  owner: 'owner_id',
  agent: 'agent_id',
  indexes: [['agent_id', 'started_at']],
});

/** `ended`: somebody or a limit ended it. `lost`: the daemon died while it ran. */
export type ProcessState = 'running' | 'exited' | 'ended' | 'lost';

type Row = RowOf<typeof ProcessRows>;
export type ProcessRow = Omit<Row, 'state'> & { readonly state: ProcessState };

export interface ProcessEnd {
  readonly state: Exclude<ProcessState, 'running'>;
  readonly exitCode: number | null;
  /** Of one that did not exit by itself with a code: how it ended, in words. */
  readonly note: string | null;
}

export interface ProcessStore {
  get(actor: Actor, agentId: string, id: string): Promise<ProcessRow | undefined>;
  /** Newest first. */
  list(actor: Actor, agentId: string): Promise<ProcessRow[]>;
  insert(row: Pick<ProcessRow, 'id' | 'owner_id' | 'agent_id' | 'command' | 'started_at'>): Write;
  /** Changes nothing where the agent was erased meanwhile. */
  end(id: string, end: ProcessEnd, at: string): Write;
  remove(id: string): Write;
  /** Takes away the oldest of the agent that have ended, and are too many. */
  trim(actor: Actor, agentId: string): Promise<Write[]>;
}

const MAX_LISTED = 100;

export const createProcessStore = (db: Db): ProcessStore => {
  const list = (actor: Actor, agentId: string): Promise<ProcessRow[]> =>
    db.as(actor).select<ProcessRow>({ from: 'processes', where: { agent_id: agentId }, order: [{ column: 'started_at', descending: true }, { column: 'id' }], limit: MAX_LISTED });
  return {
    get: (actor, agentId, id) => db.as(actor).first<ProcessRow>({ from: 'processes', where: { id, agent_id: agentId } }),
    list,
    insert: (row) => db.insert('processes', [{ ...row, state: 'running', exit_code: null, note: null, ended_at: null }]),
    end: (id, { state, exitCode, note }, at) => db.update('processes', ['id'], [{ id, state, exit_code: exitCode, note, ended_at: at }]),
    remove: (id) => db.remove('processes', { id }),
    trim: async (actor, agentId) => {
      const old = (await list(actor, agentId)).filter(({ state }) => state !== 'running').slice(KEPT_ROWS - 1);
      return old.length === 0 ? [] : [db.remove('processes', { id: old.map(({ id }) => id) })];
    },
  };
};
