/** One validator for arguments and documents: ours as well as those that other programs write. */
import { OneOf, Type, Uuid } from '@svc/api';
import { FormatRegistry, TypeRegistry } from '@sinclair/typebox';
import { expect } from 'chai';
import { createValueChecks } from '../../src/schema/value-checks.js';

const checks = createValueChecks();
const messageOf = async (schema: object, value: unknown): Promise<string> => {
  const checked = await checks.check(schema, value, 'arguments');
  return checked.ok ? 'ok' : checked.message;
};
const codeOf = (schema: object): Promise<string> =>
  checks.check(schema, {}).then(
    () => 'taken',
    (error: { code?: string }) => String(error.code),
  );

describe('a value validated by a schema', () => {
  const schema = Type.Object(
    { path: Type.String(), count: Type.Optional(Type.Integer({ minimum: 1, default: 3 })), mode: Type.Optional(OneOf(['a', 'b'])), id: Type.Optional(Uuid) },
    { additionalProperties: false },
  );

  it('fits, or the first field that does not is named in one line', async () => {
    expect(await messageOf(schema, { path: 'x', count: 2, mode: 'a', id: '11111111-1111-4111-8111-111111111111' })).to.equal('ok');
    expect(await messageOf(schema, {})).to.equal('path is missing in the arguments.');
    expect(await messageOf(schema, { path: 5 })).to.equal('path in the arguments must be string, got 5.');
    expect(await messageOf(schema, { path: 'x', mode: 'c' })).to.equal('mode in the arguments must be one of "a", "b", got "c".');
    expect(await messageOf(schema, { path: 'x', pth: 1 })).to.equal('pth is not a field of the arguments.');
    expect(await messageOf(schema, [])).to.equal('The arguments must be object, got a list of 0.');
    expect(await messageOf(schema, { path: 'x', id: 'nonsense' })).to.equal('id in the arguments must be a valid uuid, got "nonsense".');
    for (const wrong of [{ count: 0 }, { count: 1.5 }, { count: 2 ** 53 }])
      expect(await messageOf(schema, { path: 'x', ...wrong }), JSON.stringify(wrong)).to.match(/^count in the arguments must be /);
  });

  it('comes back with the defaults of its schema, and stays as it was', async () => {
    const given = { path: 'x' };
    expect(await checks.check(schema, given)).to.deep.equal({ ok: true, value: { path: 'x', count: 3 } });
    expect(given).to.deep.equal({ path: 'x' });
  });

  it('has every place named that does not fit', async () => {
    expect(await checks.places(schema, { count: 0, mode: 'c' })).to.have.deep.members([['path'], ['count'], ['mode']]);
    expect(await checks.places(schema, { path: 'x' })).to.deep.equal([]);
  });

  it('may be as deep as a hostile caller likes', async () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } } };
    let deep: object = {};
    for (let level = 0; level < 200_000; level++) deep = { next: deep };
    expect(await messageOf(tree, deep)).to.equal('The arguments nest deeper than 64 levels.');
    expect(await checks.places(tree, deep)).to.deep.equal([[]]);
  });

  it('is validated without a word in the registries that everybody shares', async () => {
    await messageOf(schema, {});
    expect([[...FormatRegistry.Entries().keys()], [...TypeRegistry.Entries().keys()]]).to.deep.equal([[], []]);
  });
});

