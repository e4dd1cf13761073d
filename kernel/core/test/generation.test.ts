/** How long each part of a generation's life may take, and what is said when it takes longer or goes wrong. */
import { expect } from 'chai';
import { Lifetime } from '../src/lifetime.js';
import { takeTimers, type HandTimers } from './hand-timers.js';
import { code, createRig } from './lifecycle-rig.js';

const never = (): Promise<never> => new Promise(() => undefined);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the budgets of a generation', () => {
  let timers: HandTimers;

  beforeEach(() => {
    timers = takeTimers();
  });

  afterEach(() => timers.restore());

  it('give activate two seconds', async () => {
    const rig = createRig([['memory', { code: () => code(never) }]]);
    const booted = rig.lifecycle.boot();
    await turn();
    expect(timers.waits()).to.deep.equal([2_000]);

    timers.pass(2_000);
    await booted;

    expect(rig.lifecycle.status('memory')).to.include({ state: 'failed', phase: 'activate' });
    expect(rig.lifecycle.status('memory').reason).to.contain('activate did not finish within 2000 ms');
  });

  it('give start fifteen seconds', async () => {
    const rig = createRig([['memory', { code: () => code(() => undefined, { start: never }) }]]);
    const booted = rig.lifecycle.boot();
    await turn();
    expect(timers.waits()).to.deep.equal([15_000]);

    timers.pass(15_000);
    await booted;

    expect(rig.lifecycle.status('memory')).to.include({ state: 'failed', phase: 'start' });
    expect(rig.lifecycle.status('memory').reason).to.contain('start did not finish within 15000 ms');
  });

  it('give what came in while a candidate that failed was visible five seconds to leave', async () => {
    const held: string[] = [];
    const rig = createRig([
      [
        'memory',
        {
          code: () =>
            code((ctx) => void held.push(ctx.hold('a request') ? 'in' : 'out'), {
              start: () => {
                throw new Error('no');
              },
            }),
        },
      ],
    ]);
    const booted = rig.lifecycle.boot();
    await turn();
    expect(held).to.deep.equal(['in']);
    expect(timers.waits()).to.deep.equal([5_000]);

    timers.pass(5_000);
    await booted;

    expect(rig.states()).to.deep.equal({ memory: 'failed' });
  });

  it('give stop fifteen seconds, after which it is a leak that is named', async () => {
    const rig = createRig([['memory', { code: () => code(() => undefined, { stop: never }) }]]);
    await rig.lifecycle.boot();
    const stopped = rig.lifecycle.disable('memory');
    await turn();
    expect(timers.waits()).to.deep.equal([15_000]);

    timers.pass(15_000);

    expect((await stopped).leaks.join()).to.contain('stop failed: stop did not finish within 15000 ms');
  });

  it('give each disposer five seconds, and a drain the sixty that a manifest may shorten', async () => {
    const lifetime = new Lifetime('memory@1');
    lifetime.add('hanging', never);
    const closed = lifetime.close();
    expect(timers.waits()).to.deep.equal([5_000]);
    timers.pass(5_000);
    expect((await closed).map(({ label }) => label)).to.deep.equal(['hanging']);

    const holding = () => code((ctx) => void ctx.hold('a long talk'));
    const rig = createRig([
      ['patient', { code: holding }],
      ['quick', { code: holding, manifest: { drainMs: 300 } }],
    ]);
    await rig.lifecycle.boot();
    for (const [id, ms] of [
      ['patient', 60_000],
      ['quick', 300],
    ] as const) {
      const stopped = rig.lifecycle.disable(id);
      await turn();
      expect(timers.waits()).to.deep.equal([ms]);
      timers.pass(ms);
      expect((await stopped).leaks).to.deep.equal([`still held after ${ms} ms: a long talk`]);
    }
  });

  it('leave no timer behind when they were not needed', async () => {
    const lifetime = new Lifetime('memory@1');
    const leave = lifetime.enter('a request');
    const drained = lifetime.drain(60_000);
    leave?.();
    expect(await drained).to.equal(true);
    const rig = createRig([['memory', { code: () => code(turn, { start: turn, stop: turn }) }]]);
    await rig.lifecycle.boot();
    await rig.lifecycle.disable('memory');

    expect(timers.waits()).to.deep.equal([]);
  });
});

describe('the end of a generation', () => {
  it('names a stop that threw, a disposer that threw and what was still held, and ends all the same', async () => {
    const rig = createRig([
      [
        'memory',
        {
          manifest: { drainMs: 1 },
          code: () =>
            code(
              (ctx) => {
                ctx.hold('a request');
                ctx.onDispose('the socket', () => {
                  throw new Error('already gone');
                });
              },
              {
                stop: () => {
                  throw new Error('cannot stop');
                },
              },
            ),
        },
      ],
    ]);
    await rig.lifecycle.boot();

    const { leaks, state } = await rig.lifecycle.disable('memory');

    expect(leaks).to.deep.equal(['still held after 1 ms: a request', 'stop failed: cannot stop', 'the socket: already gone']);
    expect(state).to.equal('inactive');
  });

  it('tells the code why it stops', async () => {
    const reasons: string[] = [];
    const rig = createRig([['memory', { code: () => code(() => undefined, { stop: (why) => void reasons.push(why) }) }]]);
    await rig.lifecycle.boot();
    await rig.lifecycle.reload('memory');
    await rig.lifecycle.settled();
    await rig.lifecycle.disable('memory');
    await rig.lifecycle.enable('memory');
    await rig.lifecycle.stopAll('shutdown', 100);

    expect(reasons).to.deep.equal(['reload', 'disable', 'shutdown']);
  });
});

describe('what a candidate adds', () => {
  const failedFor = async (fixture: Parameters<typeof createRig>[0] extends Iterable<readonly [string, infer F]> ? F : never): Promise<string | null> => {
    const rig = createRig([['memory', fixture]]);
    await rig.lifecycle.boot();
    const { state, reason } = rig.lifecycle.status('memory');
    return state === 'active' ? null : reason;
  };

  it('must be declared: a route, a service, a tap', async () => {
    expect(await failedFor({ code: () => code((ctx) => ctx.route('GET /a')) })).to.equal('it adds the route GET /a, which contributions.json does not declare');
    expect(await failedFor({ code: () => code((ctx) => ctx.provide('memory')) })).to.equal('it adds the service memory@1, which provides in extension.json does not declare');
    expect(await failedFor({ code: () => code((ctx) => ctx.tap('doctor.check')) })).to.equal('it adds the tap doctor.check, which hooks in extension.json does not declare');
  });

  it('must be all that is declared, but for taps and listeners, which may come later', async () => {
    const contributions = { routes: ['GET /a'] };
    expect(await failedFor({ contributions, code: () => code(() => undefined) })).to.equal('contributions.json declares the route GET /a, which it does not add');
    expect(await failedFor({ manifest: { provides: { memory: '1.0.0' } } })).to.equal('provides in extension.json declares the service memory@1, which it does not add');
    expect(await failedFor({ manifest: { defines: ['memory.note'] } })).to.equal('defines in extension.json declares the hook memory.note, which it does not add');
    expect(await failedFor({ manifest: { hooks: [{ name: 'doctor.check' }], events: { listens: ['run.ended'] } } })).to.equal(null);
  });
});
