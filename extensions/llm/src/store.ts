import { type Actor, type Db, idGroups, type Scalar, type Write } from '@svc/api';
import type { Attempt, CallContext, Usage, Units } from './contract.js';

/** What one exchange with a model took, as it is kept. */
export interface UsageRecord {
  readonly id: string;
  readonly context: CallContext;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** Kept where there was more than one attempt. */
  readonly attempts: readonly Attempt[];
  readonly at: string;
  /** Of what is not tokens. */
  readonly units?: Pick<Units, 'unit' | 'quantity'>;
}

export interface UsageStore {
  /** Data, not an effect: it joins the commit of whoever asked. */
  insert(records: readonly UsageRecord[]): Write[];
  commit(writes: readonly Write[]): Promise<void>;
  total(actor: Actor, filter: { agentId?: string; runIds?: readonly string[] }): Promise<Usage & { requests: number }>;
  /** What the calls of a scope used since then, by minute, and what those on their way in other processes may use: as of one moment. */
  spent(scope: Scope, since: string): Promise<Spent>;
  /** The same of a month until then, by day (UTC). */
  spentByDay(scope: Scope, month: string, until: string): Promise<ReadonlyArray<{ readonly day: string; readonly costMicros: number }>>;
  /** What all calls since then used, by agent and model. Of very many, the newest million. */
  since(ms: number): Promise<UsedBy[]>;
  /** Of each of these agents since then, as far as the actor may see. */
  spending(actor: Actor, agentIds: readonly string[], since: string): Promise<Record<string, number>>;
}

/** What the calls of one agent to one model used. */
export interface UsedBy {
  readonly agentId: string;
  readonly provider: string;
  readonly model: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
}

/** An agent by its id, or all agents together. */
export type Scope = string | null;

export interface Spent {
  /** `2026-01-31T10:59` */
  readonly minutes: ReadonlyArray<{ readonly minute: string; readonly tokens: number; readonly costMicros: number }>;
  readonly elsewhere: { readonly tokens: number; readonly costMicros: number };
}

const MAX_SUMMED = 1_000_000;

/** Ids grow with their time (UUID version 7), so the newest rows are found by their key; those of earlier builds are told by their time. */
const firstIdAt = (ms: number): string => {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
};

interface Sums {
  requests: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_micros: number | null;
}

