import { generateKeyPairSync, sign } from 'node:crypto';
import { expect } from 'chai';
import { fieldsOf, GENESIS, hashOf, isNext, textOf } from '../src/format/entry.js';
import { consistencyProof, createPeaks, EMPTY_ROOT, inclusionProof, leafOf, nodeOf, rootOf, TILE, type TreePart } from '../src/format/merkle.js';
import { checkpointText, isSignedBy, openNote, signedNote, splitNotes, verifierKey } from '../src/format/note.js';

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');
const leaves = Array.from({ length: 1_500 }, (_, n) => leafOf(hashOf(String(n))));
const partOf = (size: number): TreePart => {
  const tiles = Math.floor(size / TILE);
  return {
    size,
    tileRoots: Array.from({ length: tiles }, (_, n) => rootOf(leaves.slice(n * TILE, (n + 1) * TILE))),
    leaves: new Map(Array.from({ length: tiles + 1 }, (_, n) => [n, leaves.slice(n * TILE, Math.min(size, (n + 1) * TILE))])),
  };
};

describe('the format of the audit trail', () => {
  it('gives no two entries one text, and reads what it wrote', () => {
    const entry = { id: 12, prev_hash: GENESIS, timestamp: '2026-11-24T00:00:00.000Z', event_type: 'login_created', agent_id: 'system', details: '{"name":"Zoë, 1:x"}' };
    expect(fieldsOf(textOf(entry))).to.deep.equal(entry);
    expect(textOf({ ...entry, event_type: 'a', agent_id: '1:b' })).to.not.equal(textOf({ ...entry, event_type: 'a,3:1:b', agent_id: '' }));
    for (const bad of ['', '2:12', 'x', textOf(entry).slice(0, -1), `${textOf(entry)}1:x,`]) expect(fieldsOf(bad), bad).to.equal(undefined);
  });

  it('knows which entry stands behind which', () => {
    const text = textOf({ id: 7, prev_hash: hashOf('six'), timestamp: '', event_type: '', agent_id: '', details: '' });
    expect([isNext(text, 7, hashOf('six')), isNext(text, 8, hashOf('six')), isNext(text, 7, hashOf('five')), isNext(text, 77, hashOf('six'))]).to.deep.equal([true, false, false, false]);
  });

  it('makes the roots of RFC 6962', () => {
    // The example of certificate-transparency: leaves are 32 bytes here, so the nodes are computed by hand.
    const [a, b, c] = leaves;
    if (!a || !b || !c) throw new Error('there are leaves');
    expect(hex(EMPTY_ROOT)).to.equal('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(hex(rootOf([a, b, c]))).to.equal(hex(nodeOf(nodeOf(a, b), c)));
    for (const size of [1, 255, 256, 257, 511, 512, 768, 1_024, 1_499]) {
      const peaks = createPeaks();
      const { tileRoots } = partOf(size);
      for (const root of tileRoots) peaks.add(root);
      const rest = leaves.slice(tileRoots.length * TILE, size);
      expect(hex(peaks.rootWith(rest.length === 0 ? undefined : rootOf(rest))), String(size)).to.equal(hex(rootOf(leaves.slice(0, size))));
    }
  });

  it('proves that a leaf is in a tree, and that a tree grew', () => {
    for (const size of [1, 2, 300, 513, 1_500]) {
      const root = hex(rootOf(leaves.slice(0, size)));
      for (const index of [0, 1, Math.floor(size / 2), size - 1].filter((one) => one < size))
        expect(hex(climb(index, size, leaves[index], inclusionProof(partOf(size), index))), `${index} of ${size}`).to.equal(root);
      for (const older of [1, 255, 256, size - 1, size].filter((one) => one >= 1 && one <= size))
        expect(grown(older, size, rootOf(leaves.slice(0, older)), consistencyProof(partOf(size), older)), `${older} to ${size}`).to.deep.equal([hex(rootOf(leaves.slice(0, older))), root]);
    }
  });

  it('signs checkpoints as notes, and refuses another key, another text and what is no note', () => {
    const [own, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')].map(({ privateKey, publicKey }) => ({
      privateKey,
      publicKey: new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)),
    }));
    if (!own || !other) throw new Error('there are two');
    const text = checkpointText({ origin: 'svc/audit/1', size: 3, root: leaves[0] ?? EMPTY_ROOT });
    const note = signedNote(text, 'svc/audit/1', { signature: sign(null, Buffer.from(text), own.privateKey), publicKey: own.publicKey });
    const open = openNote(note);
    expect(open?.checkpoint.size).to.equal(3);
    expect([open && isSignedBy(open, own.publicKey), open && isSignedBy(open, other.publicKey)]).to.deep.equal([true, false]);
    const changed = openNote(note.replace('\n3\n', '\n4\n'));
    expect(changed && isSignedBy(changed, own.publicKey)).to.equal(false);
    for (const bad of ['', text, note.slice(0, -1), note.replace('— ', '- '), note.replace('\n3\n', '\nx\n')]) expect(openNote(bad)).to.equal(undefined);
    expect(splitNotes(`${note}\n${note}\n${note}`)).to.deep.equal([note, note, note]);
    expect(verifierKey('svc/audit/1', own.publicKey)).to.match(/^svc\/audit\/1\+[\da-f]{8}\+AQ?/);
  });
});

/** RFC 9162, 2.1.3.2. */
const climb = (index: number, size: number, leaf: Uint8Array | undefined, path: readonly Uint8Array[]): Uint8Array | undefined => {
  let [fn, sn, root] = [index, size - 1, leaf];
  for (const hash of path) {
    if (!root || sn === 0) return undefined;
    if (fn % 2 === 1 || fn === sn) {
      root = nodeOf(hash, root);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else root = nodeOf(root, hash);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 ? root : undefined;
};

/** RFC 9162, 2.1.4.2: the roots of both trees, as the proof gives them. */
const grown = (older: number, size: number, olderRoot: Uint8Array, proof: readonly Uint8Array[]): [string, string] => {
  if (older === size) return [hex(olderRoot), hex(olderRoot)];
  const path = Math.log2(older) % 1 === 0 ? [olderRoot, ...proof] : [...proof];
  let [fn, sn] = [older - 1, size - 1];
  while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  let [fr, sr] = [path[0] ?? EMPTY_ROOT, path[0] ?? EMPTY_ROOT];
  for (const hash of path.slice(1)) {
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [nodeOf(hash, fr), nodeOf(hash, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn / 2, Math.floor(sn / 2)];
    } else sr = nodeOf(sr, hash);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return [hex(fr), hex(sr)];
};
