import { type HookDecl, type TapOptions, Type, defineGather, definePipe, defineStep, defineVeto } from '@svc/api';
import { expect } from 'chai';
import { HookRegistry } from '../../src/hooks/hook-registry.js';
import { Lifetime } from '../../src/lifetime.js';
import type { Contributor } from '../../src/owner.js';

const ownerOf = (id: string, generation = 1): Contributor => ({ id, generation, lifetime: new Lifetime(`${id}@${generation}`) });
const publish = (hooks: HookRegistry, next: Contributor, previous?: Contributor): void => {
  hooks.definitions.swap(previous, next);
  hooks.taps.swap(previous, next);
};

/** Hooks of the kernel, as these tests have them. */
const Check = defineGather('doctor.check', '1.0.0', { policy: 'observe', budgetMs: 50, callable: true, subject: Type.Undefined(), answer: Type.Unknown() });
const Before = defineVeto('tool.before', '1.0.0', { policy: 'closed', budgetMs: 50, subject: Type.Unknown() });
/** Hooks of the area runs. */
const pipe = { policy: 'open', budgetMs: 50, value: Type.String(), context: Type.Undefined() } as const;
const Context = definePipe('run.context', '1.0.0', { ...pipe, callable: true });
const Start = defineVeto('run.start', '1.0.0', { policy: 'closed', budgetMs: 50, subject: Type.String() });
const Note = defineStep('run.note', '1.0.0', { policy: 'observe', budgetMs: 5, subject: Type.String() });

