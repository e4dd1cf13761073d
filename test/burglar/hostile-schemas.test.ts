/** Schemas of third parties that want the daemon to work for ever: refused where it shows, and counted where it does not. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSvcError, type Schemas } from '@svc/api';
import { readPackage } from '@svc/installer/package';
import { loadForeignCompile } from '@svc/platform/schema/foreign-check';
import { loadViolation } from '@svc/platform/schema/violation';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { bootTestKernel, OPEN_RATE, removeThirdParties, stopTestKernels, thirdParty } from '@svc/testing';
import { expect } from 'chai';

/** Processor time, which other programs do not lengthen: far above what each takes, and far below what it would take. The count of steps is what holds, not this. */
const GENEROUS_MS = 2_000;

const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown => Array.from({ length: levels }).reduce<unknown>((inner) => wrap(inner), wrap(0));
const lists = nested(50, (inner) => [inner]);
const objects = nested(50, (inner) => ({ a: inner }));
const twins = (count: number): object[] => Array.from({ length: count }, (_, n) => ({ id: n, text: 'x'.repeat(20), more: { n } }));
const many = <T>(count: number, one: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => one(n));
const named = (count: number, one: (n: number) => unknown): Record<string, unknown> => Object.fromEntries(many(count, (n) => [`p${n}`, one(n)]));
const LONG = 'a'.repeat(1_000_000);

/** Schemas that are refused before they are compiled, each by its name. */
const refused: Record<string, readonly [code: string, schema: object]> = {
  'anyOf of two lists of itself': ['schema_ambiguous', { anyOf: [{ items: { $ref: '#' } }, { items: { $ref: '#' } }] }],
  'oneOf of two lists of itself': [
    'schema_ambiguous',
    {
      oneOf: [
        { type: 'array', items: { $ref: '#' } },
        { type: 'array', items: { $ref: '#' } },
      ],
    },
  ],
  'allOf of two lists of itself': ['schema_ambiguous', { allOf: [{ items: { $ref: '#' } }, { items: { $ref: '#' } }] }],
  'items and contains of itself': ['schema_ambiguous', { items: { $ref: '#' }, contains: { $ref: '#' } }],
  'a property twice, through definitions': [
    'schema_ambiguous',
    { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/c' }] }, b: { properties: { a: { $ref: '#/$defs/a' } } }, c: { properties: { a: { $ref: '#/$defs/a' } } } } },
  ],
  'if and not of itself': ['schema_ambiguous', { if: { items: { $ref: '#' } }, not: { items: { $ref: '#' } } }],
  'itself at the same place': ['schema_endless', { $ref: '#' }],
  'two that lead to each other': ['schema_endless', { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ $ref: '#/$defs/a' }] } } }],
  'itself by a dynamic name': ['schema_endless', { $dynamicAnchor: 'x', anyOf: [{ $dynamicRef: '#x' }] }],
  'a schema hidden in a default': ['schema_reference', { $ref: '#/default', default: { anyOf: [{ items: { $ref: '#/default' } }, { items: { $ref: '#/default' } }] } }],
  'a schema hidden among values': ['schema_reference', { items: { $ref: '#/enum/0' }, enum: [{ items: { $ref: 'https://elsewhere.test/' } }] }],
  'a schema of another machine': ['schema_remote_reference', { $ref: 'https://elsewhere.test/schema.json' }],
  'a thousand properties with three rules each': ['schema_too_many_parts', { properties: named(1_000, () => ({ type: 'string', minLength: 1, maxLength: 9 })) }],
  'ten thousand choices of yes': ['schema_too_many_parts', { anyOf: many(10_000, () => true) }],
  'a large part that is referred to often': ['schema_too_many_parts', { $defs: { big: { properties: named(700, () => ({ type: 'string' })) } }, allOf: many(700, () => ({ $ref: '#/$defs/big' })) }],
  'names that make the code long': [
    'schema_too_many_parts',
    nested(12, (inner) => ({ properties: { ['n'.repeat(4_000)]: typeof inner === 'object' ? inner : { anyOf: many(100, () => ({ type: 'null' })) } } })) as object,
  ],
  'a hundred levels': ['schema_too_deep', nested(100, (inner) => ({ items: typeof inner === 'object' ? inner : {} })) as object],
  'lists in lists where schemas stand': ['schema_too_deep', { anyOf: nested(5_000, (inner) => [inner]) } as object],
  'a megabyte of text': ['schema_too_large', { description: LONG }],
  'a pattern that writes itself out': ['schema_pattern_unsupported', { pattern: 'x{1000}'.repeat(140) }],
  'a group that writes itself out': ['schema_pattern_unsupported', { pattern: `(?:${'x'.repeat(900)}){1000}` }],
  'a pattern that looks ahead': ['schema_pattern_unsupported', { pattern: '^(?=(a+))\\1b' }],
};

