/**
 * What became of each call of a hook.
 *
 * T1  Every call leaves a row, also one that could not start. Texts are cut, and what looks like a secret is taken out of them.
 * T2  There are 2,000 at most; the oldest go first. They go with the person, the agent and the conversation they belong to.
 */
import type { Actor, Db, Ids, Logger } from '@svc/api';
import type { TraceRow } from '../contract.js';
import type { Outcome } from './hook-process.js';
import { headOf } from './redact.js';

export const MAX_TRACES = 2_000;
const PRUNE_EVERY = 50;

export interface Called {
  readonly ownerId: string;
  readonly agentId: string | null;
  readonly sessionId: string | null;
  readonly runId: string | null;
  readonly plugin: string;
  readonly hook: string;
  readonly at: string;
  readonly elapsedMs: number;
  readonly input: string;
  readonly note: string | null;
  readonly outcome: Outcome;
  /** Nothing may stay of what was said. */
  readonly isUnkept: boolean;
}

export interface TraceQuery {
  readonly plugin?: string | undefined;
  readonly runId?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly limit: number;
}

export interface Traces {
  /** Never rejects. */
  add(called: Called): Promise<void>;
  list(actor: Actor, query: TraceQuery): Promise<readonly TraceRow[]>;
}

export const createTraces = ({ db, ids, log }: { readonly db: Db; readonly ids: Ids; readonly log: Logger }): Traces => {
  let added = 0;
  const prune = async (): Promise<void> => {
    const [last] = await db.system('limit of traces').select<Pick<TraceRow, 'at'>>({ from: 'traces', columns: ['at'], order: [{ column: 'at', descending: true }], limit: 1, offset: MAX_TRACES });
    if (last) await db.commit([db.remove('traces', { at: { lte: last.at } }, { expect: 'any' })]);
  };
  return {
    add: async (called) => {
      try {
        await db.commit([db.insert('traces', [rowOf(ids.hex(8), called)])]);
        if (++added % PRUNE_EVERY === 0) await prune();
      } catch (cause) {
        log.warn('the trace of a hook could not be stored', { plugin: called.plugin, hook: called.hook, cause });
      }
    },
    list: (actor, { plugin, runId, failed, limit }) =>
      db.as(actor).select<TraceRow>({
        from: 'traces',
        where: { ...(plugin === undefined ? {} : { plugin }), ...(runId === undefined ? {} : { run_id: runId }), ...(failed === true ? { error: { not: null } } : {}) },
        order: [{ column: 'at', descending: true }],
        limit,
      }),
  };
};

const rowOf = (id: string, { outcome, isUnkept, ...called }: Called): TraceRow => ({
  id,
  owner_id: called.ownerId,
  agent_id: called.agentId,
  session_id: called.sessionId,
  run_id: called.runId,
  plugin: called.plugin,
  hook: called.hook,
  at: called.at,
  elapsed_ms: Math.round(called.elapsedMs),
  error: outcome.fault?.kind ?? null,
  // A script may say in its errors what it read.
  message: outcome.fault && !isUnkept ? headOf(outcome.fault.message) : null,
  note: isUnkept ? null : called.note,
  exit_code: outcome.exitCode,
  line: outcome.taken?.line ?? null,
  walls: outcome.walls,
  input: isUnkept ? '' : headOf(called.input),
  output: isUnkept ? '' : headOf(outcome.stdout),
  stderr: isUnkept ? '' : headOf(outcome.stderr),
});
