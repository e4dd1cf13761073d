import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../src/clock/clock.js';
import { createWorkers, type WorkerPools } from '../src/workers/workers.js';

describe('workers', function () {
  this.timeout(20_000);
  let dir: string;
  let workers: WorkerPools;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-workers-'));
    workers = createWorkers({ clock: systemClock(), lanes: { quick: { maxThreads: 1, maxQueue: 1 }, bulk: { maxThreads: 1, memoryMb: 24 } } });
  });
  afterEach(async () => {
    await workers.close();
    await rm(dir, { recursive: true, force: true });
  });

  const file = async (name: string, code: string): Promise<string> => {
    await writeFile(join(dir, name), code);
    return join(dir, name);
  };
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error) => error.code,
    );
  const SPIN = 'exports.spin = () => { for (;;); }; exports.wait = (ms) => new Promise((r) => setTimeout(r, ms, "waited"));';

  it('runs a named or the only function of a bundled file', async () => {
    expect(await workers.run(await file('one.cjs', 'module.exports = (n) => n + 1;'), 'default', 1, { lane: 'quick' })).to.equal(2);
    expect(await workers.run(await file('two.cjs', 'exports.add = ({ a, b }) => a + b;'), 'add', { a: 1, b: 2 }, { lane: 'bulk' })).to.equal(3);
  });

  it('ends a task that takes too long or whose caller went away, and goes on', async () => {
    const path = await file('spin.cjs', SPIN);
    expect(await codeOf(workers.run(path, 'spin', null, { lane: 'quick', timeoutMs: 300 }))).to.equal('workers_timeout');
    const controller = new AbortController();
    const spinning = codeOf(workers.run(path, 'spin', null, { lane: 'quick', signal: controller.signal }));
    setTimeout(() => controller.abort(), 200);
    expect(await spinning).to.equal('workers_cancelled');
    expect(await workers.run(path, 'wait', 1, { lane: 'quick' })).to.equal('waited');
  });

  it('refuses what the queue cannot hold, and keeps the other lane free meanwhile', async () => {
    const path = await file('spin.cjs', SPIN);
    const held = [1, 2, 3, 4].map(() => codeOf(workers.run(path, 'wait', 500, { lane: 'quick' })));
    expect(await workers.run(path, 'wait', 1, { lane: 'bulk' })).to.equal('waited');
    expect((await Promise.all(held)).sort()).to.deep.equal(['none', 'none', 'workers_busy', 'workers_busy']);
  });

  it('W3 counts the time of a task from when a thread takes it, and lets the next one go on after a stuck one', async () => {
    const path = await file('spin.cjs', SPIN);
    const timers: Array<{ ms: number; fire: () => void }> = [];
    const own = createWorkers({
      clock: {
        ...systemClock(),
        schedule: (ms, fire) => {
          timers.push({ ms, fire });
          return () => undefined;
        },
      },
      lanes: { quick: { maxThreads: 1 } },
    });
    const stuck = codeOf(own.run(path, 'spin', null, { lane: 'quick', timeoutMs: 1_000 }));
    const patient = own.run(path, 'wait', 1, { lane: 'quick', timeoutMs: 10 });
    const gone = new AbortController();
    const left = codeOf(own.run(path, 'wait', 1, { lane: 'quick', timeoutMs: 20, signal: gone.signal }));
    while (timers.length === 0) await new Promise((done) => setTimeout(done, 5));
    gone.abort();
    expect(await left).to.equal('workers_cancelled');
    expect(timers.map(({ ms }) => ms)).to.deep.equal([1_000]);
    timers[0]?.fire();
    expect(await stuck).to.equal('workers_timeout');
    expect(await patient).to.equal('waited');
    expect(timers.map(({ ms }) => ms)).to.deep.equal([1_000, 10]);
    await own.close();
  });

  it('refuses those that wait when it closes', async () => {
    const path = await file('spin.cjs', SPIN);
    const both = [codeOf(workers.run(path, 'spin', null, { lane: 'quick' })), codeOf(workers.run(path, 'wait', 1, { lane: 'quick' }))];
    await new Promise((done) => setTimeout(done, 50));
    await workers.close();
    expect(await Promise.all(both)).to.deep.equal(['workers_closed', 'workers_closed']);
  });

  it('reports a throw and a full heap by their own names, and survives both', async () => {
    const path = await file(
      'bad.cjs',
      'exports.bad = () => { throw new Error("internals"); }; exports.eat = () => { const all = []; for (;;) all.push(new Array(10000).fill({})); }; exports.ok = () => 1;',
    );
    const error = await workers.run(path, 'bad', null, { lane: 'bulk' }).catch((reason: Error & { code: string }) => reason);
    expect(error).to.include({ code: 'workers_failed', message: 'The worker function bad.cjs:bad failed.' });
    expect(await codeOf(workers.run(path, 'eat', null, { lane: 'bulk' }))).to.equal('workers_out_of_memory');
    expect(await workers.run(path, 'ok', null, { lane: 'bulk' })).to.equal(1);
  });

  it('W4 runs new code after a rotation and lets old tasks finish', async () => {
    const begun = await file('begun', '');
    const path = await file('v.cjs', `exports.v = async (ms) => { require('fs').appendFileSync(${JSON.stringify(begun)}, '.'); await new Promise((r) => setTimeout(r, ms)); return "old"; };`);
    const slow = workers.run(path, 'v', 400, { lane: 'quick' });
    expect(await workers.run(path, 'v', 0, { lane: 'bulk' })).to.equal('old');
    // Both threads have the old code once both have said so.
    while ((await readFile(begun, 'utf8')) !== '..') await new Promise((done) => setTimeout(done, 5));
    await file('v.cjs', 'exports.v = () => "new";');
    await workers.rotate(path);
    expect(await workers.run(path, 'v', 0, { lane: 'quick' })).to.equal('new');
    expect(await slow).to.equal('old');
  });

  it('takes nothing more after close', async () => {
    const path = await file('spin.cjs', SPIN);
    const spinning = codeOf(workers.run(path, 'spin', null, { lane: 'quick' }));
    await new Promise((done) => setTimeout(done, 100));
    await workers.close();
    expect([await spinning, await codeOf(workers.run(path, 'wait', 1, { lane: 'quick' }))]).to.deep.equal(['workers_closed', 'workers_closed']);
  });
});