/** Schemas that a careful author could have written, and values that make them dear. */
const counted: Record<string, readonly [schema: object, value: unknown]> = {
  'choices that only look told apart, over lists': [
    {
      anyOf: [
        { type: 'array', items: { $ref: '#' } },
        { type: ['array', 'null'], items: { $ref: '#' } },
      ],
      not: { const: 0 },
    },
    lists,
  ],
  'choices that only look told apart, over objects': [
    {
      oneOf: [
        { required: ['a'], properties: { a: { $ref: '#' } } },
        { required: ['a', 'a'], properties: { a: { $ref: '#' } } },
      ],
    },
    objects,
  ],
  'a property and a pattern for it': [{ properties: { a: { $ref: '#' } }, patternProperties: { '^a$': { $ref: '#' } } }, objects],
  'three patterns for one name': [{ patternProperties: { '^a': { $ref: '#' }, a$: { $ref: '#' }, '^.$': { $ref: '#' } } }, objects],
  'a value compared with large values, again and again': [{ items: { enum: many(2_000, (n) => n) } }, many(100_000, () => -1)],
  'a list of rules for each of many items': [{ items: { anyOf: many(300, () => ({ type: 'null' })) } }, many(50_000, (n) => n)],
  'a long text measured by many rules': [{ anyOf: many(300, (n) => ({ minLength: 2_000_000 + n })) }, LONG],
  'a long text read by many formats': [{ anyOf: many(200, () => ({ format: 'email' })) }, `${LONG}@${LONG}`],
  'a long text read by a large pattern': [{ pattern: '(?:a?){900}b' }, LONG],
  'many names read by many patterns': [{ patternProperties: Object.fromEntries(many(200, (n) => [`${n}$`, true])) }, named(5_000, () => 1)],
  'unevaluated members of many branches': [{ allOf: many(80, () => ({ patternProperties: { z: {} } })), unevaluatedProperties: { type: 'number' } }, named(5_000, () => 1)],
  'items that many branches look for': [{ allOf: many(100, () => ({ contains: { const: 'none' } })) }, many(20_000, (n) => n)],
  'names of properties, each by many rules': [{ propertyNames: { anyOf: many(200, (n) => ({ const: `x${n}` })) } }, named(5_000, () => 1)],
};

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return 'it was taken';
  } catch (error) {
    return isSvcError(error) ? error.code : String(error);
  }
};

const timed = async <T>(work: () => T | Promise<T>): Promise<T> => {
  const from = process.cpuUsage();
  const result = await work();
  const { system, user } = process.cpuUsage(from);
  expect((system + user) / 1_000).to.be.lessThan(GENEROUS_MS);
  return result;
};

describe('a schema that would hold the daemon up', function () {
  this.timeout(60_000);
  let compile: Awaited<ReturnType<typeof loadForeignCompile>>;
  let checks: Schemas;
  before(async () => {
    compile = await loadForeignCompile();
    checks = createValueChecks();
    await checks.check({ type: 'string' }, 'warm');
  });

  for (const [what, [code, schema]] of Object.entries(refused)) {
    it(`is refused before it is compiled: ${what}`, async () => {
      expect(await timed(() => codeOf(() => compile(schema, {})))).to.equal(code);
    });
  }

  for (const [what, [schema, value]] of Object.entries(counted)) {
    it(`ends after its steps: ${what}`, async () => {
      const check = await timed(() => compile(schema, { allErrors: true }));
      expect(await timed(() => codeOf(() => check(value)))).to.equal('schema_too_costly');
    });
  }

  it('compares twenty thousand objects with each other in one walk', async () => {
    const unique = { type: 'array', uniqueItems: true };
    expect(await timed(() => codeOf(() => compile(unique, {})(twins(4_000)))), 'their members are counted').to.equal('it was taken');
    expect(await timed(() => codeOf(() => compile(unique, {})(twins(60_000))))).to.equal('schema_too_costly');
    expect(await timed(() => compile(unique, {})([{ a: 1, b: [2] }, 1, { b: [2], a: 1 }]))).to.equal(false);
    const violation = await loadViolation();
    const { Type } = await import('@svc/api');
    expect(await timed(() => violation(Type.Array(Type.Any(), { uniqueItems: true }), twins(19_000))), 'one of the daemon itself').to.equal(undefined);
  });

  it('is told to whoever asked, where a value is checked for an extension, a tool or a contract', async () => {
    const [schema, value] = counted['a list of rules for each of many items'] ?? [];
    if (!schema) throw new Error('it is gone');
    expect(await checks.places(schema, value)).to.deep.equal([[]]);
    const [twice, deep] = counted['choices that only look told apart, over lists'] ?? [];
    if (!twice) throw new Error('it is gone');
    expect(await checks.check(twice, deep, 'arguments')).to.deep.include({ ok: false, message: 'The value needs more than 100000 steps to check against its schema.' });
    expect((await loadViolation())(twice as never, deep)).to.contain('more than 100000 steps');
  });

  it('costs nobody else: the next check has all of its steps', async () => {
    const check = compile({ items: { type: 'integer' } }, {});
    expect(await codeOf(() => check(many(200_000, (n) => n)))).to.equal('schema_too_costly');
    expect(check(many(90_000, (n) => n))).to.equal(true);
  });

  it('answers yes or no, never with a promise', () => {
    const check = compile({ $async: true, type: 'string' }, {});
    expect([check('x'), check(1)]).to.deep.equal([true, false]);
  });
});

