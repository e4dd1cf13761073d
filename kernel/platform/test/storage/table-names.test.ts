import { Manifest } from '@svc/api/internal';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { physicalName, tableNames } from '../../src/storage/contract/table-names.js';

const idSchema = Manifest.properties.id;
const tablePattern = /^[a-z][a-z0-9_]{0,40}$/;

/** A small generator with a seed of its own, so that a failure can be told again. */
const seeded = (seed: number) => (): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};

describe('physical names of tables', () => {
  const isId = new Ajv({ strict: false }).compile(idSchema);

  it('are one owner’s alone: of all ids and tables that are allowed, no two pairs share one', () => {
    const random = seeded(7);
    const text = (letters: string): string => Array.from({ length: 1 + Math.floor(random() * 7) }, () => letters[Math.floor(random() * letters.length)]).join('');
    const owners = new Map<string, string>();
    let pairs = 0;
    for (let i = 0; i < 60_000; i += 1) {
      // Few letters, so that what could meet does meet.
      const [id, table] = [text('ab--'), text('ab__')];
      if (!isId(id) || !tablePattern.test(table)) continue;
      pairs += 1;
      const name = physicalName(id, table);
      const pair = `${id} ${table}`;
      expect(owners.get(name) ?? pair, name).to.equal(pair);
      owners.set(name, pair);
    }
    expect(pairs).to.be.above(5_000);
  });

  it('do not meet where they did: a longer id is not a longer table', () => {
    expect(physicalName('agents-spawn', 'keys')).to.equal('agents_spawn__keys');
    expect(physicalName('agents', 'spawn_keys')).to.equal('agents__spawn_keys');
    expect(physicalName('a', '_b'.slice(1))).to.equal('a__b');
  });

  it('are refused where the id or the table would make them ambiguous or too long', () => {
    const bad: Array<[string, string]> = [
      ['a--b', 'c'],
      ['a-', 'b'],
      ['a_b', 'c'],
      ['A', 'b'],
      ['a', '_b'],
      ['a', 'b-c'],
      ['a', ''],
      ['', 'a'],
      ['a'.repeat(41), 'b'.repeat(21)],
    ];
    for (const [id, table] of bad)
      expect(() => physicalName(id, table), `${id} ${table}`)
        .to.throw('cannot be named')
        .with.property('code', 'storage_bad_name');
    expect(physicalName('a'.repeat(41), 'b'.repeat(20))).to.have.length(63);
  });

  it('keep the platform’s ids from everybody else, in the manifest and in storage', () => {
    for (const id of ['kernel', 'journal', 'svc', 'sqlite', 'sqlite-x', 'pg', 'pg-stat']) {
      expect(isId(id), id).to.equal(false);
      expect(() => tableNames({ id, tables: [] }), id)
        .to.throw('belongs to the platform')
        .with.property('code', 'storage_reserved_owner');
      expect(tableNames({ id, tables: ['x'], isPlatform: true }).physical('x')).to.equal(`${id.replace('-', '_')}__x`);
    }
    for (const id of ['kernels', 'journal-x', 'pgx', 'my-svc', 'a1']) expect(isId(id), id).to.equal(true);
    for (const id of ['a', 'a-', 'a--b', '-a', 'a_b', '1a', 'a'.repeat(42)]) expect(isId(id), id).to.equal(false);
  });
});