/** `self`: the generation whose own calls on their way are counted in memory. */
export const createUsageStore = (db: Db, self: string): UsageStore => {
  const table = db.table('usage');
  const reservations = db.table('reservations');
  const budgets = db.system('budgets');
  const sums = async (actor: Actor, condition: string, args: readonly Scalar[]): Promise<Sums> => {
    const row = await db
      .as(actor)
      .readOne<Sums>(`SELECT COUNT(*) AS requests, SUM(input_tokens) AS input_tokens, SUM(output_tokens) AS output_tokens, SUM(cost_micros) AS cost_micros FROM ${table}${condition}`, args);
    return row ?? { requests: 0, input_tokens: 0, output_tokens: 0, cost_micros: 0 };
  };
  return {
    insert: (records) => (records.length === 0 ? [] : [db.insert('usage', records.map(rowOf))]),
    commit: async (writes) => {
      await db.commit(writes);
    },
    total: async (actor, { agentId, runIds }) => {
      const [byAgent, agentArgs] = agentId === undefined ? [[], []] : [['agent_id = ?'], [agentId]];
      if (runIds === undefined) return summed([await sums(actor, whereSql(byAgent), agentArgs)]);
      const reads = idGroups(runIds).map((group) => sums(actor, whereSql([...byAgent, `run_id IN (${group.map(() => '?').join(', ')})`]), [...agentArgs, ...group]));
      return summed(await Promise.all(reads));
    },
    spent: async (scope, since) => {
      const [whose, args] = scopeSql(scope);
      const rows = await budgets.read<{ minute: string; tokens: number | string | null; cost: number | string | null }>(
        `SELECT substr(at, 1, 16) AS minute, SUM(input_tokens + output_tokens) AS tokens, SUM(cost_micros) AS cost FROM ${table} WHERE ${whose}at >= ? GROUP BY substr(at, 1, 16)
         UNION ALL SELECT '' AS minute, SUM(input_tokens + output_tokens) AS tokens, SUM(cost_micros) AS cost FROM ${reservations} WHERE ${whose}holder <> ?`,
        [...args, since, ...args, self],
      );
      // PostgreSQL gives sums as text.
      const sums = rows.map(({ minute, tokens, cost }) => ({ minute, tokens: Number(tokens ?? 0), costMicros: Number(cost ?? 0) }));
      const { tokens = 0, costMicros = 0 } = sums.find(({ minute }) => minute === '') ?? {};
      return { minutes: sums.filter(({ minute }) => minute !== ''), elsewhere: { tokens, costMicros } };
    },
    spentByDay: async (scope, month, until) => {
      const [whose, args] = scopeSql(scope);
      const days = await budgets.read<{ day: string; cost: number | string }>(
        `SELECT substr(at, 1, 10) AS day, SUM(cost_micros) AS cost FROM ${table} WHERE ${whose}at >= ? AND at < ? GROUP BY substr(at, 1, 10)`,
        [...args, `${month}-01`, until],
      );
      return days.map(({ day, cost }) => ({ day, costMicros: Number(cost) }));
    },
    since: async (ms) => {
      const rows = await db.system('budgets and metrics').read<Record<'agent_id' | 'provider' | 'model', string> & Record<'calls' | 'input' | 'output' | 'cost', number | string>>(
        `SELECT agent_id, provider, model, COUNT(*) AS calls, SUM(input_tokens) AS input, SUM(output_tokens) AS output, SUM(cost_micros) AS cost
         FROM (SELECT agent_id, provider, model, input_tokens, output_tokens, cost_micros FROM ${table} WHERE id >= ? AND at >= ? ORDER BY id DESC LIMIT ?) AS newest
         GROUP BY agent_id, provider, model`,
        [firstIdAt(ms), new Date(ms).toISOString(), MAX_SUMMED],
      );
      return rows.map(({ agent_id, provider, model, calls, input, output, cost }) => ({
        agentId: agent_id,
        provider,
        model,
        calls: Number(calls),
        inputTokens: Number(input),
        outputTokens: Number(output),
        costMicros: Number(cost),
      }));
    },
    spending: async (actor, agentIds, since) => {
      const reads = idGroups(agentIds).map((group) =>
        db
          .as(actor)
          .read<{ agent_id: string; cost: number | string }>(
            `SELECT agent_id, SUM(cost_micros) AS cost FROM ${table} WHERE agent_id IN (${group.map(() => '?').join(', ')}) AND at >= ? GROUP BY agent_id`,
            [...group, since],
          ),
      );
      // PostgreSQL gives sums as text.
      return Object.fromEntries((await Promise.all(reads)).flat().map(({ agent_id, cost }) => [agent_id, Number(cost)]));
    },
  };
};

const scopeSql = (scope: Scope): readonly [string, readonly Scalar[]] => (scope === null ? ['', []] : ['agent_id = ? AND ', [scope]]);

const whereSql = (conditions: readonly string[]): string => (conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`);

const rowOf = ({ id, context, provider, model, usage, attempts, at, units }: UsageRecord) => ({
  id,
  run_id: context.runId,
  agent_id: context.agentId,
  owner_id: context.actor.ownerId,
  provider,
  model,
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cost_micros: usage.costMicros,
  estimated: usage.estimated ? 1 : 0,
  purpose: context.purpose,
  attempts: attempts.length > 1 ? JSON.stringify(attempts) : null,
  at,
  begun_by: context.begunBy ?? null,
  root_id: context.root?.id ?? null,
  channel: context.channel ?? null,
  unit: units?.unit ?? null,
  quantity: units?.quantity ?? null,
});

const summed = (rows: readonly Sums[]): Usage & { requests: number } => {
  const add = (pick: (row: Sums) => number | null): number => rows.reduce((sum, row) => sum + Number(pick(row) ?? 0), 0);
  return { requests: add((row) => row.requests), inputTokens: add((row) => row.input_tokens), outputTokens: add((row) => row.output_tokens), costMicros: add((row) => row.cost_micros) };
};
