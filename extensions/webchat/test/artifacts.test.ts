/** Which blocks of answers are artifacts, what they are called, and which of them are versions of one. */
import { expect } from 'chai';
import { type Artifact, artifactsIn, fileNameOf, isOpenable, placeOf, versionsOf } from '../panels/chat/artifacts.js';

const fenced = (info: string, text: string): string => `\`\`\`${info}\n${text}\n\`\`\`\n`;
const only = (text: string): Artifact => {
  const [one, ...more] = artifactsIn(text);
  if (!one || more.length > 0) throw new Error(`${more.length + (one ? 1 : 0)} blocks`);
  return one;
};
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}`).join('\n');

describe('an artifact', () => {
  for (const [what, text, title, fileName] of [
    ['the title of a document', fenced('html', '<!doctype html><title> My page </title>'), 'My page', 'My-page.html'],
    ['a file name behind the language', fenced('js src/app.js', 'x'), 'src/app.js', 'app.js'],
    ['a title in the fence', fenced('python title="Sort it"', 'x'), 'Sort it', 'Sort-it.py'],
    ['a comment in the first line', fenced('ts', '// lib/a.ts\nx'), 'lib/a.ts', 'a.ts'],
    ['no comment that says something else', fenced('ts', '// adds 1.5 to it\nx'), '', 'code.ts'],
    ['no title of a document within code', fenced('js', 'const a = "<title>x</title>"'), '', 'code.js'],
    ['a name that leads nowhere', fenced('sh ../../.profile', 'x'), '../../.profile', 'profile.sh'],
    ['the title of a picture that is called XML', fenced('xml', '<svg><title>Cat</title></svg>'), 'Cat', 'Cat.svg'],
    ['nothing where there is no language', fenced('', 'x'), '', 'code.txt'],
  ] as const)
    it(`is named by ${what}`, () => {
      const one = only(text);
      expect([one.title, fileNameOf(one)]).to.deep.equal([title, fileName]);
    });

  it('is a document, a picture, a diagram or long code, and not a short piece of any', () => {
    for (const [text, is] of [
      [fenced('html', '<!doctype html><p>x'), true],
      [fenced('html', '<p>x</p>'), false],
      [fenced('svg', '<svg/>'), true],
      [fenced('mermaid', 'pie'), true],
      [fenced('js', lines(15)), false],
      [fenced('js', lines(16)), true],
      [fenced('', lines(16)), true],
    ] as const)
      expect(isOpenable(only(text)), text).to.equal(is);
  });

  it('is whole when its fence is closed', () => {
    for (const [text, is] of [
      ['```html\n<p>', false],
      ['```html\n<p>\n```', true],
      ['````md\n```\nx\n```', false],
      ['````md\n```\nx\n````', true],
      ['~~~js\nx\n```', false],
      ['- a\n\n  ```js\n  x\n  ```\n', true],
      ['    indented', true],
    ] as const)
      expect(only(text).isWhole, text).to.equal(is);
  });

  it('is found in lists and quotes, in the order of the text', () => {
    expect(artifactsIn(`- a\n\n  \`\`\`js\n  1\n  \`\`\`\n\n> \`\`\`js\n> 2\n> \`\`\`\n\n${fenced('js', '3')}`).map(({ text }) => text)).to.deep.equal(['1', '2', '3']);
  });

  it('has as versions those of its language and title, and only itself where it has none', () => {
    const page = (body: string): string => fenced('html', `<!doctype html><title>Page</title>${body}`);
    const all = artifactsIn([page('1'), fenced('js', lines(20)), page('2'), fenced('js', lines(20)), fenced('html', '<title>Page</title>')].join('\n'));
    expect([0, 1, 2, 9].map((place) => versionsOf(all, place))).to.deep.equal([[0, 2], [1], [0, 2], [9]]);
  });

  it('is the last one that reads so, also when it has grown since', () => {
    const all = artifactsIn([fenced('js', 'one'), fenced('js', 'one'), fenced('js', 'two and more')].join('\n'));
    expect(
      [
        { language: 'js', text: 'one' },
        { language: 'js', text: 'two' },
        { language: 'py', text: 'one' },
      ].map((seen) => placeOf(all, seen)),
    ).to.deep.equal([1, 2, -1]);
  });
});
