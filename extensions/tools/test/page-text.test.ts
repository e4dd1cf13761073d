import { type FetchResponse, SvcError, type ToolOutput } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { webFetchTool } from '../src/builtin/web-fetch.js';
import { shapeOf } from '../src/workers/page-shape.js';
import pageText from '../src/workers/page-text.js';
import { plainPage } from '../src/workers/plain-page.js';
import { call } from './tools-kit.js';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { applyPatchTool } from '../src/builtin/apply-patch.js';
import { fileTools } from '../src/builtin/file-tools.js';
import { shellTool } from '../src/builtin/shell-exec.js';
import type { Workspaces } from '../src/builtin/workspace.js';

describe('the shape of a page', () => {
  it('is how deep its elements stand in each other, how many cells it has, and whether one stretches', () => {
    expect(shapeOf('')).to.deep.equal({ depth: 0, cells: 0, isStretched: false });
    expect(shapeOf('<div><p>a<b>b</b></div><div><span>')).to.deep.equal({ depth: 2, cells: 0, isStretched: false });
    expect(shapeOf('</b></b><b>')).to.include({ depth: 1 });
    expect(shapeOf('<TABLE><tr><th>a</th><td>b<td>c</table>')).to.deep.equal({ depth: 1, cells: 3, isStretched: false });
    for (const tag of ['br', 'img', 'li', 'p', 'tr', 'option', 'input']) expect(shapeOf(`<${tag}>`.repeat(9)).depth, tag).to.equal(0);
    expect(shapeOf('<h1>'.repeat(9))).to.include({ depth: 9 });
  });

  it('is stretched by a cell over a hundred rows or columns', () => {
    for (const span of ['colspan=100', 'ROWSPAN = "123"', "rowspan='999'"]) expect(shapeOf(`<td ${span}>`).isStretched, span).to.equal(true);
    for (const span of ['colspan=99', 'rowspan="9"', 'width=500']) expect(shapeOf(`<td ${span}>`).isStretched, span).to.equal(false);
  });
});

describe('a page as text', () => {
  const url = 'https://example.org/a/';
  const laidOut = (html: string, maxChars = 50_000): string => pageText({ html, url, maxChars });

  it('has its headings as they are written, its links whole, and no furniture', () => {
    expect(laidOut('<h1>One</h1>a<h2>Two</h2>b')).to.equal('One\na\n\nTwo\nb');
    expect(laidOut('<a href="/x?q=1">to x</a> <a href="https://other.test/">https://other.test/</a> <a href="http://[bad">odd</a>')).to.equal(
      'to x (https://example.org/x?q=1) https://other.test/ odd (http://[bad)',
    );
    for (const tag of ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'nav', 'footer']) expect(laidOut(`<p>a</p><${tag}>hidden</${tag}>`), tag).to.equal('a');
    expect(laidOut('a<img src="x" alt="hidden">b')).to.equal('ab');
    expect(laidOut(`<p>${'word '.repeat(100)}</p>`)).not.to.contain('\n');
  });

  it('has its columns aligned up to two thousand cells', () => {
    const table = (rows: number) => `<table>${'<tr><td>a</td><td>b</td></tr>'.repeat(rows)}</table>`;
    expect(laidOut(table(1_000)).split('\n')[0]).to.equal('a   b');
    expect(laidOut(table(1_001)).split('\n')[0]).to.equal('a b');
    expect(laidOut(`<table><tr><th>a</th><th>b</th></tr></table>${table(1_001)}`).split('\n')[0]).to.equal('a b');
  });

  it('is bare where it nests deeper than a thousand, and as long as was wanted', () => {
    expect(laidOut(`${'<b>'.repeat(1_000)}deep`)).not.to.contain('nests');
    expect(laidOut(`${'<b>'.repeat(1_001)}deep down`, 4)).to.equal('[the page nests 1001 deep; this is its text without layout and links]\ndeep');
  });
});

