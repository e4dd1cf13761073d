import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Actor, type Db, actorFrom } from '@svc/api';
import { systemClock } from '@svc/platform/clock/clock';
import { createLog } from '@svc/platform/log/log';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { expect } from 'chai';
import { migrations } from '../../src/migrations.js';
import type { Attempt, Usage } from '../../src/contract.js';
import { createUsageStore, type UsageRecord, type UsageStore } from '../../src/store.js';
import { createReservations } from '../../src/money/reservations.js';
import { owner } from '../gateway-rig.js';

const attempt: Attempt = { provider: 'openai', model: 'm', status: 'ok', latencyMs: 1, waitedMs: 0 };
const eve: Actor = actorFrom({ id: 'user:eve', role: 'user', ownerId: 'user:eve' });

describe('the usage rows', () => {
  let home: string;
  let storage: Storage;
  let db: Db;
  let store: UsageStore;
  let rows = 0;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-usage-'));
    const log = createLog({ dir: null, level: 'error', clock: systemClock(), terminal: false });
    storage = await openStorage({ file: join(home, 'svc.db'), clock: systemClock(), log: log.logger('storage'), onEvents: () => undefined });
    const owned = { id: 'llm', tables: ['usage', 'reservations'] };
    await storage.migrate(owned, migrations);
    db = storage.dbFor(owned);
    store = createUsageStore(db, 'me');
    rows = 0;
  });
  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  interface Fields {
    readonly actor?: Actor;
    readonly agentId?: string;
    readonly runId?: string;
    readonly usage?: Partial<Usage>;
    readonly attempts?: readonly Attempt[];
    readonly at?: string;
  }
  const record = ({ actor = owner, agentId = 'a', runId = 'r', usage, attempts = [attempt], at = '2026-03-10T12:00:00.000Z' }: Fields): UsageRecord => ({
    id: `u${rows++}`,
    context: { actor, agentId, runId, purpose: 'compaction' },
    provider: 'openai',
    model: 'm',
    usage: { inputTokens: 10, outputTokens: 3, costMicros: 7, ...usage },
    attempts,
    at,
  });
  const keep = (...fields: readonly Fields[]) => store.commit(store.insert(fields.map(record)));

  it('hold who asked what of whom, and how it went', async () => {
    await keep({ usage: { estimated: true }, attempts: [{ ...attempt, status: 'error' }, attempt] }, {});
    const [first, second] = await db.system('a test').read<Record<string, unknown>>(`SELECT * FROM ${db.table('usage')} ORDER BY id`, []);
    expect(first).to.deep.include({
      id: 'u0',
      run_id: 'r',
      agent_id: 'a',
      owner_id: 'owner',
      provider: 'openai',
      model: 'm',
      input_tokens: 10,
      output_tokens: 3,
      cost_micros: 7,
      estimated: 1,
      purpose: 'compaction',
      at: '2026-03-10T12:00:00.000Z',
    });
    expect(JSON.parse(String(first?.attempts))).to.have.length(2);
    expect(second).to.include({ estimated: 0, attempts: null });
  });

  it('need no write where nothing was used', () => {
    expect(store.insert([])).to.deep.equal([]);
  });

  it('are summed by agent, by run, by both, and for a person only their own', async () => {
    await keep({}, { runId: 'r2' }, { agentId: 'b' }, { actor: eve });
    expect(await store.total(owner, {})).to.deep.equal({ requests: 4, inputTokens: 40, outputTokens: 12, costMicros: 28 });
    expect(await store.total(owner, { agentId: 'a' })).to.include({ requests: 3, inputTokens: 30 });
    expect(await store.total(owner, { runIds: ['r'] })).to.include({ requests: 3 });
    expect(await store.total(owner, { agentId: 'a', runIds: ['r'] })).to.include({ requests: 2 });
    expect(await store.total(eve, {})).to.include({ requests: 1, costMicros: 7 });
    expect(await store.total(owner, { agentId: 'nobody' })).to.deep.equal({ requests: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 });
    expect(await store.total(owner, { runIds: [] })).to.deep.equal({ requests: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 });
  });

  it('are each counted once, however many runs are asked for', async () => {
    const runs = Array.from({ length: 600 }, (_, index) => `r${index}`);
    await keep(...runs.map((runId) => ({ runId })));
    for (const count of [1, 3, 255, 256, 257, 512, 600]) expect((await store.total(owner, { runIds: runs.slice(0, count) })).requests, String(count)).to.equal(count);
  });

  it('are spent by minute and by day, by one agent, since when it was asked', async () => {
    await keep(
      { at: '2026-03-10T12:00:01.000Z' },
      { at: '2026-03-10T12:00:59.000Z', usage: { costMicros: 100 } },
      { at: '2026-03-10T12:01:00.000Z' },
      { at: '2026-03-09T10:00:00.000Z', usage: { costMicros: 50 } },
      { at: '2026-03-08T23:59:59.000Z' },
      { agentId: 'b', at: '2026-03-10T12:00:01.000Z' },
    );
    const spent = await store.spent('a', '2026-03-10T12:00:00.000Z');
    expect([...spent.minutes].sort((one, other) => (one.minute < other.minute ? -1 : 1))).to.deep.equal([
      { minute: '2026-03-10T12:00', tokens: 26, costMicros: 107 },
      { minute: '2026-03-10T12:01', tokens: 13, costMicros: 7 },
    ]);
    const days = await store.spentByDay('a', '2026-03', '2026-03-10T12:01:00.000Z');
    expect([...days].sort((one, other) => (one.day < other.day ? -1 : 1))).to.deep.equal([
      { day: '2026-03-08', costMicros: 7 },
      { day: '2026-03-09', costMicros: 50 },
      { day: '2026-03-10', costMicros: 107 },
    ]);
    expect((await store.spent(null, '2026-03-10T12:01:00.000Z')).minutes).to.deep.equal([{ minute: '2026-03-10T12:01', tokens: 13, costMicros: 7 }]);
    expect((await store.spentByDay(null, '2026-03', '2026-03-10T12:01:00.000Z')).find(({ day }) => day === '2026-03-10')).to.deep.equal({ day: '2026-03-10', costMicros: 114 });
  });

  it('are summed beside the calls on their way in other processes, not one’s own', async () => {
    const ceiling = { provider: 'openai', model: 'm', inputTokens: 10, outputTokens: 90, costMicros: 5, lastsMs: 1_000 };
    const rows = (self: string) => createReservations({ db, clock: systemClock(), self });
    const context = (agentId: string) => ({ actor: owner, agentId, runId: 'r', purpose: 'run' as const });
    await store.commit([rows('me').insert('1', context('a'), ceiling), rows('other').insert('2', context('a'), ceiling), rows('other').insert('3', context('b'), ceiling)]);
    expect((await store.spent('a', '2026-03-10')).elsewhere).to.deep.equal({ tokens: 100, costMicros: 5 });
    expect((await store.spent(null, '2026-03-10')).elsewhere).to.deep.equal({ tokens: 200, costMicros: 10 });
    expect((await store.spent('c', '2026-03-10')).elsewhere).to.deep.equal({ tokens: 0, costMicros: 0 });
  });

  it('are spent by each of some agents since then, as far as the actor may see', async () => {
    await keep({}, {}, { agentId: 'b' }, { agentId: 'b', at: '2026-03-01T00:00:00.000Z' }, { agentId: 'c', actor: eve }, { agentId: 'd' });
    const spending = async (actor: Actor, ids: readonly string[]) => store.spending(actor, ids, '2026-03-10T00:00:00.000Z');
    expect(await spending(owner, ['a', 'b', 'c', 'nobody'])).to.deep.equal({ a: 14, b: 7, c: 7 });
    expect(await spending(eve, ['a', 'b', 'c'])).to.deep.equal({ c: 7 });
    expect(await spending(owner, [])).to.deep.equal({});
  });
});
