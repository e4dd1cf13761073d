/** Which text of an answer is a formula. How one is drawn: chat.test.ts. */
import { expect } from 'chai';
import type { Token, Tokens } from 'marked';
import { lexed } from '../panels/chat/math-tokens.js';

/** Formulas in order, those of a line of their own in brackets. */
const formulasIn = (text: string): string[] => {
  const found: string[] = [];
  const walk = (tokens: readonly Token[]): void => {
    for (const token of tokens as readonly Tokens.Generic[]) {
      if (token.type === 'math') found.push(token['isDisplay'] ? `[${token['text']}]` : String(token['text']));
      walk(token.tokens ?? []);
      walk(token['items'] ?? []);
    }
  };
  walk(lexed(text));
  return found;
};

describe('a formula in an answer', () => {
  for (const [text, ...formulas] of [
    ['The area is $\\pi r^2$, and \\(c = 2\\pi r\\).', '\\pi r^2', 'c = 2\\pi r'],
    ['So:\n$$\na^2 + b^2\n= c^2\n$$\nand on.', '[a^2 + b^2\n= c^2]'],
    ['So:\n\\[\na\n\\]', '[a]'],
    ['So:\n\n\\[\n- a\n- b\n\\]\n\nand on.', '[- a\n- b]'],
    ['- one: $$x$$\n- two:\n  \\[ y \\]\n- $z$', '[x]', '[y]', 'z'],
    ['$a \\$ b$ and **$x_1$** *and* $y*z*w$', 'a \\$ b', 'x_1', 'y*z*w'],
    ['| a |\n|---|\n| $x$ |'],
    ['$$\nnot yet closed'],
  ] as const)
    it(`is found in ${JSON.stringify(text)}`, () => {
      // Cells of a table are walked by who draws it.
      expect(formulasIn(text)).to.deep.equal(formulas);
    });

  for (const text of [
    'It costs $5, or $10 for two.',
    'From $5-$10 to US$7 or A$8 (both).',
    'Between 5$ and 6$ each, $ 7 $ once.',
    'a$b$c',
    '`$x$` and `\\(y\\)`',
    '```\n$$\nx\n$$\n```',
    'one $x\ntwo$',
    'An \\[escaped\\] bracket, and \\[one\\](more).',
    '$$ $$ and \\(\\)',
    '\\\\(not\\\\)',
  ])
    it(`is not in ${JSON.stringify(text)}`, () => {
      expect(formulasIn(text)).to.deep.equal([]);
    });

  it('stands where its text stood: nothing between is lost', () => {
    const text = 'a $x$ b \\(y\\) c\n$$z$$\nd\n\\[w\\]\ne $5 $\n';
    expect(
      lexed(text)
        .map(({ raw }) => raw)
        .join(''),
    ).to.equal(text);
  });

  it('is looked for in time that grows with the text, whatever the text is', function () {
    this.timeout(20_000);
    for (const piece of ['$', '$$ ', '\\(', '\\[', '\n$$', '\n\\[', '$a ', '*a* ', 'a\n\n', '$\\']) lexed(piece.repeat(Math.floor(50_000 / piece.length)));
  });
});
