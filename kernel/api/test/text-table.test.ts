import { isTextTable } from '@svc/api';
import { expect } from 'chai';

describe('a table of texts', () => {
  it('is one whose every value is a text, and may be empty', () => {
    expect(isTextTable({})).to.equal(true);
    expect(isTextTable({ KEY: 'a', OTHER: '' })).to.equal(true);
  });

  for (const [what, value] of Object.entries({ 'a list': ['a'], nothing: null, 'a text': 'a', 'a table with a number in it': { KEY: 'a', OTHER: 1 }, 'a table in a table': { KEY: { inner: 'a' } } }))
    it(`is not ${what}`, () => {
      expect(isTextTable(value)).to.equal(false);
    });
});
