/** A reload takes what lies on disk now; whatever fails, what ran before is what is installed. */
import { expect } from 'chai';
import { area, code, createRig, type Fixture, rejection } from './lifecycle-rig.js';

const failing = (what: string) => (): never => {
  throw new Error(what);
};

const memory: [string, Fixture] = ['memory', { contributions: { routes: ['GET /memory'] }, code: () => code((ctx) => ctx.route('GET /memory')) }];

describe('a newer build on disk', () => {
  const llm = (provides: string): Fixture => ({
    manifest: { provides: { llm: provides } },
    contributions: { routes: ['GET /llm'] },
    code: () =>
      code((ctx) => {
        ctx.provide('llm');
        ctx.route('GET /llm');
      }),
  });

  it('a reload runs that one, and the store says so', async () => {
    const rig = createRig([memory]);
    await rig.lifecycle.boot();
    rig.rebuild('memory', {
      contributions: { routes: ['GET /memory', 'GET /more'] },
      code: () =>
        code((ctx) => {
          ctx.route('GET /memory');
          ctx.route('GET /more');
        }),
    });
    await rig.lifecycle.reload('memory');
    expect(rig.visible()).to.deep.equal(['GET /memory of 2', 'GET /more of 2']);
    expect(rig.store.get('memory')?.contributions.routes).to.deep.equal(['GET /memory', 'GET /more']);
  });

  it('that fails, the running one is what is installed', async () => {
    const rig = createRig([memory]);
    await rig.lifecycle.boot();
    const before = rig.store.get('memory');
    rig.rebuild('memory', { code: () => code(failing('no good')) });
    expect(await rejection(rig.lifecycle.reload('memory'))).to.equal('no good');
    expect(rig.store.get('memory')).to.equal(before);
    expect(rig.visible()).to.deep.equal(['GET /memory of 1']);
  });

  it('that would leave another without what it requires is refused before its code runs', async () => {
    const rig = createRig([['llm', llm('1.0.0')], area('runs', ['llm'])]);
    await rig.lifecycle.boot();
    rig.rebuild('llm', { ...llm('2.0.0'), code: failing('it ran') });
    expect(await rejection(rig.lifecycle.reload('llm'))).to.match(/^runs: it requires the service llm/);
    expect(rig.states()).to.deep.equal({ llm: 'active', runs: 'active' });
    expect(rig.visible()).to.deep.equal(['GET /llm of 1']);
  });
});
