/** Timers that outlive their daemon: a run of the journal that sleeps until its time and then counts once, in the commit that ends it. */
import { createTables, defineTable, defineTool, defineWork, type DurableWorker, type ExtensionContext, type LeasedRun, Type } from '@svc/api';
import type { InstalledFiles } from '@svc/daemon';
import { fixtureExtension } from '@svc/testing/fixture-extension';

export const TIMERS = 'durable-timers';

const Input = Type.Object({ mark: Type.String(), dueMs: Type.Integer() });
const Timer = defineWork('durable-timer', '1.0.0', { input: Input, result: Type.Object({}) });
/** No key but the row's own: a timer that rang twice is two rows of one mark. */
const Rung = defineTable('rung', '1.0.0', { columns: { id: { kind: 'text', primaryKey: true }, mark: { kind: 'text', notNull: true } } });

/** `set_timer`: the same call begins one timer, however often it is repeated. */
export const durableTimers = (): InstalledFiles =>
  fixtureExtension({
    id: TIMERS,
    manifest: { tables: ['rung'], kinds: [Timer.name] },
    contributions: { migrations: ['0001_init'], tools: [{ name: 'set_timer', risk: 'write', replay: 'keyed' }] },
    definition: {
      tables: [Rung],
      migrations: [createTables('0001_init', [Rung])],
      activate: (ctx) => {
        const worker = ctx.journal.worker(Timer, { concurrency: 100, drive: (run) => drive(ctx, run) });
        ctx.tools.add(timerTool(ctx, worker));
      },
    },
  });

const timerTool = (ctx: ExtensionContext, worker: DurableWorker) =>
  defineTool({
    name: 'set_timer',
    description: 'Rings once under its mark.',
    params: Type.Object({ mark: Type.String(), in_ms: Type.Integer({ minimum: 0, maximum: 60_000 }) }),
    risk: 'write',
    replay: 'keyed',
    parallel: true,
    run: async ({ mark, in_ms: inMs }, call) => {
      const input = { mark, dueMs: ctx.clock.now() + inMs };
      const { leased } = await ctx.journal.open({ kind: Timer.name, actor: call.actor, key: call.callId, fingerprint: mark, input });
      if (leased) void worker.take(leased);
      return `set ${mark}`;
    },
  });

const drive = async (ctx: ExtensionContext, run: LeasedRun): Promise<void> => {
  const { mark, dueMs } = run.input as { mark: string; dueMs: number }; // as the tool opened it
  if (dueMs > ctx.clock.now()) return ctx.journal.wait(run, { reason: 'its time', wakeKey: run.id, until: new Date(dueMs).toISOString() });
  await ctx.journal.advance(run, { finish: { status: 'done', result: {} }, also: [ctx.db.insert('rung', [{ id: ctx.ids.uuid(), mark }])] });
};
