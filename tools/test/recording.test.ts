import { expect } from 'chai';
import { recordingContext, schemaDefaults } from '../build/recording-context.mjs';
import { nodeProblem, platformProblem } from '../requirements.mjs';

describe('the recording context', () => {
  it('writes down what is registered and lets everything else pass without effect', async () => {
    const { ctx, seen } = recordingContext({ id: 'loop-guard', version: '1.0.0', config: {} });
    ctx.routes.add({ method: 'GET', path: '/a' }, { method: 'PUT', path: '/a' });
    ctx.tools.add({ name: 'look' });
    ctx.hooks.tap('tool.before', () => undefined, { stage: 'policy' });
    const service = ctx.services.require('sessions');
    await service.append({}, []);

    expect(seen.routes).to.have.length(2);
    expect(seen.tools[0].name).to.equal('look');
    expect(seen.taps).to.deep.equal([{ name: 'tool.before', stage: 'policy' }]);
    expect(ctx.db.table('seen')).to.equal('loop_guard__seen');
  });

  it('gives a section the defaults of its schema, nested ones too', () => {
    const schema = {
      type: 'object',
      properties: { max: { type: 'integer', default: 5 }, decay: { type: 'object', properties: { hours: { type: 'number', default: 24 } } }, name: { type: 'string' } },
    };
    expect(schemaDefaults(schema)).to.deep.equal({ max: 5, decay: { hours: 24 } });
    const { ctx } = recordingContext({ id: 'memory', version: '1.0.0', config: { memory: schema } });
    expect(ctx.config.get('memory').max).to.equal(5);
  });
});

describe('what the machine must be', () => {
  it('takes the Node.js versions that engines names and no others', () => {
    for (const [major, minor] of [
      [20, 19],
      [22, 12],
      [23, 0],
      [24, 1],
    ])
      expect(nodeProblem(major, minor), `${major}.${minor}`).to.equal(undefined);
    for (const [major, minor] of [
      [18, 20],
      [20, 18],
      [21, 7],
      [22, 11],
    ])
      expect(nodeProblem(major, minor), `${major}.${minor}`).to.contain('20.19');
  });

  it('sends Windows to WSL 2 in one sentence', () => {
    expect(platformProblem('win32')).to.contain('WSL 2');
    expect(platformProblem('linux')).to.equal(undefined);
  });
});
