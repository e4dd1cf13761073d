/** What leaves by a link: decided by one function, and written as HTML that holds nothing else. */
import { expect } from 'chai';
import type { Entry } from '../../src/contract.js';
import { markdownHtml } from '../../src/sharing/markdown-html.js';
import { endedPage, PAGE_HEADERS, sharePage } from '../../src/sharing/share-page.js';
import { type SharedMessage, sharedMessages, sharedTitle } from '../../src/sharing/shared-view.js';

let seq = 0;
const entry = (kind: Entry['kind'], more: Partial<Entry> = {}): Entry => ({ kind, runId: 'run-SECRET', seq: ++seq, at: '2026-01-31T10:00:00.000Z', ...more });
const text = (said: string) => ({ type: 'text', text: said }) as const;
const FILE = { id: 'file-SECRET', name: 'SECRET.txt', contentType: 'text/plain', sizeBytes: 3 };

const LOG = (): readonly Entry[] => {
  seq = 0;
  return [
    entry('user', { parts: [text('what is in it?'), { type: 'text', text: 'SECRET of the file', file: FILE }, { type: 'image', mediaType: 'image/png', data: 'SECRET' }] }),
    entry('assistant', { parts: [text('I will look.')], thoughts: 'SECRET thoughts' }),
    entry('tool_call', { callId: 'SECRET', tool: 'SECRET_tool', args: { path: 'SECRET' } }),
    entry('tool_result', { callId: 'SECRET', tool: 'SECRET_tool', content: 'SECRET' }),
    entry('assistant', { parts: [text('**Three** words.')] }),
    entry('summary', { content: 'SECRET summary', coversThrough: 3 }),
    entry('note', { content: 'SECRET note' }),
    entry('user', { parts: [text('and now?')] }),
    entry('assistant', { parts: [text('LATER')] }),
  ];
};

const drawn = (messages: readonly SharedMessage[]): string[] => messages.map(({ text }) => markdownHtml(text));

