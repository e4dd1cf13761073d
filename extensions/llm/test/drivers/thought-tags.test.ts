/** Thoughts within the text. Promises of src/drivers/thought-tags.ts by their names. */
import { expect } from 'chai';
import type { DriverEvent } from '../../src/contract.js';
import { createTagReader } from '../../src/drivers/thought-tags.js';

const read = (...pieces: readonly string[]): { thought: string; text: string; events: readonly DriverEvent[] } => {
  const events: DriverEvent[] = [];
  const reader = createTagReader((event) => void events.push(event));
  for (const piece of pieces) reader.take(piece);
  reader.end();
  const all = (type: 'text' | 'thought') => events.flatMap((event) => (event.type === type ? [event.text] : [])).join('');
  return { thought: all('thought'), text: all('text'), events };
};

describe('thoughts within the text', () => {
  it('are told from the answer wherever the text is cut', () => {
    const whole = '\n<think>\nfirst </thin so\n</think>\n\nThe <think>answer</think>.';
    for (let at = 0; at <= whole.length; at++) {
      const { thought, text } = read(whole.slice(0, at), whole.slice(at));
      expect({ thought, text }, String(at)).to.deep.equal({ thought: '\nfirst </thin so\n', text: 'The <think>answer</think>.' });
    }
    const letters = read(...whole);
    expect([letters.thought, letters.text]).to.deep.equal(['\nfirst </thin so\n', 'The <think>answer</think>.']);
  });

  it('T1 are only what stands before all else', () => {
    for (const text of ['Use <think> so: <think>x</think>', '<thinking>x</thinking>', ' <b>', '<think', '<', '  ']) expect(read(...text)).to.include({ thought: '', text });
  });

  it('T3 are all that stands before a closing tag that was never opened, wherever the text is cut', () => {
    const whole = 'I add two and two.\n</think>\n\nFour.';
    for (let at = 0; at <= whole.length; at++) {
      const { events } = read(whole.slice(0, at), whole.slice(at));
      const turn = events.findIndex(({ type }) => type === 'was_thought');
      const said = (part: typeof events) => part.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('');
      expect([said(events.slice(0, turn)), said(events.slice(turn))], String(at)).to.deep.equal(['I add two and two.\n', 'Four.']);
    }
    expect(read('</think>\n\nFour.')).to.deep.include({ text: 'Four.', events: [{ type: 'text', text: 'Four.' }] });
    for (const text of ['It ends with `</think>` then.', 'Write "</think>" there.', '```\n</think>\n```\nThat is it.', 'Between <think> and </think> it stands.'])
      expect(read(...text), text).to.deep.include({ thought: '', text });
    for (const text of ['It ends with `</think>` then.', '```\n</think>\n```'])
      expect(
        read(text).events.some(({ type }) => type === 'was_thought'),
        text,
      ).to.equal(false);
  });

  it('T2 are said as they come, and to the end where nothing closes them', () => {
    expect(read('<think>a', 'b <', '/', 'c').events).to.deep.equal([
      { type: 'thought', text: 'a' },
      { type: 'thought', text: 'b ' },
      { type: 'thought', text: '</c' },
    ]);
    expect(read('<think>a</thi').thought).to.equal('a</thi');
    expect(read('plain').events).to.deep.equal([{ type: 'text', text: 'plain' }]);
    expect(read('').events).to.deep.equal([]);
  });
});
