import { expect } from 'chai';
import { createFrameShares, FRAME_LIMITS } from '../../src/http/connections/frame-shares.js';

const { perSocket, perPerson, floodMs } = FRAME_LIMITS;

describe('shares of frames', () => {
  let nowMs = 0;
  const shares = () => {
    nowMs = 1_000;
    return createFrameShares(() => nowMs);
  };

  it('N2 give a socket its burst at once, then its rate, and say when to look again', () => {
    const share = shares().open('a');
    share.take(perSocket.burst);
    expect(share.left()).to.equal(0);
    expect(share.waitMs()).to.be.within(1, 1_000);
    nowMs += 500;
    expect(share.left()).to.equal(perSocket.perSecond / 2);
    nowMs += 60_000;
    expect(share.left()).to.equal(perSocket.burst);
  });

  it('give all sockets of a person no more than one share, also when they come again, and others theirs', () => {
    const all = shares();
    for (let n = 0; n < perPerson.burst / perSocket.burst; n++) {
      const share = all.open('a');
      share.take(perSocket.burst);
      share.leave();
    }
    expect(all.open('a').left()).to.equal(0);
    expect(all.open('b').left()).to.equal(perSocket.burst);
  });

  it('forget whoever is gone and rested', () => {
    const all = shares();
    for (let n = 0; n < 100; n++) {
      const share = all.open(`person ${n}`);
      share.take(1);
      share.leave();
      share.leave();
    }
    nowMs += 10_000;
    const stays = all.open('a');
    all.open('b');
    expect(all.size()).to.equal(2);
    expect(stays.left()).to.equal(perSocket.burst);
  });

  it('N3 tell a flood from a burst, and from a person whose other sockets flood', () => {
    const all = shares();
    const [flooding, bursting, beside] = [all.open('a'), all.open('a'), all.open('a')];
    bursting.take(perSocket.burst);
    for (let second = 0; second <= floodMs / 1_000; second++) {
      expect(flooding.isFlooding(), `after ${second} s`).to.equal(false);
      flooding.take(perSocket.burst);
      nowMs += 1_000;
      bursting.isFlooding();
    }
    expect([flooding, bursting, beside].map((share) => share.isFlooding())).to.deep.equal([true, false, false]);
  });
});
