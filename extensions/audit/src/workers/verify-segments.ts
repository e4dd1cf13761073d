/** Walks a part of the chain: each entry's text has its hash, stands behind the one before it, and bears its own number. */
import { commitmentOf, hashOf, isNext } from '../format/entry.js';
import { ALTERED, explanationIn, missingIn, personalHashOf } from '../format/erasures.js';
import { leafOf, rootOf } from '../format/merkle.js';
import type { Broken, VerifyInput, VerifyOutput } from './verify-worker.js';

const MAX_BROKEN = 100;
const HASH = 64;

const verifySegments = ({ prev, segments }: VerifyInput): VerifyOutput => {
  const broken: Broken[] = [];
  const roots: Array<VerifyOutput['roots'][number]> = [];
  const missing: Array<VerifyOutput['missing'][number]> = [];
  const explanations: Array<VerifyOutput['explanations'][number]> = [];
  let last = prev;
  const note = (id: number, problem: string): void => void (broken.length < MAX_BROKEN && broken.push({ id, problem }));
  for (const { first, bodies, hashes, cuts, details } of segments) {
    const detailOf = new Map(details?.map((detail) => [detail.id, detail]));
    const count = hashes.length / HASH;
    const texts = bodies?.split('\n');
    if (texts && texts.length !== count) note(first, `There are ${texts.length} entries where ${count} hashes are stored.`);
    for (let place = 0; place < count; place += 1) {
      const id = first + place;
      const text = texts?.[place];
      if (text !== undefined) {
        if (!isNext(text, id, last)) note(id, faultOf(text, id));
        const detail = detailOf.get(id);
        if (detail && commitmentOf(detail.salt, detail.detail) !== personalHashOf(text)) note(id, ALTERED);
        if (details) {
          const lost = detail ? undefined : missingIn(id, text);
          if (lost) missing.push(lost);
          const explanation = explanationIn(text);
          if (explanation) explanations.push(explanation);
        }
        const made = hashOf(text);
        if (hashes.slice(place * HASH, place * HASH + HASH) === made) {
          last = made;
          continue;
        }
        note(id, 'Its content is not what was hashed.');
      } else if (texts) note(id, 'It is missing.');
      last = hashes.slice(place * HASH, place * HASH + HASH);
    }
    for (const cut of cuts) {
      const leaves = Array.from({ length: Math.min(cut, count) }, (_, place) => leafOf(hashes.slice(place * HASH, place * HASH + HASH)));
      if (leaves.length === cut) roots.push({ size: first - 1 + cut, root: Buffer.from(rootOf(leaves)).toString('hex') });
    }
  }
  return { broken, last, roots, missing, explanations };
};

const faultOf = (text: string, id: number): string => (text.startsWith(`${String(id).length}:${id},`) ? 'It does not continue the entry before it.' : 'Another entry stands in its place.');

export default verifySegments;
