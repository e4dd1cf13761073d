/** Which versions a conversation has, and where they part: read from how its sessions were branched from each other. */
import { expect } from 'chai';
import { linesBefore, partingsOf, type Version } from '../panels/chat/versions.js';

const version = (session_id: string, branched_from: string | null, through_seq: number, last_seq: number): Version => ({
  session_id,
  branched_from,
  through_seq,
  last_seq,
  created_at: `2026-01-0${session_id.charCodeAt(0) - 96}`,
  is_chosen: false,
});
const shown = (versions: readonly Version[], id: string): string[] => partingsOf(versions, id).map(({ through, sessions, at }) => `${through}: ${sessions.join(' ')} at ${at + 1}`);

describe('versions of a conversation', () => {
  it('part where the second was branched off, whichever is open', () => {
    const two = [version('a', null, 0, 6), version('b', 'a', 2, 4)];
    expect(shown(two, 'a')).to.deep.equal(['2: a b at 1']);
    expect(shown(two, 'b')).to.deep.equal(['2: a b at 2']);
  });

  it('are counted together, also where one was made of another at the same message', () => {
    const three = [version('a', null, 0, 4), version('b', 'a', 2, 4), version('c', 'b', 2, 4)];
    for (const [at, id] of ['a', 'b', 'c'].entries()) expect(shown(three, id)).to.deep.equal([`2: a b c at ${at + 1}`]);
  });

  it('of an earlier message lead to the newest that goes on from there, or to the chosen one', () => {
    const all = [version('a', null, 0, 6), version('b', 'a', 0, 6), version('c', 'b', 4, 6), version('d', 'a', 2, 6)];
    expect(shown(all, 'a')).to.deep.equal(['0: a c at 1', '2: a d at 1']);
    expect(shown(all, 'c')).to.deep.equal(['0: d c at 2', '4: b c at 2']);
    const chosen = all.map((one) => (one.session_id === 'b' ? { ...one, is_chosen: true } : one));
    expect(shown(chosen, 'a')[0]).to.equal('0: a b at 1');
  });

  it('do not count one that ends where it parts, unless that one is open', () => {
    const copied = [version('a', null, 0, 4), version('b', 'a', 4, 6)];
    expect(shown(copied, 'b')).to.deep.equal([]);
    expect(shown(copied, 'a')).to.deep.equal(['4: a b at 1']);
  });

  it('say of which sessions entries were copied, and are none where there is only one', () => {
    const all = [version('a', null, 0, 6), version('b', 'a', 4, 6), version('c', 'b', 2, 6)];
    expect(linesBefore(all, 'c')).to.deep.equal(['b', 'a']);
    expect(linesBefore(undefined, 'c')).to.deep.equal([]);
    expect(partingsOf(undefined, 'c')).to.deep.equal([]);
  });
});