describe('a page as bare text', () => {
  const bare = (html: string, maxChars = 1_000): string => plainPage(html, maxChars);

  it('begins a line at a tag, but not at one that stands inside a line', () => {
    expect(bare('a<p>b</p>c<br>d')).to.equal('a\nb\nc\nd');
    expect(bare('a<b>b</b><A HREF="x">c</a><span>d</span>e')).to.equal('abcde');
    expect(bare('a<custom-tag>b')).to.equal('a\nb');
  });

  it('hides what is not for reading', () => {
    for (const tag of ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'SCRIPT']) expect(bare(`a<${tag} x="1">no</${tag.toLowerCase()}>b`), tag).to.equal('a\nb');
    expect(bare('a<!-- <p>no</p> -->b')).to.equal('ab');
    expect(bare('a</script>b')).to.equal('a\nb');
    expect(bare('<?xml version="1"?>a<!ELEMENT x>b')).to.equal('a\nb');
  });

  it('keeps a lone bracket', () => {
    expect(bare('1 < 2 and <3')).to.equal('1 < 2 and <3');
    expect(bare('a<')).to.equal('a<');
  });

  it('has its characters as meant, and none that is none', () => {
    expect(bare('&lt;&GT;&quot;&apos;a&nbsp;b &#65;&#x42;&#x1f600;')).to.equal('<>"\'a b AB😀');
    expect(bare('&copy; &#0;x&#x110000;y &#x10ffff;')).to.equal('&copy; xy \u{10ffff}');
  });

  it('has no blanks at the ends of lines, and one blank line at most', () => {
    expect(bare(' a \t b \r\n  c\n\n\n\n d \n')).to.equal('a b\nc\n\nd');
  });

  it('is no longer than was wanted', () => {
    expect(bare('<p>abc<p>def<p>ghi', 6)).to.equal('abc\nde');
    expect(bare('abcdef', 6)).to.equal('abcdef');
    expect(bare('abcdef', 5)).to.equal('abcde');
  });
});

describe('fetching a page', () => {
  const url = 'https://example.org/a/';
  interface Answer {
    readonly type?: string;
    readonly body?: string;
    readonly status?: number;
  }
  const open = (answer: Answer, lay: (input: unknown) => Promise<unknown> = async () => 'laid out') => {
    const seen = { cancelled: 0, inputs: [] as unknown[], asked: [] as unknown[], warnings: 0 };
    const { type, body = 'body', status = 200 } = answer;
    const response: FetchResponse = {
      status,
      headers: type === undefined ? {} : { 'content-type': type },
      url: `${url}final`,
      body: new Response(body).body as ReadableStream<Uint8Array>,
      each: async (take) => take(Buffer.from(body)),
      text: async () => body,
      json: async () => undefined,
      cancel: () => void seen.cancelled++,
    };
    const clock = virtualClock(0);
    const tool = webFetchTool({
      fetch: async (_url, init) => {
        seen.asked.push(init);
        return response;
      },
      workers: {
        run: async ({ name }, input) => {
          seen.inputs.push({ worker: name, ...(input as object) });
          // A worker's answer is what its declaration says it is.
          return (await lay(input)) as never;
        },
      },
      clock,
    });
    const log = { debug: () => undefined, info: () => undefined, warn: () => void seen.warnings++, error: () => undefined };
    const fetch = async (signal = new AbortController().signal) => (await tool.run({ url } as never, { ...call('x', {}).call, signal, log })) as ToolOutput; // it always answers with an object
    return { seen, tool, fetch, clock };
  };

  it('shows text of every kind as it is, and of others only the kind', async () => {
    for (const type of [
      'text/plain',
      'TEXT/CSS; charset=x',
      'application/json',
      'application/xml',
      'application/yaml',
      'application/x-yaml',
      'application/toml',
      'application/javascript',
      'application/x-ndjson',
      'application/ld+json',
      'application/atom+xml',
    ])
      expect((await open({ type }).fetch()).content, type).to.equal(`[200 ${url}final]\nbody`);
    for (const type of ['image/png', 'application/pdf; x=1', 'application/octet-stream', 'model/text/x']) {
      const { fetch, seen } = open({ type });
      expect((await fetch()).content, type).to.equal(`[200 ${url}final]\n[${type.split(';')[0]}: not text, not shown]`);
      expect(seen.cancelled, type).to.equal(1);
    }
    expect((await open({}).fetch()).content).to.contain('body');
  });

  it('lays out pages of both kinds, from where they really are', async () => {
    for (const type of ['text/html; charset=utf-8', 'Text/HTML', 'application/xhtml+xml']) {
      const { fetch, seen } = open({ type, body: '<p>x' });
      expect((await fetch()).content, type).to.equal(`[200 ${url}final]\nlaid out`);
      expect(seen.inputs).to.deep.equal([{ worker: 'tools.page-text', html: '<p>x', url: `${url}final`, maxChars: 50_000 }]);
    }
  });

  it('asks by GET for at most three MiB, of hosts that were granted, and may be asked twice', async () => {
    const { fetch, seen, tool } = open({ type: 'text/plain' });
    const signal = new AbortController().signal;
    await fetch(signal);
    expect(seen.asked).to.deep.equal([{ purpose: 'tool', headers: { accept: 'text/html, text/plain, application/json, */*;q=0.5' }, signal, maxBytes: 3 * 1024 * 1024, allowHosts: ['*'] }]);
    expect(tool).to.include({ risk: 'network', replay: 'safe', parallel: true, timeoutMs: 3_630_000 });
  });

  it('is an error from status 400 on, and cut at fifty thousand letters', async () => {
    expect((await open({ status: 399 }).fetch()).isError).to.equal(false);
    expect((await open({ status: 400 }).fetch()).isError).to.equal(true);
    expect((await open({ body: 'x'.repeat(50_000) }).fetch()).content).not.to.contain('cut');
    expect((await open({ body: 'x'.repeat(50_001) }).fetch()).content).to.match(/\]\nx{50000}\n\[cut: 50001 characters in all\]$/);
  });

  it('shows the bare text of a page that was too hard, and no error that means something else', async () => {
    const failing = (error: Error) => open({ type: 'text/html', body: '<p>bare' }, () => Promise.reject(error));
    for (const code of ['workers_timeout', 'workers_busy', 'workers_out_of_memory', 'workers_cancelled', 'workers_failed']) {
      const { fetch, seen, clock } = failing(new SvcError(code, 'x', { status: 503 }));
      expect((await fetch()).content, code).to.match(/could not be laid out.*\]\nbare$/);
      expect([seen.warnings, clock.pending()], code).to.deep.equal([1, 0]);
    }
    for (const error of [new SvcError('workers_unknown', 'x', { status: 404 }), new TypeError('a bug')]) {
      expect(
        await failing(error)
          .fetch()
          .catch((caught: unknown) => caught),
      ).to.equal(error);
    }
    const cancelled = new SvcError('workers_cancelled', 'x', { status: 499 });
    expect(
      await failing(cancelled)
        .fetch(AbortSignal.abort())
        .catch((caught: unknown) => caught),
    ).to.equal(cancelled);
  });

  it('makes bare text of the first million letters alone', async () => {
    const busy = () => Promise.reject(new SvcError('workers_busy', 'x', { status: 503 }));
    expect((await open({ type: 'text/html', body: `<!--${'x'.repeat(999_992)}-->ab` }, busy).fetch()).content).to.match(/\]\na$/);
  });
});

