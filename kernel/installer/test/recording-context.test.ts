import { ToolBefore, Type, defineConfig, defineRoute, defineService, defineTool, method, reply } from '@svc/api';
import { expect } from 'chai';
import { recordingContext, schemaDefaults } from '../src/recording-context.js';

const route = (method: 'GET' | 'PUT') =>
  defineRoute({ id: `${method}-a`, method, path: '/a', summary: 'A route', auth: 'bearer', permission: 'a.read', cost: 1, responses: { 200: Type.Object({}) }, handler: async () => reply(200, {}) });
const Sessions = defineService('sessions', '1.0.0', { append: method([Type.Array(Type.String())], Type.Void()) });

describe('the recording context', () => {
  it('writes down what is registered and lets everything else pass without effect', async () => {
    const { ctx, seen } = recordingContext({ id: 'loop-guard', version: '1.0.0' });
    ctx.routes.add(route('GET'), route('PUT'));
    ctx.tools.add(defineTool({ name: 'look', description: 'Looks.', params: Type.Object({}), risk: 'read', replay: 'safe', parallel: true, run: async () => 'seen' }));
    ctx.hooks.tap(ToolBefore, () => undefined, { stage: 'policy' });
    await ctx.services.require(Sessions).append([]);

    expect(seen.routes.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(['GET /a', 'PUT /a']);
    expect(seen.tools.map(({ name }) => name)).to.deep.equal(['look']);
    expect(seen.taps).to.deep.equal([{ hook: ToolBefore, options: { stage: 'policy' } }]);
    expect(ctx.db.table('seen')).to.equal('loop_guard__seen');
  });

  it('gives a section the defaults of its schema, nested ones too', () => {
    const schema = Type.Object({ max: Type.Integer({ default: 5 }), decay: Type.Object({ hours: Type.Number({ default: 24 }) }), name: Type.Optional(Type.String()) });
    expect(schemaDefaults(schema)).to.deep.equal({ max: 5, decay: { hours: 24 } });
    const { ctx } = recordingContext({ id: 'memory', version: '1.0.0' });
    expect(ctx.config.get(defineConfig('memory', schema)).max).to.equal(5);
  });
});