describe('a schema that another program wrote', () => {
  it('may use words and formats that nobody here knows', async () => {
    const schema = { type: 'object', 'x-mcp-header': 'Region', properties: { when: { type: 'string', format: 'moon-phase', widget: 'picker' } } };
    expect(await messageOf(schema, { when: 'full' })).to.equal('ok');
    expect(await messageOf(schema, { when: 1 })).to.contain('when');
  });

  it('is read in its own dialect', async () => {
    const pair = [{ type: 'string' }, { type: 'integer' }];
    const old = { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'https://one.test/x', items: pair, additionalItems: false };
    const young = { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'https://one.test/x', prefixItems: pair, items: false };
    for (const schema of [old, young, { items: pair, additionalItems: false }]) {
      expect(await messageOf(schema, ['a', 1])).to.equal('ok');
      expect(await messageOf(schema, ['a', 'b'])).to.contain('must be integer');
      expect(await messageOf(schema, ['a', 1, 2])).to.not.equal('ok');
    }
  });

  it('may refer to its own parts, and to nothing else', async () => {
    for (const key of ['$defs', 'definitions']) {
      const schema = { [key]: { name: { type: 'string' } }, properties: { name: { $ref: `#/${key}/name` } } };
      expect(await messageOf(schema, { name: 1 })).to.contain('name in the arguments must be string');
    }
    expect(await codeOf({ properties: { a: { $ref: 'https://elsewhere.test/s.json' } } })).to.equal('schema_remote_reference');
    expect(await codeOf({ properties: { a: { $ref: 'file:///etc/passwd' } } })).to.equal('schema_remote_reference');
    expect(await codeOf({ properties: { a: { $ref: '#/$defs/missing' } } })).to.equal('schema_reference');
    // Names and data that only look like a reference.
    expect(await messageOf({ properties: { $ref: { type: 'string' }, b: { enum: [{ $ref: 'https://x.test' }] } } }, { $ref: 'x' })).to.equal('ok');
  });

  it('cannot hang anybody with a pattern', async () => {
    const text = `${'a'.repeat(50_000)}!`;
    for (const pattern of ['^(a+)+$', '^(a|aa)+$', '^(.*a){20}$', '([a-z]+)*$x']) {
      expect(await messageOf({ type: 'object', properties: { x: { type: 'string', pattern } } }, { x: text }), pattern).to.contain('pattern');
    }
    expect(await messageOf({ patternProperties: { '^(k+)+$': false } }, { [`${'k'.repeat(5_000)}!`]: 1 })).to.equal('ok');
    expect(await codeOf({ pattern: `^${'a'.repeat(1_000)}$` })).to.equal('schema_pattern_too_long');
    for (const pattern of ['(?=a)b', '(a)\\1', '((a{100}){100}){100}', '(']) expect(await codeOf({ pattern }), pattern).to.equal('schema_pattern_unsupported');
  });

  it('explains a pattern by what its schema says of the field, with an example', async () => {
    const pattern = '^[0-9a-f]{4,40}$';
    expect(await messageOf({ properties: { id: { type: 'string', pattern, description: 'The id of a commit', examples: ['3f2a91c'] } } }, { id: 'HEAD' })).to.equal(
      'id in the arguments does not have the expected form (The id of a commit), such as "3f2a91c", got "HEAD".',
    );
    expect(await messageOf({ properties: { title: { type: 'string', pattern: '\\S' } } }, { title: '  ' })).to.equal('title in the arguments must be more than spaces, got "  ".');
    expect(await messageOf({ properties: { id: { pattern } } }, { id: 'HEAD' })).to.contain(pattern);
  });

  it('validates by its patterns as JavaScript would, two of them apart', async () => {
    const schema = { properties: { id: { pattern: '^\\d{2}-[A-Z]+$' }, mail: { pattern: '@' }, letter: { pattern: '^\\p{L}$' } } };
    expect(await messageOf(schema, { id: '12-AB', mail: 'a@b', letter: 'ß' })).to.equal('ok');
    expect(await messageOf(schema, { id: '12-ab' })).to.contain('id in the arguments must match pattern');
    expect(await messageOf(schema, { mail: '12-AB' })).to.contain('mail in the arguments');
  });

  it('has an end, and is refused by name when it is none', async () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 70; level++) deep = { properties: { a: deep } };
    expect(await codeOf({ description: 'x'.repeat(140_000) })).to.equal('schema_too_large');
    expect(await codeOf(deep)).to.equal('schema_too_deep');
    expect(await codeOf({ type: 'file' })).to.equal('schema_invalid');
    expect(await codeOf({ required: 'all' })).to.equal('schema_invalid');
  });

  it('of the same name as another is a schema of its own', async () => {
    expect(await messageOf({ $id: 'same', type: 'string' }, 'x')).to.equal('ok');
    expect(await messageOf({ $id: 'same', type: 'integer' }, 'x')).to.contain('must be integer');
  });
});