// Nothing here runs a tool: what they would need is never asked for.
const nothing = undefined as never;
const noWorkspaces: Workspaces = { of: () => nothing, made: () => nothing };
const allTools = [...fileTools(noWorkspaces), applyPatchTool(noWorkspaces), shellTool(noWorkspaces, nothing), webFetchTool({ fetch: nothing, workers: nothing, clock: nothing })];

const isTaken = async (name: string, args: object): Promise<boolean> => {
  const tool = allTools.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return (await createValueChecks().check(tool.params, args)).ok;
};

describe('what a tool takes', () => {
  it('has a beginning and an end', async () => {
    const table: ReadonlyArray<readonly [tool: string, taken: object, refused: object]> = [
      ['file_read', { path: 'a' }, { path: '' }],
      ['file_read', { path: 'a'.repeat(1_000) }, { path: 'a'.repeat(1_001) }],
      ['file_read', { path: 'a', offset: 1, limit: 1 }, { path: 'a', offset: 0 }],
      ['file_read', { path: 'a', limit: 1 }, { path: 'a', limit: 0 }],
      ['file_write', { path: 'a', content: 'x'.repeat(4_000_000) }, { path: 'a', content: 'x'.repeat(4_000_001) }],
      ['file_write', { path: 'a', content: '' }, { path: 'a' }],
      ['file_list', {}, { path: '' }],
      ['apply_patch', { patch: 'x' }, { patch: '' }],
      ['apply_patch', { patch: 'x'.repeat(2_000_000) }, { patch: 'x'.repeat(2_000_001) }],
      ['shell_exec', { command: 'x' }, { command: '' }],
      ['shell_exec', { command: 'x'.repeat(100_000) }, { command: 'x'.repeat(100_001) }],
      ['shell_exec', { command: 'x', timeout_seconds: 1 }, { command: 'x', timeout_seconds: 0 }],
      ['shell_exec', { command: 'x', timeout_seconds: 600 }, { command: 'x', timeout_seconds: 601 }],
      ['web_fetch', { url: 'x' }, { url: '' }],
      ['web_fetch', { url: 'x'.repeat(4_000) }, { url: 'x'.repeat(4_001) }],
    ];
    for (const [index, [tool, taken, refused]] of table.entries()) {
      expect(await isTaken(tool, taken), `${tool} ${index}`).to.equal(true);
      expect(await isTaken(tool, refused), `${tool} ${index}`).to.equal(false);
    }
  });
});
