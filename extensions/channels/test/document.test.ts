/** Texts of agents in the forms of platforms: written ones, and many that chance wrote. */
import { expect } from 'chai';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { documentPieces } from '../src/document/document.js';
import { DISCORD, type Format, MAIL, MATRIX, PLAIN, SLACK, TELEGRAM } from '../src/document/formats.js';
import type { Piece } from '../src/document/typeset.js';

const FORMATS: Readonly<Record<string, Format>> = { plain: { ...PLAIN, limit: 300 }, telegram: TELEGRAM, matrix: MATRIX, mail: MAIL, discord: DISCORD, slack: SLACK };
const LIMITS = [220, 900];

/** Mulberry32: the same seed gives the same texts. */
const chance = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

const WORDS = [
  'plain',
  'a<b',
  '5>4',
  '&amp',
  'snake_case_word',
  '👩‍👩‍👧‍👦',
  '🇨🇭🇫🇷',
  'e\u0301\u0301le\u0301ve',
  '汉字没有空格，因此很长。',
  '"quoted"',
  'end.',
  '#tag',
  '1.',
  '-x',
  '@all',
  'C:\\dir',
  'x'.repeat(90),
  '👍🏽'.repeat(30),
  'https://example.org/a_b*c_d',
];

const written = (next: (below: number) => number): string => {
  const word = (): string => WORDS[next(WORDS.length)] ?? '';
  const phrase = (): string => {
    const text = Array.from({ length: 1 + next(12) }, word).join(' ');
    const marks = ['', '', '', '**', '*', '~~', '***'];
    const mark = marks[next(marks.length)] ?? '';
    return `${mark}${text}${mark}`;
  };
  const line = (): string =>
    Array.from({ length: 1 + next(4) }, () => [phrase, phrase, () => `\`code ${next(9)} < x\``, () => `[a link](https://example.org/${next(99)}?a=1&b=2)`][next(4)]?.()).join(' ');
  const lines = (prefix: string): string => Array.from({ length: 1 + next(5) }, () => `${prefix}${line()}`).join('\n');
  const block = (): string =>
    [
      () => lines(''),
      () => lines(''),
      () => `${'#'.repeat(1 + next(6))} ${word()} ${word()}`,
      () => lines('- '),
      () => Array.from({ length: 1 + next(6) }, (_one, index) => `${index + 1}. ${line()}\n   - ${line()}`).join('\n'),
      () => lines('> '),
      () => `\`\`\`ts\n${Array.from({ length: 1 + next(30) }, (_one, index) => `${' '.repeat(next(8))}const x${index} = '<b>';`).join('\n')}\n\`\`\``,
      () => `| head | second |\n|---|---|\n${Array.from({ length: 1 + next(6) }, () => `| ${next(99)} | a & b |`).join('\n')}`,
      () => '---',
    ][next(9)]?.() ?? '';
  return Array.from({ length: 1 + next(9) }, block).join('\n\n');
};

const formOf = ({ formatted, text }: Piece): string => formatted ?? text;
const letters = (text: string): string => text.replaceAll(/\s+/g, '');
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };
const fromHtml = (html: string): string => html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? '');

/** Each tag is whole, and closed in its order. */
const unbalanced = (html: string): string | undefined => {
  const open: string[] = [];
  const rest = html.replaceAll(/<(\/?)([a-z]\w*)(?: [a-z]+="[^"<>]*")*>/g, (tag, slash: string, name: string) => {
    if (name === 'br' || name === 'hr') return '';
    if (slash === '') open.push(name);
    else if (open.pop() !== name) open.push(`not closed before ${tag}`);
    return '';
  });
  return open.length > 0 || /[<>]/.test(rest) ? `${open.join()} ${rest.slice(0, 200)}` : undefined;
};

const firstSplit = (whole: string, pieces: readonly string[]): string | undefined => {
  const characters = new Intl.Segmenter('en').segment(whole);
  let at = 0;
  for (const piece of pieces) {
    if (at < whole.length && characters.containing(at)?.index !== at) return whole.slice(at - 4, at + 4);
    at += piece.length;
  }
  return undefined;
};

