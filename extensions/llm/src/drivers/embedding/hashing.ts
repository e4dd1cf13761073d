/**
 * Vectors of the mock provider: words and parts of words, hashed into so many places. Texts that share words are near each other;
 * what they mean plays no part. The same text gives the same vector, here and everywhere.
 */
import type { EmbedBatch, Embedded } from '../driver.js';

const USUAL_DIMENSIONS = 256;
const WHAT_THEY_ARE = 'These vectors are hashes of words and parts of words, made without a model. They find equal words, not similar meanings.';
/** A part of a word weighs less than the word: it is there for its endings. */
const PART_WEIGHT = 0.3;
const PART_LETTERS = 3;

export const hashingVectors = ({ texts, dimensions = USUAL_DIMENSIONS }: EmbedBatch): Embedded => ({ vectors: texts.map((text) => vectorOf(text, dimensions)), substitute: WHAT_THEY_ARE });

const vectorOf = (text: string, dimensions: number): number[] => {
  const vector = new Array<number>(dimensions).fill(0);
  const add = (part: string, weight: number): void => {
    const hash = hashOf(part);
    const place = (hash >>> 1) % dimensions;
    vector[place] = (vector[place] ?? 0) + ((hash & 1) === 0 ? weight : -weight);
  };
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    add(word, 1);
    const whole = `^${word}$`;
    for (let at = 0; at + PART_LETTERS <= whole.length; at++) add(whole.slice(at, at + PART_LETTERS), PART_WEIGHT);
  }
  // One without words, or whose words cancel each other out, is told from others by its letters.
  if (!vector.some((value) => value !== 0)) vector[(hashOf(text) >>> 1) % dimensions] = 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};

/** FNV-1a, 32 bits. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};
