/**
 * The rows of calls on their way.
 *
 * R1  A row stands before its call is made. The commit that adds what the call used deletes it.
 * R2  A row whose process ended becomes usage, at the most that its call may have used: when its run goes on elsewhere,
 *     or when no call could have lasted so long. Whoever does it twice adds it once.
 */
import type { Clock, Db, Row, Write } from '@svc/api';
import type { CallContext, Units } from '../contract.js';
import { ReservationRows, UsageRows } from '../tables.js';

/** The most that a call may use, of the dearest model that may answer it. */
export interface Ceiling {
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  /** The longest that the call may last, with its retries and other models. */
  readonly lastsMs: number;
  /** Of what is not tokens. */
  readonly units?: Pick<Units, 'unit' | 'quantity'>;
}

export interface Reservations {
  insert(id: string, context: CallContext, ceiling: Ceiling): Write;
  remove(id: string): Write;
  /** What an earlier process left of this run, as usage; nothing, mostly. */
  leftOf(run: Pick<CallContext, 'agentId' | 'runId'>): Promise<readonly Write[]>;
  /** What another process reserved for what is not tokens, as usage of so many. Answers nothing for a row that is gone. */
  settleUnits(id: string, quantity: number): Promise<{ readonly agentId: string; readonly writes: readonly Write[] } | undefined>;
  /** Those that have outlived every call become usage. Answers how many. */
  sweep(): Promise<number>;
}

interface Reserved extends Row {
  readonly id: string;
  readonly run_id: string;
  readonly agent_id: string;
  readonly owner_id: string;
  readonly purpose: string;
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_micros: number;
  readonly begun_by: string | null;
  readonly root_id: string | null;
  readonly channel: string | null;
  readonly unit: string | null;
  readonly quantity: number | null;
}

const SWEPT_AT_ONCE = 1_000;
/** Earlier builds empty the row of a call that ended, and delete it later. It reserves nothing, and is nobody's. */
const EMPTIED = '';

export const createReservations = ({ db, clock, self }: { readonly db: Db; readonly clock: Pick<Clock, 'now' | 'iso'>; readonly self: string }): Reservations => {
  const left = db.system('reservations of processes that ended');
  const asUsage = (rows: readonly Reserved[], estimated = 1): readonly Write[] => {
    if (rows.length === 0) return [];
    const at = clock.iso();
    const usage = rows.map(({ id, run_id, agent_id, owner_id, purpose, provider, model, input_tokens, output_tokens, cost_micros, begun_by, root_id, channel, unit, quantity }) => ({
      id,
      run_id,
      agent_id,
      owner_id,
      provider,
      model,
      input_tokens,
      output_tokens,
      cost_micros,
      estimated,
      purpose,
      attempts: null,
      at,
      begun_by,
      root_id,
      channel,
      unit,
      quantity,
    }));
    return [db.insert(UsageRows.name, usage, { ifAbsent: true }), db.remove(ReservationRows.name, { id: rows.map(({ id }) => id) })];
  };
  return {
    insert: (id, { runId, agentId, actor, purpose, begunBy, root, channel }, { provider, model, inputTokens, outputTokens, costMicros, lastsMs, units }) =>
      db.insert(ReservationRows.name, [
        {
          id,
          holder: self,
          run_id: runId,
          agent_id: agentId,
          owner_id: actor.ownerId,
          purpose,
          provider,
          model,
          input_tokens: inputTokens,
          output_tokens: outputTokens,
          cost_micros: costMicros,
          until: new Date(clock.now() + lastsMs).toISOString(),
          begun_by: begunBy ?? null,
          root_id: root?.id ?? null,
          channel: channel ?? null,
          unit: units?.unit ?? null,
          quantity: units?.quantity ?? null,
        },
      ]),
    remove: (id) => db.remove(ReservationRows.name, { id }, { expect: 'any' }),
    leftOf: async ({ agentId, runId }) => asUsage(await left.select<Reserved>({ from: ReservationRows.name, where: { agent_id: agentId, run_id: runId, holder: { not: self } } })),
    settleUnits: async (id, quantity) => {
      const row = await left.first<Reserved>({ from: ReservationRows.name, where: { id } });
      if (!row || row.quantity === null) return undefined;
      const used = { ...row, quantity, cost_micros: row.quantity === 0 ? 0 : Math.ceil((row.cost_micros * quantity) / row.quantity) };
      return { agentId: row.agent_id, writes: quantity === 0 ? [db.remove(ReservationRows.name, { id })] : asUsage([used], 0) };
    },
    sweep: async () => {
      if (await left.first({ from: ReservationRows.name, columns: ['id'], where: { until: EMPTIED } })) await db.commit([db.remove(ReservationRows.name, { until: EMPTIED })]);
      const rows = await left.select<Reserved>({ from: ReservationRows.name, where: { until: { gt: EMPTIED, lt: clock.iso() } }, order: [{ column: 'until' }], limit: SWEPT_AT_ONCE });
      if (rows.length > 0) await db.commit(asUsage(rows));
      return rows.length;
    },
  };
};
