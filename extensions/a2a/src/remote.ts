/** Agents elsewhere: whom somebody added, and what they were asked. */
import type { Actor, ExtensionContext, Plain } from '@svc/api';
import type { RemoteAgent } from './contract.js';
import { a2aErrors } from './errors.js';
import type { A2aTask, Skill, TaskStatus } from './shapes.js';
import type { RemoteAgentRow, RemoteTaskRow } from './tables.js';
import { canonicalUrl, fetchCard, lookAt, type Protocol, type RemoteAnswer, sendTo } from './wire.js';

const AGENTS = 'agents';
const TASKS = 'tasks';
const OVER: ReadonlySet<string> = new Set(['completed', 'cancelled', 'failed']);
const MAX_AGENTS = 1_000;
const KEPT_MS = 7 * 86_400_000;
const PRUNED_AT_ONCE = 500;

type Shown = Plain<typeof RemoteAgent>;
export interface Remotes {
  list(actor: Actor): Promise<Shown[]>;
  find(actor: Actor, key: string): Promise<Shown | undefined>;
  discover(actor: Actor, url: string): Promise<Shown>;
  send(actor: Actor, agent: string, message: string): Promise<A2aTask>;
  task(actor: Actor, id: string): Promise<A2aTask | undefined>;
  prune(): Promise<void>;
}

const shown = ({ id, name, url, description, version, protocol, skills, created_at }: RemoteAgentRow): Shown => ({
  ...{ id, name, url, description, version, protocol, created_at },
  status: 'trusted',
  skills: JSON.parse(skills) as Skill[],
});
const toTask = (row: RemoteTaskRow): A2aTask => ({
  task_id: row.id,
  status: row.status as TaskStatus,
  ...(row.result === null ? {} : { result: JSON.parse(row.result) as NonNullable<A2aTask['result']> }),
});
const wire = ({ name, endpoint, protocol }: RemoteAgentRow) => ({ name, endpoint, protocol: protocol as Protocol });

export const createRemotes = (ctx: Pick<ExtensionContext, 'db' | 'clock' | 'ids' | 'fetch'>): Remotes => {
  const rows = (actor: Actor, where: Record<string, string> = {}) => ctx.db.as(actor).select<RemoteAgentRow>({ from: AGENTS, where, order: [{ column: 'created_at' }], limit: MAX_AGENTS });
  /** By id, else by URL, else by name. */
  const found = async (actor: Actor, key: string): Promise<RemoteAgentRow | undefined> => {
    for (const where of [{ id: key }, ...(URL.canParse(key) ? [{ url: canonicalUrl(key) }] : []), { name: key }]) {
      const all = await rows(actor, where);
      const own = all.filter(({ owner_id }) => owner_id === actor.ownerId);
      const fit = own.length > 0 ? own : all;
      if (fit.length > 1) throw a2aErrors.name_ambiguous(key);
      if (fit[0]) return fit[0];
    }
    return undefined;
  };
  const put = async (row: RemoteTaskRow): Promise<A2aTask> => {
    await ctx.db.commit([ctx.db.upsert(TASKS, ['id'], [row])]);
    return toTask(row);
  };
  const answered = ({ remoteId, status, result }: RemoteAnswer) => ({ remote_id: remoteId, status, result: result ? JSON.stringify(result) : null, updated_at: ctx.clock.iso() });

  return {
    list: async (actor) => (await rows(actor)).map(shown),
    find: async (actor, key) => {
      const row = await found(actor, key);
      return row && shown(row);
    },
    discover: async (actor, given) => {
      const url = canonicalUrl(given);
      const { skills, ...card } = await fetchCard(ctx, url);
      const [known] = await rows(actor, { url, owner_id: actor.ownerId });
      const now = ctx.clock.iso();
      const row: RemoteAgentRow = { ...card, id: known?.id ?? ctx.ids.uuid(), owner_id: actor.ownerId, url, skills: JSON.stringify(skills), created_at: known?.created_at ?? now, updated_at: now };
      await ctx.db.commit([ctx.db.upsert(AGENTS, ['id'], [row])]);
      return shown(row);
    },
    send: async (actor, key, message) => {
      const agent = await found(actor, key);
      if (!agent) throw a2aErrors.agent_not_found(key);
      const id = ctx.ids.uuid();
      const answer = await sendTo(ctx, wire(agent), id, message);
      return put({ id, owner_id: actor.ownerId, agent_id: agent.id, created_at: ctx.clock.iso(), ...answered(answer) });
    },
    task: async (actor, id) => {
      const [row] = await ctx.db.as(actor).select<RemoteTaskRow>({ from: TASKS, where: { id }, limit: 1 });
      if (!row || OVER.has(row.status) || row.remote_id === null) return row && toTask(row);
      const [agent] = await rows(actor, { id: row.agent_id });
      return agent ? put({ ...row, ...answered(await lookAt(ctx, wire(agent), row.remote_id)) }) : toTask(row);
    },
    prune: async () => {
      const before = new Date(ctx.clock.now() - KEPT_MS).toISOString();
      const old = await ctx.db.system('pruning').select<Pick<RemoteTaskRow, 'id'>>({ from: TASKS, columns: ['id'], where: { updated_at: { lt: before } }, limit: PRUNED_AT_ONCE });
      if (old.length > 0) await ctx.db.commit([ctx.db.remove(TASKS, { id: old.map(({ id }) => id) })]);
    },
  };
};
