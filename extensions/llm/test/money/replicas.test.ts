/** Limits that several processes on one database share. Each process here has connections and a memory of its own; only their clock is one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Db, isSvcError } from '@svc/api';
import { createAreaActors } from '@svc/core';
import type { Agent } from '@svc/ext-agents/contract';
import { systemClock } from '@svc/platform/clock/clock';
import { seededIds } from '@svc/platform/clock/ids';
import { createLog } from '@svc/platform/log/log';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { migrations } from '../../src/migrations.js';
import type { CallContext } from '../../src/contract.js';
import { createIdleGuard } from '../../src/money/idle.js';
import { createQuota, type Quota } from '../../src/money/quota.js';
import { createLedgers } from '../../src/money/quota-ledger.js';
import { createReservations, type Reservations } from '../../src/money/reservations.js';
import { createUsageStore, type UsageStore } from '../../src/store.js';
import { BUDGET, owner } from '../gateway-rig.js';

interface Process {
  readonly name: string;
  readonly db: Db;
  readonly store: UsageStore;
  readonly reservations: Reservations;
  readonly quota: Quota;
  readonly storage: Storage;
}

const LIMIT_USD = 0.01;
const LIMIT = LIMIT_USD * 1_000_000;
const NO_LIMITS = { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0 };
const silent = createLog({ dir: null, level: 'error', clock: systemClock(), terminal: false }).logger('storage');

describeOnEngines('a limit of cost that processes share', (engine) => {
  let home: string;
  let processes: Process[];
  /** Undefined: the time of the machine. */
  let nowIs: number | undefined;

  const begin = async (name: string, storage: Storage, budget: object): Promise<Process> => {
    const db = storage.dbFor({ id: 'llm', tables: ['usage', 'reservations'] });
    const clock = { ...systemClock(), now: () => nowIs ?? Date.now() };
    const store = createUsageStore(db, name);
    const reservations = createReservations({ db, clock, self: name });
    const quota = createQuota({
      actors: createAreaActors('llm'),
      // The quota reads nothing else of an agent.
      agents: { get: async () => ({ manifest: { capabilities: {}, resources: NO_LIMITS } }) as unknown as Agent },
      config: { get: () => ({ ...BUDGET, ...budget }) as never, onChange: () => ({ dispose: () => undefined }) },
      ledgers: createLedgers({ store, clock }),
      reservations,
      guard: createIdleGuard({ clock, db, config: { get: () => ({ ...BUDGET, ...budget }) as never } }),
      db,
      events: { event: ({ name: event }, data) => storage.event('llm', event, data) },
      self: name,
      clock,
      ids: seededIds(name),
    });
    return { name, db, store, reservations, quota, storage };
  };

  const start = async (budget: object): Promise<Process[]> => {
    const place = { file: join(home, 'svc.db'), ...(await engine.fresh()), clock: systemClock(), log: silent, onEvents: () => undefined };
    const opened = async (): Promise<Storage> => {
      const storage = await openStorage(place);
      await storage.migrate({ id: 'llm', tables: ['usage', 'reservations'] }, migrations);
      return storage;
    };
    const first = await opened();
    processes = [await begin('one', first, budget)];
    // A SQLite file belongs to one process; there they share its connections.
    for (const name of ['two', 'three']) processes.push(await begin(name, place.url === undefined ? first : await opened(), budget));
    return processes;
  };

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'svc-money-'));
    [processes, nowIs] = [[], undefined];
  });
  afterEach(async () => {
    for (const storage of new Set(processes.map((one) => one.storage))) await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const contextOf = (runId: string, fields: Partial<CallContext> = {}): CallContext => ({ actor: owner, agentId: 'a', runId, purpose: 'run', ...fields });
  const ceiling = (costMicros: number) => ({ provider: 'p', model: 'm', inputTokens: 1, outputTokens: 1, costMicros, lastsMs: 60_000 });
  const rowOf = (id: string, runId: string, costMicros: number, fields: Partial<CallContext> = {}) => ({
    id,
    context: contextOf(runId, fields),
    provider: 'p',
    model: 'm',
    usage: { inputTokens: 1, outputTokens: 1, costMicros },
    attempts: [],
    at: new Date(nowIs ?? Date.now()).toISOString(),
  });
  const spent = async ({ store }: Process): Promise<number> => (await store.total(owner, {})).costMicros;
  const reserved = async ({ db }: Process): Promise<number> => db.system('a test').count('reservations');

  it('is never passed, and used up, however many calls come at once', async () => {
    const all = await start({ daily_limit: LIMIT_USD });
    let open = 0;
    let most = 0;
    const call = async ({ name, db, store, quota }: Process, number: number): Promise<'ok' | string> => {
      const runId = `${name}${number}`;
      try {
        const hold = await quota.hold(contextOf(runId), async () => ceiling(100), new AbortController().signal);
        open += 100;
        most = Math.max(most, open);
        await new Promise((resolve) => setTimeout(resolve, number % 5));
        // What is left of what was reserved is for others from now on.
        open -= 20;
        await db.commit([...store.insert([rowOf(`u${runId}`, runId, 80)]), ...hold.settle({ tokens: 2, costMicros: 80 }, Date.now())]);
        return 'ok';
      } catch (error) {
        return isSvcError(error) ? error.code : String(error);
      }
    };
    const results = await Promise.all(Array.from({ length: 180 }, (_, number) => call(all[number % 3] as Process, number)));
    expect([...new Set(results)].sort()).to.deep.equal(['budget_exceeded', 'ok']);
    const [first] = all as [Process];
    expect(most).to.be.at.most(LIMIT);
    expect(await spent(first)).to.be.within(LIMIT * 0.95, LIMIT);
    expect(await reserved(first)).to.equal(0);
  });

  it('of turns that no person began is never passed, until a person writes to the agent again', async () => {
    const all = await start({ idle_limit: LIMIT_USD });
    const [one] = all as [Process];
    let called = 0;
    const call = async ({ db, store, quota }: Process, costMicros: number, fields: Partial<CallContext>): Promise<string> => {
      called += 1;
      const id = `r${called}`;
      try {
        const hold = await quota.hold(contextOf(id, fields), async () => ceiling(costMicros), new AbortController().signal);
        await db.commit([...store.insert([rowOf(id, id, costMicros, fields)]), ...hold.settle({ tokens: 2, costMicros }, Date.now())]);
        return 'ok';
      } catch (error) {
        return isSvcError(error) ? error.code : String(error);
      }
    };
    const many = (begunBy: 'person' | 'agent') => Promise.all(Array.from({ length: 60 }, (_, number) => call(all[number % 3] as Process, LIMIT / 20, { begunBy })));
    const count = (outcomes: readonly string[], outcome: string): number => outcomes.filter((found) => found === outcome).length;

    const idle = await many('agent');
    expect([count(idle, 'ok'), count(idle, 'budget_idle_exceeded')]).to.deep.equal([20, 40]);
    const refused = await one.quota.hold(contextOf('r', { begunBy: 'agent' }), async () => ceiling(100), new AbortController().signal).catch((error: unknown) => error);
    expect(refused).to.deep.include({ status: 429, details: { scope: 'agent', limit_usd: LIMIT_USD, used_usd: LIMIT_USD, call_usd: 0.0001 } });

    expect(await call(one, 100, { begunBy: 'agent', agentId: 'b' }), 'another agent').to.equal('ok');
    expect(await call(one, 0, { begunBy: 'agent' }), 'a call that costs nothing').to.equal('ok');
    expect(await call(one, 100, { purpose: 'compaction' }), 'a summary').to.equal('ok');
    expect(await call(one, 100, { begunBy: 'agent' }), 'a summary is no contact').to.equal('budget_idle_exceeded');
    expect(count(await many('person'), 'ok'), 'people are not held').to.equal(60);
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(count(await many('agent'), 'ok')).to.equal(20);
    expect(await reserved(one)).to.equal(0);
  });

  for (const limit of ['hourly_limit', 'daily_limit', 'monthly_limit'])
    it(`T1 begins no ${limit.split('_')[0]} window anew when the clock is set back over the end of one`, async () => {
      const [one] = (await start({ [limit]: LIMIT_USD })) as [Process];
      const call = async (at: string, costMicros: number): Promise<string> => {
        nowIs = Date.parse(at);
        try {
          const hold = await one.quota.hold(contextOf(at), async () => ceiling(costMicros), AbortSignal.abort());
          await one.db.commit([...one.store.insert([rowOf(at, at, costMicros)]), ...hold.settle({ tokens: 2, costMicros }, nowIs)]);
          return 'ok';
        } catch (error) {
          return isSvcError(error) ? error.code : String(error);
        }
      };
      expect(await call('2026-11-30T22:10:00.000Z', LIMIT - 100)).to.equal('ok');
      expect(await call('2026-12-01T00:40:00.000Z', 200), 'a new hour, day and month').to.equal('ok');
      expect(await call('2026-11-30T22:40:00.000Z', 200), 'set back by two hours').to.equal('budget_exceeded');
      expect(await call('2026-12-01T00:50:00.000Z', LIMIT - 200), 'later').to.equal('ok');
      expect(await call('2026-12-01T00:51:00.000Z', 100)).to.equal('budget_exceeded');
    });

  it('I3 counts idle turns after the clock was set back, and a person can let them go on', async () => {
    const [one] = (await start({ idle_limit: LIMIT_USD })) as [Process];
    const call = async (at: string, begunBy: 'agent' | 'person', costMicros = LIMIT / 2): Promise<string> => {
      nowIs = Date.parse(at);
      const id = `${at}${begunBy}${Math.random()}`;
      try {
        const hold = await one.quota.hold(contextOf(id, { begunBy }), async () => ceiling(costMicros), AbortSignal.abort());
        await one.db.commit([...one.store.insert([rowOf(id, id, costMicros, { begunBy })]), ...hold.settle({ tokens: 2, costMicros }, nowIs)]);
        return 'ok';
      } catch (error) {
        return isSvcError(error) ? error.code : String(error);
      }
    };
    expect(await call('2030-01-01T00:00:00.000Z', 'person', 1)).to.equal('ok');
    for (const expected of ['ok', 'ok', 'budget_idle_exceeded']) expect(await call('2026-11-30T22:10:00.000Z', 'agent'), 'set back by years').to.equal(expected);
    expect(await call('2026-11-30T22:11:00.000Z', 'person', 1)).to.equal('ok');
    for (const expected of ['ok', 'ok', 'budget_idle_exceeded']) expect(await call('2026-11-30T22:12:00.000Z', 'agent'), 'after a person wrote').to.equal(expected);
    expect(await call('2026-11-30T21:00:00.000Z', 'agent'), 'set back by an hour').to.equal('budget_idle_exceeded');
  });

  it('counts the calls on their way in another process, and lets go on when they end', async () => {
    const [one, two] = (await start({ daily_limit: LIMIT_USD })) as [Process, Process];
    const held = await one.quota.hold(contextOf('r1'), async () => ceiling(LIMIT - 50), new AbortController().signal);
    const refused = await two.quota.hold(contextOf('r2'), async () => ceiling(60), AbortSignal.abort()).catch((error: unknown) => error);
    expect(isSvcError(refused) && [refused.code, refused.details]).to.deep.include('budget_exceeded');
    const waiting = two.quota.hold(contextOf('r3'), async () => ceiling(60), new AbortController().signal);
    await one.db.commit([...held.settle({ tokens: 0, costMicros: 0 }, Date.now())]);
    await two.db.commit([...(await waiting).settle({ tokens: 0, costMicros: 0 }, Date.now())]);
    expect([await spent(one), await reserved(one)]).to.deep.equal([0, 0]);
  });

  it('counts what a process that ended had reserved as used, when its run goes on elsewhere', async () => {
    const [one, two] = (await start({ daily_limit: LIMIT_USD })) as [Process, Process];
    await one.quota.hold(contextOf('r1'), async () => ceiling(3_000), new AbortController().signal);
    const again = await two.quota.hold(contextOf('r1'), async () => ceiling(3_000), new AbortController().signal);
    expect(await spent(two)).to.equal(3_000);
    expect(await reserved(two)).to.equal(1);
    await two.db.commit([...two.store.insert([rowOf('u', 'r1', 10)]), ...again.settle({ tokens: 2, costMicros: 10 }, Date.now())]);
    expect([await spent(one), await reserved(one)]).to.deep.equal([3_010, 0]);
    const [row] = await one.db.system('a test').select<Record<string, unknown>>({ from: 'usage', where: { cost_micros: 3_000 } });
    expect(row).to.include({ run_id: 'r1', agent_id: 'a', owner_id: 'owner', provider: 'p', model: 'm', estimated: 1, purpose: 'run' });
  });

  it('counts what nobody goes on with once, when no call can last so long', async () => {
    const [one, two] = (await start({})) as [Process, Process];
    await one.quota.hold(contextOf('r1'), async () => ({ ...ceiling(40), lastsMs: -1 }), new AbortController().signal);
    await one.quota.hold(contextOf('r2'), async () => ceiling(40), new AbortController().signal);
    await Promise.all([one.reservations.sweep(), two.reservations.sweep()]);
    expect([await spent(one), await reserved(one), await two.reservations.sweep()]).to.deep.equal([40, 1, 0]);
  });

  it('deletes what earlier builds emptied, and counts nothing for it', async () => {
    const [one] = (await start({})) as [Process];
    const [named, counts] = [
      ['holder', 'run_id', 'agent_id', 'owner_id', 'purpose', 'provider', 'model', 'until'],
      ['input_tokens', 'output_tokens', 'cost_micros'],
    ];
    await one.db.commit([one.db.insert('reservations', [{ id: 'old', ...Object.fromEntries([...named.map((name) => [name, '']), ...counts.map((name) => [name, 0])]) }])]);
    expect([await one.reservations.sweep(), await reserved(one), await spent(one)]).to.deep.equal([0, 0, 0]);
    expect(await one.db.system('a test').count('usage')).to.equal(0);
  });

  it('costs a call without limits no commit of its own, where the intent brings the row', async () => {
    const [one] = (await start({})) as [Process];
    const writes = await one.quota.announce('r1.row', contextOf('r1'), ceiling(40));
    await one.db.commit(writes);
    const hold = await one.quota.hold(contextOf('r1', { reservation: 'r1.row' }), async () => ceiling(40), new AbortController().signal);
    expect(await reserved(one)).to.equal(1);
    await one.db.commit([...one.store.insert([rowOf('u', 'r1', 10)]), ...hold.settle({ tokens: 2, costMicros: 10 }, Date.now())]);
    expect([await spent(one), await reserved(one)]).to.deep.equal([10, 0]);
    expect(hold.settle({ tokens: 2, costMicros: 10 }, Date.now())).to.deep.equal([]);
  });

  it('takes the row of the intent back, where there is a limit by now', async () => {
    const [one] = (await start({ daily_limit: LIMIT_USD })) as [Process];
    expect(await one.quota.announce('x', contextOf('r1'), ceiling(40))).to.deep.equal([]);
    await one.db.commit([one.reservations.insert('r1.row', contextOf('r1'), ceiling(40))]);
    const hold = await one.quota.hold(contextOf('r1', { reservation: 'r1.row' }), async () => ceiling(40), new AbortController().signal);
    expect(await reserved(one)).to.equal(1);
    await one.db.commit([...hold.settle({ tokens: 0, costMicros: 0 }, Date.now())]);
    expect(await reserved(one)).to.equal(0);
  });
});
