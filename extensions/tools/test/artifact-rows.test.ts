/** Stored results, over a real database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { actorFrom, type Db } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import { describeOnEngines } from '@svc/testing';
import { expect } from 'chai';
import { toolTables } from '../migrations/0001_tables.js';
import { type Artifacts, createArtifacts } from '../src/artifacts/artifacts.js';
import { AGENT, call } from './tools-kit.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const OWNED = { id: 'tools', tables: ['processes', 'artifacts', 'artifact_pieces'] };
const DAY_MS = 86_400_000;

describeOnEngines('stored results', (engine) => {
  let home: string;
  let storage: Storage;
  let db: Db;
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const limits = { max_artifact_bytes: 67_108_864, max_agent_bytes: 268_435_456, artifact_max_age_days: 30 };
  let artifacts: Artifacts;
  const { call: maker } = call('big', {});
  const text = (id: string) => artifacts.read(maker, id, 0, 100);

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-artifacts-'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, log: silent, onEvents: () => undefined });
    await storage.migrate(OWNED, [toolTables]);
    db = storage.dbFor(OWNED);
    artifacts = createArtifacts({ db, clock, limits: () => limits });
  });
  afterEach(async () => {
    await storage.close();
    await rm(home, { recursive: true });
  });
  const count = (table: string): Promise<number> => db.system('a test').count(table);

  it('R1 are read by nobody but the agent of the call, for its owner', async () => {
    const { id } = await artifacts.store(maker, { tool: 'big', text: 'mine' });
    expect((await text(id))?.text).to.equal('mine');
    expect(await artifacts.read({ ...maker, agentId: AGENT.replace('1', '2') }, id, 0, 100)).to.equal(undefined);
    for (const role of ['user', 'owner'] as const) expect(await artifacts.read({ ...maker, actor: actorFrom({ id: 'x', role, ownerId: `user:${role}` }) }, id, 0, 100), role).to.equal(undefined);
  });

  it('R2 of a call that a restart repeats are one, with what the repeated call gave', async () => {
    const first = await artifacts.store(maker, { tool: 'big', text: 'a'.repeat(200_000) });
    const again = await createArtifacts({ db, clock, limits: () => limits }).store(maker, { tool: 'big', text: 'b'.repeat(70_000) });
    expect(again.id).to.equal(first.id);
    expect([await count('artifacts'), await count('artifact_pieces')]).to.deep.equal([1, 2]);
    expect((await text(first.id))?.text).to.equal('b'.repeat(100));
    const other = await artifacts.store({ ...maker, callId: 'c2' }, { tool: 'big', text: 'c' });
    expect(other.id).to.not.equal(first.id);
  });

  it('R3 give where their text came from with each page', async () => {
    const origin = { labels: ['ExternalNetwork', 'UserInput'] as const, source: 'web_fetch (example.org)', sessionId: 's9' };
    const { id } = await artifacts.store(maker, { tool: 'web_fetch', text: 'from outside', origin: { ...origin, labels: [...origin.labels] } });
    expect((await artifacts.read(maker, id, 5, 7))?.origin).to.deep.equal(origin);
    const own = await artifacts.store({ ...maker, callId: 'own' }, { tool: 'file_read', text: 'own' });
    expect(await text(own.id)).to.not.have.property('origin');
  });

  it('R4 go when they are too old, and the others stay', async () => {
    const old = await artifacts.store(maker, { tool: 'big', text: 'old' });
    await clock.advance(29 * DAY_MS);
    const young = await artifacts.store({ ...maker, callId: 'c2' }, { tool: 'big', text: 'young' });
    await artifacts.prune();
    expect(await count('artifacts')).to.equal(2);
    await clock.advance(2 * DAY_MS);
    await artifacts.prune();
    expect([await text(old.id), (await text(young.id))?.text]).to.deep.equal([undefined, 'young']);
    expect(await count('artifact_pieces')).to.equal(1);
  });

  it('R5 of 100 MB are cut at the limit, and no copy of the whole is made', async function () {
    this.timeout(60_000);
    const huge = 'x'.repeat(100_000_000);
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let most = 0;
    const measured = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before);
    }, 5);
    const { id, chars, totalChars } = await artifacts.store(maker, { tool: 'big', text: huge });
    clearInterval(measured);
    expect([chars, totalChars]).to.deep.equal([67_108_864, 100_000_000]);
    expect(Math.round(most / 1e6), 'MB more').to.be.below(200);
    const page = await artifacts.read(maker, id, 67_108_860, 100);
    expect([page?.text, page?.next]).to.deep.equal(['xxxx', null]);
  });
});