describe('what a shared page shows', () => {
  it('is what people and agents wrote, with the answer of several rounds as one, and how many files there were', () => {
    expect(sharedMessages(LOG(), 9)).to.deep.equal([
      { who: 'person', text: 'what is in it?', files: 2 },
      { who: 'agent', text: 'I will look.\n\n**Three** words.', files: 0 },
      { who: 'person', text: 'and now?', files: 0 },
      { who: 'agent', text: 'LATER', files: 0 },
    ]);
  });

  it('has no tools, files, thoughts, summaries, notes or ids, and nothing after the snapshot', () => {
    const page = sharePage(undefined, { title: 'Words', asOf: '2026-01-31T10:00:00.000Z', messages: sharedMessages(LOG(), 8), isWhole: true }, drawn(sharedMessages(LOG(), 8)));
    expect(page).to.include('what is in it?').and.include('<strong>Three</strong> words.').and.include('2 attachments, not shown');
    expect(page).to.not.match(/SECRET|LATER/);
  });

  it('is called as a model named it or as it began, and never by its label', () => {
    const session = { label: 'SECRET', title: null, firstWords: 'what is in it?' };
    expect(sharedTitle(session)).to.equal('what is in it?');
    expect(sharedTitle({ ...session, title: 'Three words' })).to.equal('Three words');
  });

  it('runs nothing, asks nobody, and is kept out of searches and caches', () => {
    const policy = PAGE_HEADERS['content-security-policy'];
    expect(policy)
      .to.match(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; /)
      .and.to.include('sandbox');
    expect(policy).to.not.match(/script-src|unsafe|allow-scripts|allow-same-origin/);
    expect(PAGE_HEADERS).to.include({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    for (const page of [endedPage('zh-CN,zh;q=0.9'), endedPage(undefined), sharePage(undefined, { title: '<b>', asOf: '', messages: [], isWhole: false }, [])]) {
      expect(page).to.include('<meta name="robots" content="noindex, nofollow, noarchive">').and.include('<meta name="referrer" content="no-referrer">');
      expect(page).to.not.match(/<script|<img|<link|<b>/);
    }
    expect(endedPage('zh-CN,zh;q=0.9')).to.include('<html lang="zh">');
  });
});

/** Every tag of a text, with what stands in it. */
const tagsOf = (html: string): string[] => [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
const ALLOWED =
  /^<\/?(?:p|h[3-6]|ul|ol(?: start="\d+")?|li|em|strong|s|code|pre|blockquote|hr|br|table|thead|tbody|tr|t[hd](?: style="text-align:(?:left|right|center)")?|a(?: href="(?:https?:|mailto:)[^"<>]*" rel="noopener noreferrer nofollow")?)>$/;

const HOSTILE = [
  '<script>alert(1)</script>',
  'a <script>x<img/src="x"/onerror=alert(1)//> b',
  '<code><img/src=x/onerror=alert(1)//></code>',
  '<pre>\n\n<svg/onload=alert(1)//>\n\n</pre>',
  '[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) [z](data:text/html,<script>) <javascript:alert(1)>',
  '[x](https://a.example/"onmouseover="alert(1)) [t](https://a.example "ti\\"tle<b>")',
  '![<img onerror=alert(1)>](https://a.example/p.png) ![p](javascript:alert(1))',
  '`<img src=x onerror=alert(1)>`\n\n```"><script>\n</code></pre><script>alert(1)</script>\n```',
  '| <b onclick=x> | b |\n|:--|--:|\n| <script> | [c](javascript:x) |',
  '# <style>*{display:none}</style>\n\n> <iframe src=x>\n\n1. <input onfocus=x autofocus>\n- [x] <form action=x>',
  '[ref]\n\n[ref]: javascript:alert(1) "<script>"\n\n&lt;script&gt; &#60;img&#62; &amp;lt;',
  '<a href="https://a.example" onclick="x">y</a> <!-- <script> --> <![CDATA[<script>]]> <?php <script> ?>',
];

describe('Markdown of a shared page', () => {
  for (const [index, written] of HOSTILE.entries())
    it(`is text where it holds markup (${index + 1})`, () => {
      const html = markdownHtml(written);
      expect(
        tagsOf(html).filter((tag) => !ALLOWED.test(tag)),
        html,
      ).to.deep.equal([]);
    });

  it('is drawn: headings below those of the page, lists, tables, code, links, and pictures as links', () => {
    const html = markdownHtml('# One\n\n1. *a*\n\n| a |\n|---|\n| b |\n\n`c < d`\n\n```js\nlet e = "<f>";\n```\n\n[g](https://g.example/?h=1&i=2) ![j](https://k.example/l.png)\n\nm &amp; n');
    for (const part of [
      '<h3>One</h3>',
      '<em>a</em>',
      '<td>b</td>',
      '<code>c &lt; d</code>',
      '<pre><code>let e = &quot;&lt;f&gt;&quot;;',
      '<a href="https://g.example/?h=1&amp;i=2" rel="noopener noreferrer nofollow">g</a>',
      '<a href="https://k.example/l.png" rel="noopener noreferrer nofollow">j</a>',
      'm &amp; n',
    ])
      expect(html).to.include(part);
  });

  it('is shown as it was written where it is very long', () => {
    expect(markdownHtml('<'.repeat(50_001))).to.equal(`<pre>${'&lt;'.repeat(50_001)}</pre>`);
  });

  // With a reader whose time grows with the square of the length, each of these takes minutes.
  for (const [name, piece] of Object.entries({ emphasis: '*a_', brackets: '[', 'links that stay open': '[a](', ticks: '` ', quotes: '> ', pictures: '![' }))
    it(`is drawn in a moment, whatever it holds (${name})`, () => {
      expect(markdownHtml(piece.repeat(Math.floor(50_000 / piece.length)))).to.match(/^<[p b]/);
    }).timeout(10_000);
});
