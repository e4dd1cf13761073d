import { Type, defineFrames, defineStreamProjection } from '@svc/api';
import { createContractValidator, Lifetime, type Contributor } from '@svc/core';
import { loadViolation } from '@svc/platform/schema/violation';
import { createStreams } from '@svc/platform/streams/streams';
import { expect } from 'chai';
import { createProjectionRegistry, streamsAccess } from '../../src/access/streams.js';

const Frames = defineFrames('runs', '1.0.0', { frames: { n: Type.Integer(), done: Type.Null() }, final: ['done'] });
const Shown = defineStreamProjection('runs.sse', '1.0.0', { format: Frames, contentType: 'text/event-stream', args: Type.Undefined() });
const ownerOf = (build: string | undefined, generation = 1): Contributor => ({ id: 'runs', generation, lifetime: new Lifetime(`runs@${generation}`), ...(build === undefined ? {} : { build }) });

describe('streams at the latch', () => {
  const create = async (build: string | undefined) => {
    const topics = createStreams({ clock: { now: () => 0, mono: () => 0 } });
    const validator = createContractValidator(loadViolation, false);
    await validator.load();
    const projections = createProjectionRegistry();
    const owner = ownerOf(build);
    const streams = streamsAccess(topics, projections, owner, validator);
    streams.open(Frames, 'run');
    return { streams, owner, projections };
  };
  const wrong: number = JSON.parse('"two"');

  it('hold the frames of an area from elsewhere to their declaration', async () => {
    const { streams } = await create(undefined);
    streams.publish(Frames, 'run', 'n', 1);
    expect(() => streams.publish(Frames, 'run', 'n', wrong))
      .to.throw('must be integer')
      .with.property('code', 'contract_mismatch');
    expect((await streams.state('run'))?.seq).to.equal(1);
  });

  it('do not look at the frames of an area of the build: its compiler did', async () => {
    const { streams } = await create('a');
    streams.publish(Frames, 'run', 'n', wrong);
    expect((await streams.state('run'))?.seq).to.equal(1);
  });

  it('take a projection once', async () => {
    const { streams, owner, projections } = await create('a');
    streams.project(Shown, { encode: () => 'x' });
    streams.project(Shown, { encode: () => 'y' });
    expect(() => projections.verify(owner, undefined)).to.throw('the projection runs.sse@1 is already registered by runs');
  });
});
