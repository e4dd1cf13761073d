/** What crosses between areas is held to its declaration, by words that JSON Schema has and one that it lacks. */
import { type TSchema, Type } from '@svc/api';
import type { Misfit } from '@svc/core';
import { expect } from 'chai';
import { loadMisfit } from '../src/schema/misfit.js';

describe('a value that crosses between areas', () => {
  let misfit: Misfit;
  before(async () => {
    misfit = await loadMisfit();
  });
  const fits = (schema: TSchema, value: unknown): boolean => misfit(schema, value) === undefined;

  it('may be nothing where nothing is declared, alone, as one of two, and as a member', () => {
    for (const nothing of [Type.Undefined(), Type.Void()]) expect([fits(nothing, undefined), fits(nothing, null), fits(nothing, 1)]).to.deep.equal([true, false, false]);
    const perhaps = Type.Union([Type.String(), Type.Undefined()]);
    expect([fits(perhaps, 'a'), fits(perhaps, undefined), fits(perhaps, 1), fits(perhaps, null)]).to.deep.equal([true, true, false, false]);
    const words = Type.Record(Type.String(), perhaps);
    expect([fits(words, { a: 'b', c: undefined }), fits(words, { a: 1 })]).to.deep.equal([true, false]);
  });

  it('is refused in words that name the place, each time', () => {
    const schema = Type.Object({ a: Type.Object({ b: Type.Integer() }) });
    for (let times = 0; times < 2; times++) expect(misfit(schema, { a: { b: 'x' } })).to.equal('/a/b must be integer');
    expect(misfit(schema, 1)).to.equal('the whole must be object');
    expect(misfit(Type.Void(), 1)).to.equal('the whole must be nothing');
  });

  it('may be of a schema that names a member `type`', () => {
    const schema = Type.Object({ type: Type.String() });
    expect([fits(schema, { type: 'undefined' }), fits(schema, { type: 1 })]).to.deep.equal([true, false]);
  });
});
