/** What a status says of an extension, and what a plan says before anything happens. */
import { expect } from 'chai';
import { UnknownExtension } from '../src/lifecycle-unit.js';
import { type RigContext, area, code, createRig } from './lifecycle-rig.js';

const notReady = (message: string): Error => Object.assign(new Error(message), { name: 'NotReady' });

describe('the status of an extension', () => {
  const adding = (ctx: RigContext): void => {
    ctx.provide('memory');
    ctx.route('GET /a');
    ctx.hold('a talk');
  };

  it('lists what it adds while it is there, and the same kinds empty while it is off', async () => {
    const rig = createRig([area('memory', [], { contributions: { routes: ['GET /a'] }, code: () => code(adding), manifest: { drainMs: 1 } })]);
    await rig.lifecycle.boot();
    expect(rig.lifecycle.status('memory')).to.deep.include({
      generation: 1,
      contributes: { hook: [], tap: [], route: ['GET /a'], listener: [], service: ['memory@1'] },
      provides: { memory: '1.0.0' },
      requires: [],
      holds: ['a talk'],
      recoverable: true,
    });

    await rig.lifecycle.disable('memory');

    expect(rig.lifecycle.status('memory')).to.deep.include({ generation: 0, contributes: { hook: [], tap: [], route: [], listener: [], service: [] }, holds: [] });
  });

  it('says since when it runs and how long it took to start', async () => {
    const take = (ms: number): void => {
      rig.time.ms += ms;
    };
    const rig = createRig([['memory', { code: () => code(() => take(25), { start: () => take(17) }) }]]);
    rig.time.ms += 1_000;
    await rig.lifecycle.boot();

    expect(rig.lifecycle.status('memory')).to.include({ startMs: 42, startedAt: '2026-01-01T00:00:01.042Z' });
  });

  it('comes sorted by id, in whatever order extensions were installed', () => {
    const rig = createRig(['b', 'd', 'a', 'c'].map((id) => [id, {}] as const));
    expect(rig.lifecycle.statuses().map(({ id }) => id)).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('names the phase it is in while it starts, and none once it runs', async () => {
    const seen: Array<string | null> = [];
    const look = () => void seen.push(rig.lifecycle.status('memory').phase);
    const rig = createRig(
      [
        [
          'memory',
          {
            code: () => {
              look();
              return code(look, { start: look });
            },
          },
        ],
      ],
      { onMigrate: look },
    );
    await rig.lifecycle.boot();

    expect(seen).to.deep.equal(['load', 'migrate', 'activate', 'start']);
    expect(rig.lifecycle.status('memory').phase).to.equal(null);
  });

  it('says whether it may come back by itself: pending and off it may, failed and in quarantine not', async () => {
    const rig = createRig([
      ['broken', { code: () => code(() => Promise.reject(new Error('no'))) }],
      ['needy', { manifest: { requires: { nothing: '^1' } } }],
      ['later', { code: () => code(() => undefined, { start: () => Promise.reject(notReady('not yet')) }) }],
      ['idle', { manifest: { when: 'idle.on' } }],
      ['wild', {}],
    ]);
    await rig.lifecycle.boot();
    await rig.lifecycle.quarantine('wild', 'too many strikes');

    const recoverable = Object.fromEntries(rig.lifecycle.statuses().map((one) => [`${one.id} ${one.state}`, one.recoverable]));
    expect(recoverable).to.deep.equal({ 'broken failed': false, 'idle inactive': true, 'later pending': true, 'needy pending': true, 'wild quarantined': false });
    expect(rig.lifecycle.status('idle').reason).to.equal('its condition idle.on is not set');
  });

  it('says in how many seconds one that was not ready is tried again, and begins anew after it ran', async () => {
    let isReady = false;
    const rig = createRig([['memory', { code: () => code(() => undefined, { start: () => (isReady ? undefined : Promise.reject(notReady('no network'))) }) }]]);
    const reason = () => rig.lifecycle.status('memory').reason;
    await rig.lifecycle.boot();
    expect(reason()).to.equal('no network (tried again in 1 s)');
    await rig.elapse();
    expect(reason()).to.equal('no network (tried again in 2 s)');
    isReady = true;
    await rig.elapse();
    expect(reason()).to.equal(null);
    isReady = false;
    await rig.lifecycle.disable('memory');
    await rig.lifecycle.enable('memory');

    expect(reason()).to.equal('no network (tried again in 1 s)');
  });

  it('keeps naming what a generation left behind after another one left nothing, and logs it once', async () => {
    let leaves = true;
    const fixture = () =>
      code((ctx) => {
        const isLeaving = leaves;
        ctx.onDispose('the port', () => {
          if (isLeaving) throw new Error('still bound');
        });
      });
    const rig = createRig([['memory', { code: fixture }]]);
    await rig.lifecycle.boot();
    leaves = false;
    await rig.lifecycle.reload('memory');
    await rig.lifecycle.settled();
    await rig.lifecycle.reload('memory');
    await rig.lifecycle.settled();

    expect(rig.lifecycle.status('memory').leaks).to.deep.equal(['the port: still bound']);
    expect(rig.logged.filter((line) => line.includes('left something behind'))).to.have.length(1);
  });

  it('is degraded for the first reason given until a person enables, resets or reloads it, and watchers hear of it', async () => {
    const rig = createRig([['memory', {}]]);
    await rig.lifecycle.boot();
    for (const action of ['enable', 'reset', 'reload'] as const) {
      rig.changes.length = 0;
      rig.lifecycle.degrade('memory', 'its hook is suspended');
      rig.lifecycle.degrade('memory', 'something else');
      expect(rig.lifecycle.status('memory')).to.include({ degraded: true, reason: 'its hook is suspended' });
      expect(rig.changes).to.deep.equal(['memory active']);

      await rig.lifecycle[action]('memory');

      expect(rig.lifecycle.status('memory').degraded, action).to.equal(false);
    }
  });

  it('of an extension that nobody installed is refused by name; strikes against it are nobody’s', async () => {
    const rig = createRig([['memory', {}]]);
    expect(() => rig.lifecycle.status('nobody')).to.throw(UnknownExtension, 'nobody');
    expect(() => rig.lifecycle.plan('enable', 'nobody')).to.throw(UnknownExtension);
    rig.lifecycle.degrade('nobody', 'x');
    await rig.lifecycle.quarantine('nobody', 'x');
    expect(rig.states()).to.deep.equal({ memory: 'inactive' });
  });
});

describe('a person’s choice', () => {
  it('gives one that failed, or was put in quarantine, another chance', async () => {
    let isBroken = true;
    const rig = createRig([['memory', { code: () => code(() => (isBroken ? Promise.reject(new Error('no')) : undefined)) }]]);
    await rig.lifecycle.boot();
    isBroken = false;
    await rig.lifecycle.converge();
    expect(rig.states()).to.deep.equal({ memory: 'failed' });
    expect((await rig.lifecycle.enable('memory')).state).to.equal('active');

    await rig.lifecycle.quarantine('memory', 'too many strikes');
    await rig.lifecycle.quarantine('memory', 'another reason');
    expect(rig.lifecycle.status('memory').reason).to.equal('too many strikes');
    expect((await rig.lifecycle.enable('memory')).state).to.equal('active');
  });

  it('of reload starts nothing that is off, and reaches what is pending once it can run', async () => {
    const rig = createRig([area('off'), area('needy', ['off'])], { preset: ['needy'] });
    await rig.lifecycle.boot();
    await rig.lifecycle.reload('off');
    await rig.lifecycle.reload('needy');
    expect(rig.states()).to.deep.equal({ off: 'inactive', needy: 'pending' });
    expect(rig.owners).to.deep.equal([]);
  });

  it('that is taken back leaves one that the preset has off stopped, with what needed it', async () => {
    const rig = createRig([area('llm'), area('runs', ['llm'])], { preset: ['runs'] });
    await rig.lifecycle.boot();
    await rig.lifecycle.enable('llm');
    expect(rig.states()).to.deep.equal({ llm: 'active', runs: 'active' });

    await rig.lifecycle.reset('llm');

    expect(rig.states()).to.deep.equal({ llm: 'inactive', runs: 'pending' });
    expect(rig.leftovers()).to.deep.equal([]);
  });
});

describe('a plan', () => {
  const rigOf = async () => {
    const rig = createRig([area('llm'), area('runs', ['llm']), area('webchat', ['runs']), area('models', [], { manifest: { provides: { models: '1.0.0' }, optional: { llm: '^1' } } })], {
      preset: ['runs', 'webchat', 'models'],
      essential: ['runs'],
    });
    await rig.lifecycle.boot();
    return rig;
  };

  it('to enable says what would start: the area, and those that wait for it; nothing when it runs', async () => {
    const { lifecycle } = await rigOf();
    expect(lifecycle.plan('enable', 'llm')).to.deep.equal({ id: 'llm', action: 'enable', starts: ['llm', 'runs', 'webchat'], stops: [], degrades: [], warning: null, back: null });
    await lifecycle.enable('llm');
    expect(lifecycle.plan('enable', 'llm').starts).to.deep.equal([]);
    expect(lifecycle.plan('reload', 'llm').starts).to.deep.equal(['llm']);
  });

  it('to disable says what stops with it and what goes on with less, and warns of an essential area only', async () => {
    const { lifecycle } = await rigOf();
    expect(lifecycle.plan('disable', 'llm')).to.deep.include({ stops: [], degrades: [], warning: null });
    await lifecycle.enable('llm');
    expect(lifecycle.plan('disable', 'llm')).to.deep.equal({
      id: 'llm',
      action: 'disable',
      starts: [],
      stops: ['llm', 'runs', 'webchat'],
      degrades: ['models'],
      warning: null,
      back: 'svc ext enable llm',
    });
    expect(lifecycle.plan('disable', 'runs').warning).to.contain('runs is essential');
  });

  it('to reset says what the settings and the preset would make of it', async () => {
    const { lifecycle } = await rigOf();
    await lifecycle.enable('llm');
    expect(lifecycle.plan('reset', 'llm')).to.deep.include({ action: 'reset', stops: ['llm', 'runs', 'webchat'] });
    await lifecycle.disable('models');
    expect(lifecycle.plan('reset', 'models')).to.deep.include({ starts: ['models'], stops: [] });
  });
});

describe('the end of a lifecycle', () => {
  it('cancels what would be tried again, and its own impatience', async () => {
    const rig = createRig([
      ['later', { code: () => code(() => undefined, { start: () => Promise.reject(notReady('not yet')) }) }],
      ['memory', {}],
    ]);
    await rig.lifecycle.boot();
    expect(rig.waits()).to.deep.equal([1_000]);

    await rig.lifecycle.stopAll('shutdown', 5_000);

    expect(rig.waits()).to.deep.equal([]);
  });

  it('hears of every change of a state once', async () => {
    const rig = createRig([area('llm'), ['broken', { code: () => code(() => Promise.reject(new Error('no'))) }]]);
    await rig.lifecycle.boot();
    await rig.lifecycle.converge();
    expect(rig.changes.filter((change) => change.startsWith('llm'))).to.deep.equal(['llm starting', 'llm active']);
    expect(rig.changes.filter((change) => change.startsWith('broken'))).to.deep.equal(['broken starting', 'broken failed']);
    await rig.lifecycle.reload('llm');
    expect(rig.changes.filter((change) => change.startsWith('llm'))).to.deep.equal(['llm starting', 'llm active', 'llm active']);
  });
});
