import { NotReady } from '@svc/api';
import { expect } from 'chai';
import { type Contributor, currentContributor, runAs } from '../src/owner.js';
import { area, code, createRig, type Fixture, rejection, type RigContext } from './lifecycle-rig.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const broken = (what: string) => (): never => {
  throw new Error(what);
};

/** An area with one route and one thing opened, whose generations differ as `vary` says. */
const memory = (vary: (ctx: RigContext, load: number) => void | Promise<void> = () => undefined, rest: Parameters<typeof code>[1] = {}): [string, Fixture] => {
  let loads = 0;
  return [
    'memory',
    {
      contributions: { routes: ['GET /memory'] },
      code: () => {
        const load = ++loads;
        return code(async (ctx) => {
          ctx.route('GET /memory');
          ctx.onDispose('cache', () => undefined);
          await vary(ctx, load);
        }, rest);
      },
    },
  ];
};

describe('the lifecycle', () => {
  describe('at boot', () => {
    it('starts providers before those who need them, and says which wave started', async () => {
      const rig = createRig([area('runs', ['llm']), area('llm')]);
      const waves: string[] = [];
      await rig.lifecycle.boot((ids) => waves.push(ids.join(' ')));
      expect(waves).to.deep.equal(['llm', 'runs']);
      expect(rig.states()).to.deep.equal({ llm: 'active', runs: 'active' });
      expect(rig.migrated).to.deep.equal(['llm', 'runs']);
    });

    it('a failing extension leaves nothing, fails with its phase and reason, and spares its siblings', async () => {
      const rig = createRig([memory(broken('no table')), area('llm')]);
      await rig.lifecycle.boot();
      const { state, phase, reason, recoverable } = rig.lifecycle.status('memory');
      expect({ state, phase, reason, recoverable }).to.deep.equal({ state: 'failed', phase: 'activate', reason: 'no table', recoverable: false });
      expect(rig.visible()).to.deep.equal([]);
      expect(rig.leftovers()).to.deep.equal([]);
      expect(rig.lifecycle.isActive('llm')).to.equal(true);
    });

    it('one that fails in start is taken out of sight again and stopped', async () => {
      const stops: string[] = [];
      const rig = createRig([memory(undefined, { start: broken('port in use'), stop: (why) => void stops.push(why) })]);
      await rig.lifecycle.boot();
      expect(rig.lifecycle.status('memory')).to.include({ state: 'failed', phase: 'start', reason: 'port in use' });
      expect(rig.visible()).to.deep.equal([]);
      expect(stops).to.deep.equal(['failed']);
      expect(rig.leftovers()).to.deep.equal([]);
    });

    it('what needs a failed one is pending and says for whom it waits', async () => {
      const rig = createRig([area('llm', [], { code: broken('syntax') as () => never }), area('runs', ['llm'])]);
      await rig.lifecycle.boot();
      expect(rig.lifecycle.status('llm')).to.include({ state: 'failed', phase: 'load' });
      expect(rig.lifecycle.status('runs')).to.include({ state: 'pending', recoverable: true });
      expect(rig.lifecycle.status('runs').reason).to.contain('llm');
    });

    it('refuses what adds something undeclared, and what does not add what it declares', async () => {
      const rig = createRig([
        ['route', { code: () => code((ctx) => ctx.route('GET /secret')) }],
        ['tap', { code: () => code((ctx) => ctx.tap('doctor.check')) }],
        ['service', { code: () => code((ctx) => ctx.provide('stray')) }],
        ['lazy', { contributions: { routes: ['GET /promised'] } }],
      ]);
      await rig.lifecycle.boot();
      const reason = (id: string) => rig.lifecycle.status(id).reason;
      expect(rig.states()).to.deep.equal({ lazy: 'failed', route: 'failed', service: 'failed', tap: 'failed' });
      expect(reason('route')).to.contain('GET /secret').and.to.contain('contributions.json');
      expect(reason('tap')).to.contain('doctor.check').and.to.contain('hooks in extension.json');
      expect(reason('service')).to.contain('stray').and.to.contain('provides');
      expect(reason('lazy')).to.contain('GET /promised').and.to.contain('does not add');
      expect(rig.leftovers()).to.deep.equal([]);
    });

    it('of two that start side by side and claim the same, one is refused', async () => {
      const same: Fixture = { contributions: { routes: ['GET /same'] }, code: () => code((ctx) => ctx.route('GET /same')) };
      const rig = createRig([
        ['one', same],
        ['two', same],
      ]);
      await rig.lifecycle.boot();
      expect(Object.values(rig.states()).sort()).to.deep.equal(['active', 'failed']);
      expect(rig.visible()).to.deep.equal(['GET /same of 1']);
      expect(rig.leftovers()).to.deep.equal([]);
    });

    it('knows whose code runs while it is loaded and activated', async () => {
      const seen: Array<string | undefined> = [];
      const rig = createRig([
        [
          'memory',
          {
            code: () => {
              seen.push(currentContributor()?.id);
              return code(() => void seen.push(currentContributor()?.id));
            },
          },
        ],
      ]);
      await rig.lifecycle.boot();
      expect(seen).to.deep.equal(['memory', 'memory']);
    });
  });

  describe('not ready', () => {
    it('is pending and is tried again after 1 s, 2 s, 4 s … up to 60 s', async () => {
      let attempts = 0;
      const rig = createRig([
        memory(undefined, {
          start: () => {
            attempts++;
            throw new NotReady('the index is still being built');
          },
        }),
      ]);
      await rig.lifecycle.boot();
      expect(rig.lifecycle.status('memory')).to.include({ state: 'pending', recoverable: true });
      expect(rig.lifecycle.status('memory').reason).to.contain('the index is still being built');
      const waits: number[] = [];
      for (let n = 0; n < 8; n++) {
        waits.push(...rig.waits());
        await rig.elapse();
      }
      expect(waits).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
      expect(attempts).to.equal(9);
      expect(rig.leftovers()).to.deep.equal([]);
    });

    it('becomes active when it is ready, and what needs it follows', async () => {
      let isReady = false;
      const start = (): void => {
        if (!isReady) throw new NotReady('soon');
      };
      const rig = createRig([area('llm', [], { code: () => code((ctx) => ctx.provide('llm'), { start }) }), area('runs', ['llm'])]);
      await rig.lifecycle.boot();
      expect(rig.states()).to.deep.equal({ llm: 'pending', runs: 'pending' });
      isReady = true;
      await rig.elapse();
      expect(rig.states()).to.deep.equal({ llm: 'active', runs: 'active' });
    });

    it('is not tried again once it was switched off', async () => {
      const rig = createRig([memory(undefined, { start: () => Promise.reject(new NotReady('soon')) })]);
      await rig.lifecycle.boot();
      await rig.lifecycle.disable('memory');
      expect(rig.waits()).to.deep.equal([]);
      expect(rig.lifecycle.status('memory').state).to.equal('inactive');
    });
  });

  describe('a reload', () => {
    it('lets the new generation serve while the old one finishes what it holds, then leaves nothing of it', async () => {
      let held: { release(): void } | null = null;
      const stops: string[] = [];
      const rig = createRig([
        memory(
          (ctx, load) => {
            if (load === 1) held = ctx.hold('GET /memory');
          },
          { stop: (why) => void stops.push(why) },
        ),
      ]);
      await rig.lifecycle.boot();
      const [old] = rig.owners;
      await rig.lifecycle.reload('memory');
      expect(rig.visible()).to.deep.equal(['GET /memory of 2']);
      expect(old?.lifetime.state).to.equal('draining');
      expect(stops).to.deep.equal([]);
      (held as { release(): void } | null)?.release();
      await rig.lifecycle.settled();
      expect(stops).to.deep.equal(['reload']);
      expect(old?.lifetime.state).to.equal('closed');
      expect(rig.leftovers()).to.deep.equal([]);
      expect(rig.lifecycle.status('memory').leaks).to.deep.equal([]);
    });

    it('that fails to activate keeps the old generation serving, and says both: what failed, and that it serves on', async () => {
      const rig = createRig([
        memory((_ctx, load) => {
          if (load === 2) throw new Error('typo');
        }),
      ]);
      await rig.lifecycle.boot();
      expect(await rejection(rig.lifecycle.reload('memory'))).to.equal('typo');
      expect(rig.visible()).to.deep.equal(['GET /memory of 1']);
      const { state, generation, reason } = rig.lifecycle.status('memory');
      expect({ state, generation }).to.deep.equal({ state: 'active', generation: 1 });
      expect(reason).to.contain('typo').and.to.contain('activate').and.to.contain('serves on');
      expect(rig.leftovers()).to.deep.equal([]);
      await rig.lifecycle.reload('memory');
      expect(rig.lifecycle.status('memory')).to.include({ generation: 3, reason: null });
    });

    it('that fails to start swaps back to the old generation, which never stopped', async () => {
      const seen: string[] = [];
      const rig: ReturnType<typeof createRig> = createRig([
        memory(undefined, {
          start: (ctx) => {
            if (ctx.generation !== 2) return;
            seen.push(...rig.visible());
            throw new Error('no port');
          },
        }),
      ]);
      await rig.lifecycle.boot();
      expect(await rejection(rig.lifecycle.reload('memory'))).to.equal('no port');
      expect(seen).to.deep.equal(['GET /memory of 2']);
      expect(rig.visible()).to.deep.equal(['GET /memory of 1']);
      expect(rig.owners[0]?.lifetime.state).to.equal('open');
      expect(rig.lifecycle.status('memory').reason).to.contain('start');
      expect(rig.leftovers()).to.deep.equal([]);
    });

    it('keeps what needs it running, and its service there', async () => {
      const rig = createRig([area('llm'), area('runs', ['llm'])]);
      await rig.lifecycle.boot();
      await rig.lifecycle.reload('llm');
      expect(rig.lifecycle.status('llm').generation).to.equal(2);
      expect(rig.lifecycle.status('runs')).to.include({ state: 'active', generation: 1 });
      expect(rig.hasService('llm')).to.equal(true);
    });

    it('is told to whoever watches states', async () => {
      const rig = createRig([memory()]);
      await rig.lifecycle.boot();
      rig.changes.length = 0;
      await rig.lifecycle.reload('memory');
      expect(rig.changes).to.deep.equal(['memory active']);
    });

    it('of one that failed starts it, if it can now', async () => {
      const rig = createRig([
        memory((_ctx, load) => {
          if (load === 1) throw new Error('first time');
        }),
      ]);
      await rig.lifecycle.boot();
      expect((await rig.lifecycle.reload('memory')).state).to.equal('active');
    });

    it('of an area that owns a port stops the old generation first', async () => {
      const rig = createRig([['memory', { ...memory()[1], manifest: { replace: 'stop-first' } }]]);
      await rig.lifecycle.boot();
      await rig.lifecycle.reload('memory');
      expect(rig.changes.slice(-4)).to.deep.equal(['memory stopping', 'memory inactive', 'memory starting', 'memory active']);
      expect(rig.owners[0]?.lifetime.state).to.equal('closed');
    });

    it('names what a generation left behind', async () => {
      const rig = createRig([
        memory((ctx, load) => {
          if (load === 1) ctx.onDispose('listener on 4545', () => Promise.reject(new Error('still bound')));
        }),
      ]);
      await rig.lifecycle.boot();
      await rig.lifecycle.reload('memory');
      await rig.lifecycle.settled();
      expect(rig.lifecycle.status('memory').leaks).to.deep.equal(['listener on 4545: still bound']);
    });
  });

  describe('a disable', () => {
    it('takes the area out of sight at once and keeps what it holds until it is released', async () => {
      let held: { release(): void } | null = null;
      const rig = createRig([
        memory((ctx) => {
          held = ctx.hold('GET /memory');
        }),
      ]);
      await rig.lifecycle.boot();
      const disabling = rig.lifecycle.disable('memory');
      await turn();
      expect(rig.visible()).to.deep.equal([]);
      expect(rig.lifecycle.status('memory').state).to.equal('stopping');
      (held as { release(): void } | null)?.release();
      expect((await disabling).state).to.equal('inactive');
      expect(rig.leftovers()).to.deep.equal([]);
    });

    it('by force waits for nobody', async () => {
      const rig = createRig([memory((ctx) => void ctx.hold('for ever'))]);
      await rig.lifecycle.boot();
      expect((await rig.lifecycle.disable('memory', { force: true })).state).to.equal('inactive');
      expect(rig.owners[0]?.lifetime.state).to.equal('closed');
    });

    it('asked for from inside the area does not wait for itself', async () => {
      const rig = createRig([memory()]);
      await rig.lifecycle.boot();
      const owner = rig.owners[0] as Contributor;
      const leave = owner.lifetime.enter('POST /off');
      const status = await runAs(owner, () => rig.lifecycle.disable('memory'));
      expect(status.state).to.equal('inactive');
      leave?.();
      await rig.lifecycle.settled();
      expect(owner.lifetime.state).to.equal('closed');
    });

    it('stops what needs it first, last in first out, and brings it back with it', async () => {
      const stops: string[] = [];
      const stopping = (id: string, requires: readonly string[]) => area(id, requires, { code: () => code((ctx) => ctx.provide(id), { stop: () => void stops.push(id) }) });
      const rig = createRig([stopping('llm', []), stopping('runs', ['llm']), stopping('webchat', ['runs']), stopping('files', [])]);
      await rig.lifecycle.boot();
      await rig.lifecycle.disable('llm');
      expect(stops).to.deep.equal(['webchat', 'runs', 'llm']);
      expect(rig.states()).to.deep.equal({ files: 'active', llm: 'inactive', runs: 'pending', webchat: 'pending' });
      expect(rig.lifecycle.status('webchat').reason).to.contain('runs');
      await rig.lifecycle.enable('llm');
      expect(Object.values(rig.states())).to.deep.equal(['active', 'active', 'active', 'active']);
      expect(rig.leftovers()).to.deep.equal([]);
    });

    it('of a user of an optional service changes nothing for others', async () => {
      const rig = createRig([area('llm'), area('memory', [], { manifest: { optional: { llm: '^1' } } })]);
      await rig.lifecycle.boot();
      await rig.lifecycle.disable('llm');
      expect(rig.lifecycle.status('memory')).to.include({ state: 'active', generation: 1 });
    });

    it('says before what it would stop and degrade', async () => {
      const rig = createRig([area('llm'), area('runs', ['llm']), area('memory', [], { manifest: { optional: { llm: '^1' } } })], { essential: ['llm'] });
      await rig.lifecycle.boot();
      const plan = rig.lifecycle.plan('disable', 'llm');
      expect(plan).to.deep.include({ stops: ['llm', 'runs'], degrades: ['memory'], starts: [] });
      expect(plan.warning).to.contain('essential');
      await rig.lifecycle.disable('llm');
      expect(rig.lifecycle.plan('enable', 'llm').starts).to.deep.equal(['llm', 'runs']);
    });
  });

  describe('intent', () => {
    it("is a person's choice, else the settings, else the preset; it is never what was observed", async () => {
      const rig = createRig([area('a'), area('b'), area('c')], { preset: ['a', 'b'] });
      await rig.lifecycle.boot();
      expect(rig.lifecycle.status('a').intent).to.deep.equal({ enabled: true, decidedBy: 'preset' });
      expect(rig.lifecycle.status('c').intent).to.deep.equal({ enabled: false, decidedBy: 'preset' });
      rig.settings.configDisable.push('a');
      rig.settings.configEnable.push('c');
      await rig.lifecycle.converge();
      expect(rig.states()).to.deep.equal({ a: 'inactive', b: 'active', c: 'active' });
      expect(rig.lifecycle.status('a').intent).to.deep.equal({ enabled: false, decidedBy: 'config' });
      await rig.lifecycle.enable('a');
      await rig.lifecycle.disable('c');
      expect(rig.states()).to.deep.equal({ a: 'active', b: 'active', c: 'inactive' });
      expect(rig.lifecycle.status('a').intent).to.deep.equal({ enabled: true, decidedBy: 'choice' });
    });

    it('goes back to settings and preset when a choice is reset', async () => {
      const rig = createRig([area('a'), area('b')], { preset: ['a'] });
      await rig.lifecycle.boot();
      await rig.lifecycle.disable('a');
      await rig.lifecycle.enable('b');
      expect(rig.lifecycle.plan('reset', 'b').stops).to.deep.equal(['b']);
      await rig.lifecycle.reset('a');
      await rig.lifecycle.reset('b');
      expect(rig.states()).to.deep.equal({ a: 'active', b: 'inactive' });
      expect(rig.lifecycle.status('b').intent).to.deep.equal({ enabled: false, decidedBy: 'preset' });
      expect([...rig.choices]).to.deep.equal([]);
    });

    it('stays "on" for one that failed', async () => {
      const rig = createRig([memory(broken('no'))]);
      await rig.lifecycle.boot();
      expect(rig.lifecycle.status('memory').intent.enabled).to.equal(true);
      await rig.lifecycle.converge();
      expect(rig.lifecycle.status('memory')).to.include({ state: 'failed', reason: 'no' });
    });

    it('waits for the condition of the manifest', async () => {
      const rig = createRig([area('prompt-lab', [], { manifest: { when: '/prompt/enabled' } })]);
      await rig.lifecycle.boot();
      expect(rig.lifecycle.status('prompt-lab').state).to.equal('inactive');
      expect(rig.lifecycle.status('prompt-lab').reason).to.contain('/prompt/enabled');
      rig.settings.when.add('/prompt/enabled');
      await rig.lifecycle.converge();
      expect(rig.lifecycle.status('prompt-lab')).to.include({ state: 'active', reason: null });
      rig.settings.when.clear();
      await rig.lifecycle.converge();
      expect(rig.lifecycle.status('prompt-lab').state).to.equal('inactive');
    });
  });

  describe('misbehaviour', () => {
    it('puts an extension in quarantine with its reason; a change of something else does not bring it back', async () => {
      const rig = createRig([area('llm'), area('runs', ['llm']), area('files')]);
      await rig.lifecycle.boot();
      await rig.lifecycle.quarantine('llm', 'it failed 20 times');
      expect(rig.states()).to.deep.equal({ files: 'active', llm: 'quarantined', runs: 'pending' });
      expect(rig.lifecycle.status('llm')).to.include({ reason: 'it failed 20 times', recoverable: false });
      await rig.lifecycle.reload('files');
      await rig.lifecycle.converge();
      expect(rig.lifecycle.status('llm').state).to.equal('quarantined');
      rig.strikes.strike('llm', 'x');
      await rig.lifecycle.enable('llm');
      expect(rig.states()).to.deep.equal({ files: 'active', llm: 'active', runs: 'active' });
      expect(rig.lifecycle.status('llm').strikes).to.equal(0);
    });

    it('marks it degraded until it is reloaded', async () => {
      const rig = createRig([memory()]);
      await rig.lifecycle.boot();
      rig.lifecycle.degrade('memory', 'it failed repeatedly in doctor.check');
      expect(rig.lifecycle.status('memory')).to.include({ state: 'active', degraded: true, reason: 'it failed repeatedly in doctor.check' });
      await rig.lifecycle.reload('memory');
      expect(rig.lifecycle.status('memory')).to.include({ state: 'active', degraded: false, reason: null });
    });
  });

  describe('the end', () => {
    it('stops everything in reverse, starts nothing any more and leaves nothing', async () => {
      const stops: string[] = [];
      const stopping = (id: string, requires: readonly string[]) => area(id, requires, { code: () => code((ctx) => ctx.provide(id), { stop: (why) => void stops.push(`${id} ${why}`) }) });
      const rig = createRig([stopping('llm', []), stopping('runs', ['llm'])]);
      await rig.lifecycle.boot();
      await rig.lifecycle.stopAll('shutdown', 1_000);
      await rig.lifecycle.converge();
      expect(stops).to.deep.equal(['runs shutdown', 'llm shutdown']);
      expect(rig.states()).to.deep.equal({ llm: 'inactive', runs: 'inactive' });
      expect(rig.leftovers()).to.deep.equal([]);
    });

    it('gives a generation that an earlier reload still waits for no longer than the others', async () => {
      const rig = createRig([memory((ctx, load) => void (load === 1 && ctx.hold('a stuck request')))]);
      await rig.lifecycle.boot();
      await rig.lifecycle.reload('memory');
      const stopping = rig.lifecycle.stopAll('shutdown', 1_000);
      await turn();
      expect(rig.owners[0]?.lifetime.state).to.equal('draining');
      await Promise.all([rig.elapse(), stopping]);
      expect(rig.owners[0]?.lifetime.state).to.equal('closed');
      expect(rig.lifecycle.status('memory').leaks.join()).to.contain('a stuck request');
    });
  });

  it('makes one change at a time: a hundred at once end in what was asked last', async () => {
    const rig = createRig([memory(), area('llm'), area('runs', ['llm'])]);
    await rig.lifecycle.boot();
    await Promise.all(Array.from({ length: 100 }, (_, n) => (n % 3 === 0 ? rig.lifecycle.reload('memory') : n % 2 === 0 ? rig.lifecycle.disable('llm') : rig.lifecycle.enable('llm'))));
    await rig.lifecycle.enable('llm');
    await rig.lifecycle.settled();
    expect(rig.states()).to.deep.equal({ llm: 'active', memory: 'active', runs: 'active' });
    expect(rig.visible()).to.have.length(1);
    expect(rig.leftovers()).to.deep.equal([]);
  });
});