describe('the hook registry', () => {
  const create = () => new HookRegistry([Check, Before], { strike: () => undefined, timing: () => undefined });

  it('calls taps by stage: first, policy, normal, late, last, with numbers between them', async () => {
    const hooks = create();
    const owner = ownerOf('memory');
    const order: unknown[] = [];
    const stages = [201, 'last', 199, 101, 'late', 99, 1, undefined, -1, -99, 'policy', -101, -199, 'first', -201] as const;
    for (const stage of stages) hooks.tap(owner, Before, () => void order.push(stage), stage === undefined ? {} : { stage });
    publish(hooks, owner);
    await hooks.slot(Before)?.call('x');
    expect(order).to.deep.equal([...stages].reverse());
  });

  it('answers the kernel without a promise where the one tap does, and anybody else with one', async () => {
    const hooks = create();
    const owner = ownerOf('auth');
    const held = hooks.handle(Before);
    expect(held.atOnce('x')).to.equal(undefined);
    hooks.tap(owner, Before, () => ({ deny: 'no' }));
    publish(hooks, owner);
    expect(held.atOnce('x')).to.deep.equal({ deny: 'no' });
    const called = held.call('x');
    expect(called).to.be.instanceOf(Promise);
    expect(await called).to.deep.equal({ deny: 'no' });
  });

  it('lets code in another process tap only what its owner declares remote, also where the owner comes later', async () => {
    const Far = defineVeto('far.before', '1.0.0', { policy: 'closed', budgetMs: 1_000, remote: true, subject: Type.String() });
    const Near = defineVeto('near.before', '1.0.0', { policy: 'closed', budgetMs: 1_000, subject: Type.String() });
    const hooks = create();
    const owner = ownerOf('hooks');
    const remote: Contributor = { ...ownerOf('stranger'), isRemote: true };
    hooks.tap(remote, Far, () => ({ deny: 'from afar' }));
    hooks.tap(remote, Near, () => ({ deny: 'from afar' }));
    publish(hooks, remote);
    const [far, near] = [hooks.define(owner, Far), hooks.define(owner, Near)];
    publish(hooks, owner);
    expect(await far.call('x')).to.deep.equal({ deny: 'from afar' });
    expect(await near.call('x')).to.equal(undefined);
    expect(() => hooks.taps.verify(remote, undefined)).to.throw('near.before cannot be tapped from another process');
  });

  it('takes no name of a stage it does not know for an early one', async () => {
    const hooks = create();
    const order: string[] = [];
    const owner = ownerOf('memory');
    const unknown: TapOptions = JSON.parse('{ "stage": "whenever" }');
    hooks.tap(owner, Before, () => void order.push('late'), { stage: 'late' });
    hooks.tap(owner, Before, () => void order.push('unknown'), unknown);
    hooks.tap(owner, Before, () => void order.push('policy'), { stage: 'policy' });
    publish(hooks, owner);
    await hooks.slot(Before)?.call('x');
    expect(order).to.deep.equal(['policy', 'unknown', 'late']);
  });

  it('gives whoever uses a hook a handle that is empty while the hook is not there, and says so when it is called', async () => {
    const hooks = create();
    const [runs, memory] = [ownerOf('runs'), ownerOf('memory')];
    const handle = hooks.use(memory, Context);
    expect(handle.isEmpty()).to.equal(true);
    expect(() => handle.call('text', undefined)).to.throw('the hook run.context@1 does not exist now');
    hooks.define(runs, Context);
    publish(hooks, runs);
    expect(handle.isEmpty()).to.equal(true);
    expect(await handle.call('text', undefined)).to.equal('text');
    hooks.tap(memory, Context, (value) => `${value} remembered`);
    publish(hooks, memory);
    expect(handle.isEmpty()).to.equal(false);
    expect(await handle.call('text', undefined)).to.equal('text remembered');
  });

  it('says to an owner whose hook was never there that it is empty, and refuses to call it', () => {
    const handle = create().define(ownerOf('runs'), Context);
    expect(handle.isEmpty()).to.equal(true);
    expect(() => handle.call('text', undefined)).to.throw('the hook run.context@1 does not exist now');
  });

  describe('asked by others than its owner', () => {
    it('calls what its owner declared callable, and refuses the rest with hook_not_callable', () => {
      const hooks = create();
      const [runs, memory] = [ownerOf('runs'), ownerOf('memory')];
      hooks.define(runs, Context);
      hooks.define(runs, Start);
      publish(hooks, runs);
      for (const callable of [Check, Context]) expect(hooks.use(memory, callable).isEmpty(), callable.name).to.equal(true);
      for (const own of [Before, Start])
        expect(() => hooks.use(memory, own), own.name)
          .to.throw(`memory may not call the hook ${own.name}`)
          .with.property('code', 'hook_not_callable');
    });

    it('goes by what the owner declared, whatever copy of the declaration the caller brings', () => {
      const hooks = create();
      const forged: HookDecl = { ...Before, callable: true };
      expect(() => hooks.use(ownerOf('memory'), forged))
        .to.throw()
        .with.property('code', 'hook_not_callable');
    });

    it('refuses the call too where the hook came after the handle', () => {
      const hooks = create();
      const [runs, memory] = [ownerOf('runs'), ownerOf('memory')];
      const early = hooks.use(memory, { ...Start, callable: true });
      hooks.define(runs, Start);
      hooks.tap(runs, Start, () => ({ deny: 'no' }));
      publish(hooks, runs);
      expect(() => early.call('draft'))
        .to.throw()
        .with.property('code', 'hook_not_callable');
      expect(() => early.isEmpty())
        .to.throw()
        .with.property('code', 'hook_not_callable');
    });
  });

  const changes: ReadonlyArray<readonly [string, HookDecl]> = [
    ['kind', defineStep('run.context', '1.0.0', { policy: 'open', budgetMs: 50, subject: Type.String(), callable: true })],
    ['policy', definePipe('run.context', '1.0.0', { ...pipe, policy: 'closed' })],
    ['budget', definePipe('run.context', '1.0.0', { ...pipe, budgetMs: 60 })],
    ['minor version', definePipe('run.context', '1.1.0', pipe)],
  ];
  for (const [what, changed] of changes) {
    it(`makes a hook anew, with the taps it had, when a reload of its owner changes its ${what}, and keeps it when nothing changes`, () => {
      const hooks = create();
      const [one, two, three, memory] = [ownerOf('runs', 1), ownerOf('runs', 2), ownerOf('runs', 3), ownerOf('memory')];
      hooks.tap(memory, Context, (value) => value);
      publish(hooks, memory);
      hooks.define(one, Context);
      publish(hooks, one);
      const slot = hooks.slot(Context);
      hooks.define(two, { ...Context });
      publish(hooks, two, one);
      expect(hooks.slot(Context)).to.equal(slot);
      hooks.define(three, changed);
      publish(hooks, three, two);
      expect(hooks.slot(Context)?.hook).to.equal(changed);
      expect(hooks.slot(Context)?.taps()).to.have.length(1);
    });
  }

  it('takes a hook for callable, or not, as the newest declaration of its owner says', () => {
    const hooks = create();
    const [one, two, memory] = [ownerOf('runs', 1), ownerOf('runs', 2), ownerOf('memory')];
    hooks.define(one, Context);
    publish(hooks, one);
    const handle = hooks.use(memory, Context);
    hooks.define(two, definePipe('run.context', '1.0.0', pipe));
    publish(hooks, two, one);
    expect(() => handle.call('text', undefined))
      .to.throw()
      .with.property('code', 'hook_not_callable');
  });

  it('calls taps of one major version of a hook only: another is another hook', async () => {
    const hooks = create();
    const [runs, memory] = [ownerOf('runs'), ownerOf('memory')];
    const handle = hooks.define(runs, Context);
    hooks.tap(memory, definePipe('run.context', '2.0.0', pipe), (value) => `${value} of two`);
    hooks.tap(memory, definePipe('run.context', '1.7.0', pipe), (value) => `${value} of one`);
    publish(hooks, runs);
    publish(hooks, memory);
    expect(await handle.call('text', undefined)).to.equal('text of one');
  });

  it('calls the next generation of one area among several', async () => {
    const hooks = create();
    const [old, next, other] = [ownerOf('memory', 1), ownerOf('memory', 2), ownerOf('files')];
    for (const owner of [old, next, other]) hooks.tap(owner, Check, () => owner.generation);
    publish(hooks, other);
    publish(hooks, old);
    publish(hooks, next, old);
    expect(await hooks.slot(Check)?.call(undefined)).to.deep.equal([
      { owner: 'files', value: 1 },
      { owner: 'memory', value: 2 },
    ]);
  });

  it('suspends nobody on a hook that is not there', () => {
    expect(create().suspend(ownerOf('memory'), 'nothing.here')).to.equal(false);
  });

  it('calls nobody of a candidate that is not published', async () => {
    const hooks = create();
    const owner = ownerOf('memory');
    hooks.tap(owner, Check, () => 'fine');
    expect(hooks.slot(Check)?.isEmpty).to.equal(true);
    publish(hooks, owner);
    expect(await hooks.slot(Check)?.call(undefined)).to.deep.equal([{ owner: 'memory', value: 'fine' }]);
  });

  it('lets taps sleep while the owner of their hook is off, and wakes them with it', async () => {
    const hooks = create();
    const [runs, memory] = [ownerOf('runs'), ownerOf('memory')];
    hooks.tap(memory, Context, (value) => `${value} remembered`);
    publish(hooks, memory);
    expect(hooks.slot(Context)).to.equal(undefined);
    const handle = hooks.define(runs, Context);
    publish(hooks, runs);
    expect(await handle.call('text', undefined)).to.equal('text remembered');
    hooks.definitions.swap(runs, undefined);
    expect(hooks.slot(Context)).to.equal(undefined);
  });

  it('lets the owner of a hook that was switched off finish by the checks it began with', async () => {
    const hooks = create();
    const [runs, guard] = [ownerOf('runs'), ownerOf('guard')];
    hooks.tap(guard, Start, () => ({ deny: 'no' }));
    const handle = hooks.define(runs, Start);
    publish(hooks, guard);
    publish(hooks, runs);
    expect(handle.isEmpty()).to.equal(false);
    hooks.definitions.swap(runs, undefined);
    hooks.taps.swap(runs, undefined);
    expect(await handle.call('draft')).to.deep.equal({ deny: 'no' });
  });

  it('refuses a hook that another extension or the kernel owns, in any major version', () => {
    const hooks = create();
    const [runs, other, third] = [ownerOf('runs'), ownerOf('other'), ownerOf('third')];
    hooks.define(runs, Note);
    publish(hooks, runs);
    hooks.define(other, { ...Note, version: '2.0.0' });
    expect(() => hooks.definitions.verify(other, undefined)).to.throw('already defined by runs');
    hooks.define(third, { ...Before, version: '2.0.0' });
    expect(() => hooks.definitions.verify(third, undefined)).to.throw('belongs to the kernel');
  });

  it('stops calling a suspended generation on an observing hook, and there only; its successor is called again', async () => {
    const hooks = create();
    const [old, next, other] = [ownerOf('memory', 1), ownerOf('memory', 2), ownerOf('files')];
    for (const owner of [old, next, other]) {
      hooks.tap(owner, Check, () => owner.generation);
      hooks.tap(owner, Before, () => (owner === old ? { deny: 'no' } : undefined));
    }
    publish(hooks, old);
    publish(hooks, other);
    const values = async () => (await hooks.handle(Check).call(undefined)).map((row) => `${row.owner}@${row.value}`);

    expect(hooks.suspend(old, 'doctor.check')).to.equal(true);
    expect(await values()).to.deep.equal(['files@1']);
    expect(hooks.suspend(old, 'tool.before')).to.equal(false);
    expect(await hooks.slot(Before)?.call({})).to.deep.equal({ deny: 'no' });
    publish(hooks, next, old);
    expect(await values()).to.deep.equal(['files@1', 'memory@2']);
  });
});
