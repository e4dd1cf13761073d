import { Type } from '@svc/api';
import { expect } from 'chai';
import { loadViolation } from '../../src/schema/violation.js';

/** What crosses between areas is held to its declaration, by words that JSON Schema has and one that it lacks. */
describe('what of a value does not fit its schema', () => {
  let violation: Awaited<ReturnType<typeof loadViolation>>;
  before(async () => {
    violation = await loadViolation();
  });

  it('is nothing where the value fits, and named with its place where it does not', () => {
    const schema = Type.Object({ id: Type.String({ format: 'uuid' }), tags: Type.Array(Type.Integer()) });
    const id = '0b0e8c1e-6a51-4b6e-9a3a-5d1c5f6a7b8c';
    expect(violation(schema, { id, tags: [1, 2] })).to.equal(undefined);
    expect(violation(schema, { id, tags: [1, 'two'] }))
      .to.contain('/tags/1')
      .and.to.contain('integer');
    expect(violation(schema, { id: 'x', tags: [] }))
      .to.contain('/id')
      .and.to.contain('uuid');
    expect(violation(schema, 'text')).to.contain('the whole').and.to.contain('object');
  });

  it('is found in time that grows with the value, whatever the pattern', () => {
    const slow = Type.Object({ name: Type.String({ pattern: '^(a+)+$' }) });
    expect(violation(slow, { name: 'a'.repeat(5_000) })).to.equal(undefined);
    expect(violation(slow, { name: `${'a'.repeat(5_000)}!` })).to.contain('/name');
    expect(() => violation(Type.String({ pattern: '^(?=a)a' }), 'a')).to.throw('(?=a)');
  });

  it('takes nothing for nothing, and anything else for too much', () => {
    for (const schema of [Type.Undefined(), Type.Void()]) {
      expect(violation(schema, undefined)).to.equal(undefined);
      for (const something of [0, null]) expect(violation(schema, something)).to.equal('the whole must be nothing');
    }
  });

  it('is told again for the same value, and where a schema names a member `type`', () => {
    const schema = Type.Object({ a: Type.Object({ b: Type.Integer() }) });
    for (let times = 0; times < 2; times++) expect(violation(schema, { a: { b: 'x' } })).to.equal('/a/b must be integer');
    const typed = Type.Object({ type: Type.String() });
    expect([violation(typed, { type: 'undefined' }), violation(typed, { type: 1 })]).to.deep.equal([undefined, '/type must be string']);
  });

  it('takes nothing where the schema says that there may be nothing, and validates what is there', () => {
    const schema = Type.Union([Type.Object({ name: Type.String() }), Type.Undefined()]);
    expect(violation(schema, undefined)).to.equal(undefined);
    expect(violation(schema, { name: 'x' })).to.equal(undefined);
    expect(violation(schema, { name: 1 })).to.be.a('string');
    expect(violation(Type.String(), undefined)).to.be.a('string');
  });

  it('takes a member that is there and undefined for one that was left out', () => {
    const schema = Type.Object({ name: Type.Optional(Type.String()), more: Type.Record(Type.String(), Type.Union([Type.String(), Type.Undefined()])) });
    expect(violation(schema, { name: undefined, more: { a: 'x', b: undefined } })).to.equal(undefined);
    expect(violation(schema, { more: { a: 1 } })).to.be.a('string');
  });

  it('validates two schemas of one $id each by its own', () => {
    const text = Type.String({ $id: 'same' });
    const number = Type.Number({ $id: 'same' });
    expect([violation(text, 'x'), violation(number, 1), violation(text, 'y')]).to.deep.equal([undefined, undefined, undefined]);
    expect(violation(number, 'x')).to.be.a('string');
  });
});