describe('a schema as honest authors write it', () => {
  const honest: Record<string, readonly [schema: object, fits: unknown, doesNot: unknown]> = {
    'a value of JSON': [
      { anyOf: [{ type: ['string', 'number', 'boolean', 'null'] }, { type: 'array', items: { $ref: '#' } }, { type: 'object', additionalProperties: { $ref: '#' } }] },
      { a: [1, { b: [null, 'x'] }] },
      undefined,
    ],
    'a tree': [
      { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } }, required: ['name'] },
      { name: 'a', children: [{ name: 'b' }] },
      { name: 'a', children: [{}] },
    ],
    'choices told apart by a constant': [
      {
        oneOf: [
          { properties: { kind: { const: 'and' }, of: { type: 'array', items: { $ref: '#' } } }, required: ['kind', 'of'] },
          { properties: { kind: { const: 'or' }, of: { type: 'array', items: { $ref: '#' } } }, required: ['kind', 'of'] },
          { properties: { kind: { const: 'is' } }, required: ['kind'] },
        ],
      },
      nested(20, (inner) => ({ kind: 'and', of: [typeof inner === 'object' ? inner : { kind: 'is' }] })),
      { kind: 'and', of: [{ kind: 'never' }] },
    ],
    'definitions that lead to each other': [
      {
        $ref: '#/$defs/folder',
        $defs: { folder: { properties: { files: { type: 'array', items: { $ref: '#/$defs/file' } } } }, file: { properties: { name: { type: 'string' }, folder: { $ref: '#/$defs/folder' } } } },
      },
      { files: [{ name: 'a', folder: { files: [] } }] },
      { files: [{ name: 1 }] },
    ],
    'a list of twenty thousand rows': [
      { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string', maxLength: 40 } }, required: ['id'] } },
      many(20_000, (id) => ({ id, name: 'x' })),
      [{ name: 'x' }],
    ],
    'four hundred properties': [{ type: 'object', properties: named(400, () => ({ type: 'string', description: 'a property' })) }, { p1: 'x' }, { p1: 1 }],
  };

  for (const [what, [schema, fits, doesNot]] of Object.entries(honest)) {
    it(`is taken, and checks what it says: ${what}`, async () => {
      const check = (await loadForeignCompile())(schema, {});
      expect(check(fits)).to.equal(true);
      expect(check(doesNot)).to.equal(false);
    });
  }
});

const SLOW = "{ anyOf: [{ type: 'array', items: { $ref: '#' } }, { type: ['array', 'null'], items: { $ref: '#' } }], not: { const: 0 } }";

const acme = (body: string) =>
  thirdParty({
    id: 'acme-slow',
    activate: `ctx.routes.add(
      api.defineRoute({ id: 'slowBody', method: 'POST', path: '/api/acme/slow', summary: 'x', auth: 'bearer', permission: 'acme.write', cost: 1, body: ${body}, responses: { 200: api.Type.Any() }, handler: async () => api.reply(200, {}) }),
      api.defineRoute({ id: 'slowSchema', method: 'POST', path: '/api/acme/schema', summary: 'x', auth: 'bearer', permission: 'acme.write', cost: 1, responses: { 200: api.Type.Any() }, handler: async () => api.reply(200, await ctx.schemas.check(${SLOW}, ${JSON.stringify(lists)})) }),
    );`,
  });

describe('an extension with a schema that would hold the daemon up', function () {
  this.timeout(60_000);
  after(async () => {
    await stopTestKernels();
    await removeThirdParties();
  });

  it('is refused by the name of the schema, before it is installed', async () => {
    const { folder, contributions } = await acme("{ anyOf: [{ items: { $ref: '#' } }, { items: { $ref: '#' } }] }");
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: '@acme/slow', version: '1.0.0' }));
    await writeFile(join(folder, 'contributions.json'), JSON.stringify(contributions));
    const error = await readPackage(folder).catch((thrown: unknown) => thrown);
    expect(isSvcError(error) && error.code).to.equal('install_manifest');
    expect(String(error)).to.contain('body of POST /api/acme/slow').and.to.contain('refers to itself twice');
  });

  it('gets an answer at once for a request that would take a minute, as others do meanwhile', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["acme-slow"]\n`, thirdParties: [await acme(SLOW)] });
    const { body, status } = await timed(() => kernel.http.post('/api/acme/slow', lists));
    expect([status, body.code]).to.deep.equal([400, 'schema_too_costly']);
    expect((await timed(() => kernel.http.post('/api/acme/schema'))).body).to.deep.include({ ok: false });
    expect((await timed(() => kernel.http.get('/api/health'))).status).to.equal(200);
  });
});