describe('channels: the neutral document', function () {
  this.timeout(60_000);
  const html = async (markdown: string, format: Format = TELEGRAM): Promise<string[]> => (await documentPieces(markdown, format)).map(formOf);

  it('R3 R4 R5 R6 no piece is too long, no tag or character is cut, and the text stays the same, whatever is written', async () => {
    for (let seed = 1; seed <= 16; seed += 1) {
      const markdown = written(chance(seed));
      for (const [name, base] of Object.entries(FORMATS)) {
        const [whole] = await documentPieces(markdown, { ...base, limit: 10_000_000 });
        for (const limit of LIMITS) {
          const format = name === 'mail' ? base : { ...base, limit };
          const pieces = await documentPieces(markdown, format);
          const why = `${name} ${limit}, seed ${seed}`;
          for (const piece of pieces) expect(formOf(piece).length, why).to.be.at.most(format.limit);
          if (['telegram', 'matrix', 'mail'].includes(name)) for (const piece of pieces) expect(unbalanced(formOf(piece)), why).to.equal(undefined);
          const shown = ['telegram', 'matrix', 'mail'].includes(name) ? (piece: Piece) => letters(fromHtml(formOf(piece))) : (piece: Piece) => bare(name, piece);
          expect(pieces.map(shown).join(''), why).to.equal(shown(whole as Piece));
          expect(firstSplit(shown(whole as Piece), pieces.map(shown)), why).to.equal(undefined);
        }
      }
    }
  });

  /** Without what a piece opens again: fences, quotes and marks. */
  const bare = (name: string, piece: Piece): string => {
    const form = formOf(piece)
      .replaceAll(/^```\w*$/gm, '')
      .replaceAll(/^(?:> ?|&gt; ?)+/gm, '');
    return letters(name === 'plain' ? form : form.replaceAll(/(?<!\\)(?:[*_~`]|\]\([^)]*\)|<https?:[^|>]*\||^#+ )/gm, '')).replaceAll(/[\\[\]>]/g, '');
  };

  it('R5 fences are closed and opened again, lists go on counting, and a quote stays one', async () => {
    const code = `\`\`\`python\n${Array.from({ length: 40 }, (_one, index) => `print(${index})`).join('\n')}\n\`\`\``;
    for (const piece of await html(code, { ...DISCORD, limit: 200 })) expect(piece).to.match(/^```python\nprint[\s\S]*\)\n```$/);
    for (const piece of await html(code, { ...TELEGRAM, limit: 200 })) expect(piece).to.match(/^<pre><code class="language-python">print[\s\S]*\)<\/code><\/pre>$/);
    const list = Array.from({ length: 30 }, (_one, index) => `${index + 1}. item number ${index + 1}`).join('\n');
    const [, second = ''] = await html(list, { ...MATRIX, limit: 300 });
    expect(second).to.match(/^<ol start="(\d+)"><li>item number \1<\/li>/);
    for (const piece of await html(`> ${'said and done. '.repeat(40)}`, { ...SLACK, limit: 200 })) expect(piece).to.match(/^> said/);
  });

  it('writes each form as its platform reads it', async () => {
    const text = '# Plan\n\nUse **bold** and *slant*, `a < b`, ~~old~~ [docs](https://e.org/?a=1&b=2).\n\n- one\n- two\n  - deep\n\n> said & done\n\n```js\nif (a < b) {}\n```';
    expect(await html(text)).to.deep.equal([
      '<b>Plan</b>\n\nUse <b>bold</b> and <i>slant</i>, <code>a &lt; b</code>, <s>old</s> <a href="https://e.org/?a=1&amp;b=2">docs</a>.\n\n• one\n• two\n  • deep\n\n<blockquote>said &amp; done</blockquote>\n\n<pre><code class="language-js">if (a &lt; b) {}</code></pre>',
    ]);
    expect(await html(text, MATRIX)).to.deep.equal([
      '<h1>Plan</h1><p>Use <strong>bold</strong> and <em>slant</em>, <code>a &lt; b</code>, <del>old</del> <a href="https://e.org/?a=1&amp;b=2">docs</a>.</p><ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul><blockquote><p>said &amp; done</p></blockquote><pre><code class="language-js">if (a &lt; b) {}</code></pre>',
    ]);
    expect(await html(text, DISCORD)).to.deep.equal([
      '# Plan\n\nUse **bold** and *slant*, `a < b`, ~~old~~ [docs](https://e.org/?a=1&b=2).\n\n- one\n- two\n  - deep\n\n> said & done\n\n```js\nif (a < b) {}\n```',
    ]);
    expect(await html(text, SLACK)).to.deep.equal([
      '*Plan*\n\nUse *bold* and _slant_, `a &lt; b`, ~old~ <https://e.org/?a=1&amp;b=2|docs>.\n\n• one\n• two\n  • deep\n\n> said &amp; done\n\n```\nif (a &lt; b) {}\n```',
    ]);
    expect(await html(text, PLAIN)).to.deep.equal(['Plan\n\nUse bold and slant, a < b, old docs (https://e.org/?a=1&b=2).\n\n- one\n- two\n  - deep\n\n> said & done\n\nif (a < b) {}']);
    const [{ text: beside } = { text: '' }] = await documentPieces(text, MATRIX);
    expect(beside).to.contain('docs (https://e.org').and.contain('- two\n  - deep');
  });

  it('R1 R2 what looks like HTML is text, and only followed addresses are links', async () => {
    expect(await html('<script>alert(1)</script>\n\nand <b>this</b> [x](javascript:alert(1)) ![pic](https://e.org/p.png)')).to.deep.equal([
      '&lt;script&gt;alert(1)&lt;/script&gt;\n\nand &lt;b&gt;this&lt;/b&gt; x (javascript:alert(1)) <a href="https://e.org/p.png">pic</a>',
    ]);
    expect(await html('a *b* \\*c\\* d_e_f **never', DISCORD)).to.deep.equal(['a *b* \\*c\\* d\\_e\\_f \\*\\*never']);
    const back = fromMarkdown((await html('1\\. no list, \\# no head, \\> no quote', DISCORD))[0] ?? '');
    expect(back.children.map(({ type }) => type)).to.deep.equal(['paragraph']);
    expect(await html('`a ` b` and\n\n```\nx ``` y\n```', DISCORD)).to.deep.equal(['`a ` b\\` and\n\n```\nx `\u200b`` y\n```']);
  });

  it('tables are columns where they fit, records where they do not, and cells where a platform has them', async () => {
    const table = (cell: string): string => `| name | what |\n|---|---|\n| a | ${cell} |`;
    expect(await html(table('b'), TELEGRAM)).to.deep.equal(['<pre>name | what\na    | b</pre>']);
    expect(await html(table('long words '.repeat(9)), TELEGRAM)).to.deep.equal([`name: a\nwhat: ${'long words '.repeat(9).trim()}`]);
    expect(await html(table('**b**'), MATRIX)).to.deep.equal(['<table><tr><th>name</th><th>what</th></tr><tr><td>a</td><td><strong>b</strong></td></tr></table>']);
  });

  it('a long text is read in parts, with its code and lists whole', async () => {
    const code = `\`\`\`ts\n${'const x = 1;\n\n'.repeat(2_000)}\`\`\``;
    const text = `${'**bold** words.\n\n'.repeat(900)}${code}\n\n${'- item\n'.repeat(900)}`;
    const [form = ''] = await html(text, MAIL);
    expect([form.split('<strong>').length, form.split('<pre>').length, form.split('<li>').length]).to.deep.equal([901, 2, 901]);
  });

  it('reads lines of dashes, stars and quotation marks in a moment, however long they are', async () => {
    const begun = Date.now();
    for (const hostile of [`${'_'.repeat(24)} ${'a'.repeat(300)}`, `${'> '.repeat(21)}x`, `${' '.repeat(15_900)}x`, '1'.repeat(15_900), `${'-'.repeat(39)} and\n\n${'* '.repeat(38)}x`])
      await html(hostile);
    expect(Date.now() - begun).to.be.lessThan(500);
  });

  it('reads hostile nesting in a moment, and a text without a letter is no message', async () => {
    const begun = Date.now();
    for (const hostile of ['>'.repeat(60_000), '['.repeat(60_000), '- '.repeat(30_000), '*a_'.repeat(30_000), '&#x;'.repeat(20_000)])
      for (const piece of await html(hostile)) expect(piece.length).to.be.at.most(4_096);
    for (const hostile of ['[a](b '.repeat(10_000), '[a\n\n'.repeat(5_000)]) await html(hostile);
    expect(Date.now() - begun).to.be.lessThan(20_000);
    expect(await html(' \n\t\n ')).to.deep.equal([]);
    expect(await html(`z${'\u0301'.repeat(9_000)}`)).to.have.length(3);
    expect(await html('a\ud800b\u0007c')).to.deep.equal(['a\ufffdbc']);
  });
});
