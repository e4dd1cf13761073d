/** Pairing codes as text. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createAttempts, hashOf, newCode } from '../src/codes.js';

const ids = { bytes: (count: number): Uint8Array => randomBytes(count) };

describe('pairing codes', () => {
  it('C1 are eight letters and digits that nobody mistakes, each as likely as the others', () => {
    const codes = Array.from({ length: 4_000 }, () => newCode(ids));
    for (const code of codes) expect(code).to.match(/^[A-HJKM-NP-Z2-9]{4}-[A-HJKM-NP-Z2-9]{4}$/);
    expect(new Set(codes).size).to.equal(codes.length);
    const counts = new Map<string, number>();
    for (const letter of codes.join('').replaceAll('-', '')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).to.equal(31);
    for (const [letter, count] of counts) expect(count, letter).to.be.within(850, 1_230);
  });

  it('C1 are taken with or without the dash and blanks, in any case, and nothing else is', () => {
    const whole = hashOf('ABCD-2345');
    for (const typed of ['abcd2345', ' abcd 2345 ', 'AbCd-2345', 'a-b-c-d-2-3-4-5']) expect(hashOf(typed), typed).to.equal(whole);
    for (const typed of ['', 'ABCD-234', 'ABCD-23456', 'ABCD-234O', 'ABCD-2340', 'ABCD_2345', 'ÀBCD-2345', '\0BCD-2345']) expect(hashOf(typed), typed).to.equal(undefined);
  });

  it('C2 of a network are looked at no more after five wrong ones, until the quarter of an hour is over', () => {
    let now = 0;
    const attempts = createAttempts({ mono: () => now });
    for (let at = 0; at < 4; at += 1) attempts.failed('one');
    expect(attempts.waitMs('one')).to.equal(0);
    attempts.failed('one');
    expect(attempts.waitMs('one')).to.equal(900_000);
    expect(attempts.waitMs('two')).to.equal(0);
    now = 900_000;
    expect(attempts.waitMs('one')).to.equal(0);
  });
});
