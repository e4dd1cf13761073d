import { checkValue, OneOf, Type, Uuid } from '@svc/api';
import { expect } from 'chai';

const schema = Type.Object({ path: Type.String({ minLength: 1 }), count: Type.Optional(Type.Integer({ minimum: 1 })), mode: Type.Optional(OneOf(['a', 'b'])), id: Type.Optional(Uuid) });

describe('checkValue', () => {
  it('accepts what fits, closed sets and formats included', async () => {
    expect(await checkValue(schema, { path: 'x', count: 2, mode: 'a', id: '11111111-1111-4111-8111-111111111111' })).to.deep.equal({ ok: true });
  });

  it('names the place and what was expected there', async () => {
    expect(await checkValue(schema, {})).to.deep.equal({ ok: false, path: '/path', message: 'is required' });
    expect(await checkValue(schema, { path: 5 })).to.deep.equal({ ok: false, path: '/path', message: 'must be string, and is number' });
    expect(await checkValue(schema, { path: 'x', mode: 'c' })).to.deep.equal({ ok: false, path: '/mode', message: 'must be one of "a", "b"' });
    expect(await checkValue(schema, [])).to.include({ ok: false, path: '' });
    for (const wrong of [{ count: 0 }, { count: 1.5 }, { id: 'nonsense' }]) expect(await checkValue(schema, { path: 'x', ...wrong }), JSON.stringify(wrong)).to.include({ ok: false });
  });
});
