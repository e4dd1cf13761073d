/** The colours of the page: each pair that is used is readable in both themes, and DESIGN.md says how well. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { contrastOf, type Look, readTokens } from './tokens.js';

const LOOKS: readonly Look[] = ['light', 'dark', 'light, more contrast', 'dark, more contrast'];
const PLAIN = ['back', 'surface', 'raised', 'sunk'];
/** What is read, and on which backgrounds it is drawn. */
const TEXT: Readonly<Record<string, readonly string[]>> = {
  text: [...PLAIN, 'accent-soft', 'good-soft', 'bad-soft', 'warn-soft', 'info-soft'],
  muted: [...PLAIN, 'accent-soft'],
  'accent-ink': [...PLAIN, 'accent-soft'],
  'accent-text': ['accent'],
  good: [...PLAIN, 'good-soft'],
  bad: [...PLAIN, 'bad-soft'],
  warn: [...PLAIN, 'warn-soft'],
  info: [...PLAIN, 'info-soft'],
  ...Object.fromEntries(['keyword', 'string', 'number', 'comment', 'title', 'attr'].map((part) => [`code-${part}`, ['surface', 'sunk']])),
};
/** What is seen: the edge of a field, the ring around what has the focus, the line of a chart. */
const SEEN: Readonly<Record<string, readonly string[]>> = { 'edge-strong': PLAIN, accent: PLAIN };
const LEAST = { text: 4.5, moreText: 7, seen: 3, moreSeen: 4.5 };

const tokens = readTokens();
const valueIn = (look: Look, name: string): string => {
  const value = tokens[look][name];
  if (value === undefined) throw new Error(`there is no token --${name}`);
  return value;
};
const lowest = (look: Look, name: string, on: readonly string[]): number => Math.min(...on.map((back) => contrastOf(valueIn(look, name), valueIn(look, back))));
/** Rounded down: what is said is never more than there is. */
const figure = (value: number): string => (Math.floor(value * 10) / 10).toFixed(1);

describe('the colours of the page', () => {
  it('have the contrast that WCAG 2.2 asks of what is read and what is seen, and more where the system asks for more', () => {
    const low = LOOKS.flatMap((look) => {
      const isMore = look.endsWith('more contrast');
      const below = (pairs: typeof TEXT, least: number): string[] =>
        Object.entries(pairs).flatMap(([name, on]) =>
          on.filter((back) => lowest(look, name, [back]) < least).map((back) => `${look}: --${name} on --${back} has ${figure(lowest(look, name, [back]))}`),
        );
      return [...below(TEXT, isMore ? LEAST.moreText : LEAST.text), ...below(SEEN, isMore ? LEAST.moreSeen : LEAST.seen)];
    });
    expect(low).to.deep.equal([]);
  });

  it('are listed in DESIGN.md with the lowest contrast that each has in each theme', () => {
    const rows = Object.entries({ ...TEXT, ...SEEN }).map(([name, on]) => `| --${name} | ${on.join(', ')} | ${LOOKS.map((look) => figure(lowest(look, name, on))).join(' | ')} |`);
    const text = readFileSync('kernel/kit/DESIGN.md', 'utf8');
    const written = text.split('\n').filter((line) => /^\| --\S+ \|.*\d\.\d \|$/.test(line));
    expect(written).to.deep.equal(rows);
  });

  it('are the only ones that a theme names: a colour of the light theme has one in the dark theme', () => {
    const colours = Object.keys(tokens.light).filter((name) => /^#/.test(valueIn('light', name)) && name !== 'paper');
    expect(colours.filter((name) => name !== 'accent-text' && valueIn('light', name) === valueIn('dark', name))).to.deep.equal([]);
  });
});

describe('DESIGN.md', () => {
  it('names tokens that there are, and leaves no group of them out', () => {
    const text = readFileSync('kernel/kit/DESIGN.md', 'utf8');
    const named = new Set([...text.matchAll(/--([a-z][a-z0-9-]*[a-z0-9])/g)].map(([, name = '']) => name));
    expect([...named].filter((name) => !Object.hasOwn(tokens.light, name))).to.deep.equal([]);
    const group = (name: string): string => name.split('-')[0] ?? name;
    const groups = new Set([...named].map(group));
    expect([...new Set(Object.keys(tokens.light).map(group))].filter((name) => !groups.has(name))).to.deep.equal([]);
  });
});
