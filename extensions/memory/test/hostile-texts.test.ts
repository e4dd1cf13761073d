/** Messages that are looked through for facts. */
import { expect } from 'chai';
import { factOf, tripleOf } from '../src/entries/facts.js';
import { factsIn } from '../src/extraction/rules.js';

describe('texts that are looked through for facts', () => {
  const found = (content: string) => factsIn([{ role: 'user', content }], 0).map((fact) => fact.content);

  it('take no longer than their length', () => {
    const begun = Date.now();
    for (const hostile of ['\n', ' \n', '> ', '`', '```', '<a', '. ', '?', '!']) found(`${hostile.repeat(Math.floor(60_000 / hostile.length))}x`);
    factOf(`${'.'.repeat(60_000)}x`);
    expect(Date.now() - begun).to.be.lessThan(1_000);
  });

  it('say nothing by what they quote', () => {
    expect(found('\n\n  > I live in Oslo.\n>> My name is Bob.\nI live in Porto.')).to.deep.equal(['I live in Porto.']);
  });

  it('may name what every object knows', () => {
    expect(tripleOf('My constructor is Acme.')).to.deep.include({ relation: 'constructor', object: 'Acme', objectType: 'thing' });
  });
});
