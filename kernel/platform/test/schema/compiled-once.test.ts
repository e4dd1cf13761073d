import { expect } from 'chai';
import type { AnySchemaObject } from 'ajv';
import { loadAjv } from '../../src/schema/ajv.js';
import { compiledOnce } from '../../src/schema/compiled-once.js';

const name = (maxLength: number): AnySchemaObject => ({ $id: 'name', type: 'string', maxLength });

describe('schemas that are compiled once', () => {
  let instances = 0;

  const make = async () => {
    const makeAjv = await loadAjv();
    instances = 0;
    return compiledOnce(() => {
      instances += 1;
      return makeAjv({});
    });
  };

  it('are those that read the same, whoever brings them', async () => {
    const compile = await make();
    expect(compile(name(2))).to.equal(compile(name(2)));
  });

  it('are told apart by what they say, also under one $id', async () => {
    const compile = await make();
    expect([2, 1, 2].map((length) => compile(name(length))('ab'))).to.deep.equal([true, false, true]);
  });

  it('are forgotten when a thousand others came since', async () => {
    const compile = await make();
    const first = compile(name(0));
    for (let length = 1; length < 1_000; length += 1) compile(name(length));
    expect(compile(name(0)), 'the thousandth').to.equal(first);
    expect(instances).to.equal(1);
    compile(name(1_000));
    expect(compile(name(0))).to.not.equal(first);
    expect(instances, 'of ajv, each of which keeps what it compiled').to.equal(2);
  });
});
