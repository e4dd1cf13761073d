import { expect } from 'chai';
import { createLineEnds } from '../../src/drivers/line-ends.js';

describe('line ends of a stream', () => {
  it('become line feeds, wherever a packet cuts them', () => {
    const whole = 'data: a\r\ndata: b\r\r\n\ndata: c\n\r\n\r';
    for (let cut = 0; cut <= whole.length; cut++) {
      for (let next = cut; next <= whole.length; next++) {
        const ends = createLineEnds();
        expect([whole.slice(0, cut), '', whole.slice(cut, next), whole.slice(next)].map(ends).join(''), `${cut} ${next}`).to.equal('data: a\ndata: b\n\n\ndata: c\n\n\n');
      }
    }
  });
});
