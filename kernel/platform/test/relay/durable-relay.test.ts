import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@svc/api';
import { AgentSpawned } from '@svc/ext-agents/contract';
import { systemClock, virtualClock } from '@svc/platform/clock/clock';
import { openStorage } from '@svc/platform/storage/storage';
import { createInstalledStore } from '@svc/core';
import { OPEN_RATE, type TestKernel, bootTestKernel, fixtureExtension, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { kernelMigrations, kernelTables } from '../../src/storage/kernel-tables.js';
import { createDurableRelay, durableEventsOf } from '../../src/relay/durable-relay.js';
import { createRelayLease } from '../../src/relay/relay-lease.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Writes down which agents were spawned; `refuse` makes it fail that often first. */
const scribe = (received: string[], refuse = 0) => {
  let refusals = refuse;
  return fixtureExtension({
    id: 'scribe',
    manifest: { events: { listens: ['agent.spawned'], durable: ['agent.spawned'] } },
    definition: {
      activate(ctx) {
        ctx.events.on(AgentSpawned, ({ name }) => {
          if (name === 'assistant') return;
          refusals -= 1;
          if (refusals >= 0) throw new Error('not yet');
          received.push(name);
        });
      },
    },
  });
};

const CONFIG = `${OPEN_RATE}[extensions]\nenable = ["scribe"]`;
const spawn = (kernel: TestKernel, name: string) => kernel.http.expect(201, 'POST', '/api/agents', { name, manifest: { name } });

async function until(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400 && !check(); tries++) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('a durable listener', () => {
  afterEach(stopTestKernels);

  it('hears in order what happened while it was off', async () => {
    const received: string[] = [];
    const kernel = await bootTestKernel({ config: CONFIG, extra: [scribe(received)] });
    await kernel.http.expect(200, 'POST', '/api/extensions/scribe/disable');
    await spawn(kernel, 'first');
    await spawn(kernel, 'second');
    expect(received).to.deep.equal([]);

    await kernel.http.expect(200, 'POST', '/api/extensions/scribe/enable');
    await until(() => received.length === 2);

    expect(received).to.deep.equal(['first', 'second']);
  });

  it('hears once what it has taken, in later lives of the daemon too', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-relay-'));
    const received: string[] = [];
    const first = await bootTestKernel({ home, config: CONFIG, extra: [scribe(received)] });
    await spawn(first, 'only');
    await until(() => received.length === 1);
    await first.stop();

    const second = await bootTestKernel({ home, config: CONFIG, extra: [scribe(received)] });
    await spawn(second, 'later');
    await until(() => received.length > 1);
    await second.stop();

    expect(received).to.deep.equal(['only', 'later']);
    await rm(home, { recursive: true, force: true });
  });

  it('that comes back in the moment it is found to be off is asked again', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-relay-'));
    const clock = systemClock();
    const storage = await openStorage({ file: join(home, 'svc.db'), clock, log: silent, onEvents: () => undefined, storeEvent: () => true });
    await storage.migrate(kernelTables, kernelMigrations);
    const received: unknown[] = [];
    const hub = {
      takesBatch: () => false,
      deliverTo: async (_id: string, _event: string, data: unknown) => {
        received.push(data);
        if (received.length === 1) relay.poke();
        return received.length > 1;
      },
    };
    const relay = createDurableRelay({ installed: createInstalledStore([scribe([])]), hub, clock, log: silent });
    const db = storage.dbFor(kernelTables);
    await relay.open(db, createRelayLease({ db, nowSql: storage.nowSql, holder: 'only', leaseMs: 30_000, soleWriter: true }));
    await db.commit([storage.event('agents', 'agent.spawned', { name: 'first' })]);
    relay.poke();
    await until(() => received.length === 2);
    await relay.close();
    await storage.close();
    await rm(home, { recursive: true, force: true });

    expect(received).to.deep.equal([{ name: 'first' }, { name: 'first' }]);
  });

  it('E5 has the first event at once, and those of the next 50 ms together', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-relay-'));
    const clock = virtualClock(0);
    const received: number[] = [];
    const hub = {
      takesBatch: () => true,
      deliverTo: async (_id: string, _event: string, ...batch: unknown[]) => {
        received.push(batch.length);
        return true;
      },
    };
    const relay = createDurableRelay({ installed: createInstalledStore([scribe([])]), hub, clock, log: silent });
    const storage = await openStorage({ file: join(home, 'svc.db'), clock: systemClock(), log: silent, onEvents: relay.poke, storeEvent: () => true });
    await storage.migrate(kernelTables, kernelMigrations);
    const db = storage.dbFor(kernelTables);
    await relay.open(db, createRelayLease({ db, nowSql: storage.nowSql, holder: 'only', leaseMs: 30_000, soleWriter: true }));
    for (let n = 0; n < 6; n += 1) {
      await db.commit([storage.event('agents', 'agent.spawned', { name: `agent-${n}` })]);
      if (n === 0) await until(() => received.length === 1);
    }
    const before = storage.stats().commits;
    await clock.advance(50);
    await until(() => received.length === 2);
    await relay.close();
    const rounds = storage.stats().commits - before;
    await storage.close();
    await rm(home, { recursive: true, force: true });

    expect(received).to.deep.equal([1, 5]);
    expect(rounds, 'the numbering, the offset, and the release of the lease at the end').to.equal(3);
  });

  it('that takes a batch has those of one name that wait together', async () => {
    const received: string[][] = [];
    const taker = fixtureExtension({
      id: 'scribe',
      manifest: { events: { listens: ['agent.spawned'], durable: ['agent.spawned'] } },
      definition: { activate: (ctx) => void ctx.events.onBatch(AgentSpawned, (batch) => void received.push(batch.map(({ name }) => name).filter((name) => name !== 'assistant'))) },
    });
    const kernel = await bootTestKernel({ config: CONFIG, extra: [taker] });
    await kernel.http.expect(200, 'POST', '/api/extensions/scribe/disable');
    for (const name of ['first', 'second', 'third']) await spawn(kernel, name);
    received.length = 0;
    await kernel.http.expect(200, 'POST', '/api/extensions/scribe/enable');
    await until(() => received.flat().length === 3);

    expect(received.at(-1)?.length).to.be.greaterThan(1);
    expect(received.flat()).to.deep.equal(['first', 'second', 'third']);
  });

  it('is given again what it failed to take', async () => {
    const received: string[] = [];
    const kernel = await bootTestKernel({ config: CONFIG, extra: [scribe(received, 1)] });

    await spawn(kernel, 'stubborn');
    await until(() => received.length > 0);

    expect(received).to.deep.equal(['stubborn']);
  });
});

describe('events that are kept', () => {
  it('are those of what is installed now, for whom each manifest says', () => {
    const listening = (id: string, durable: string[]) => fixtureExtension({ id, manifest: { events: { listens: durable, durable } }, definition: { activate: () => undefined } });
    const installed = createInstalledStore([listening('scribe', ['agent.spawned'])]);
    const events = durableEventsOf(installed);
    expect([events.isStored('agent.spawned'), events.isStored('run.ended')]).to.deep.equal([true, false]);
    expect([events.isDurable('scribe', 'agent.spawned'), events.isDurable('other', 'agent.spawned')]).to.deep.equal([true, false]);

    installed.put(listening('other', ['run.ended']));
    expect([events.isStored('run.ended'), events.isDurable('other', 'run.ended'), events.isDurable('scribe', 'run.ended')]).to.deep.equal([true, true, false]);
  });
});
