import { type FetchResponse, SvcError, type ToolOutput, type Workers } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { webFetchTool } from '../src/builtin/web-fetch.js';
import pageText from '../src/workers/page-text.js';
import { plainPage } from '../src/workers/plain-page.js';
import { call } from './tools-kit.js';

const url = 'https://example.org/a/';
const laidOut = (html: string): string => pageText({ html, url, maxChars: 50_000 });

describe('pages', () => {
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const fetchPage = async (html: string, workers: Workers, clock = virtualClock(0), signal = new AbortController().signal): Promise<string> => {
    const response: FetchResponse = {
      status: 200,
      headers: { 'content-type': 'text/html' },
      url,
      body: new Response(html).body as ReadableStream<Uint8Array>,
      each: async (take) => take(Buffer.from(html)),
      text: async () => html,
      json: async () => undefined,
      cancel: () => undefined,
    };
    const tool = webFetchTool({ fetch: async () => response, workers, clock });
    const output = (await tool.run({ url } as never, { ...call('x', {}).call, signal, log: silent })) as ToolOutput; // it always answers with an object
    return output.content;
  };

  it('that nest deeper than any person writes become bare text, whatever way they nest', () => {
    for (const [open, close] of [
      ['<div>', '</div>'],
      ['<div><p>', ''],
      ['<table><tr><td>', ''],
      ['<ul><li>', '</b>'],
      ['<b>', ''],
    ])
      expect(laidOut(`<h1>Head</h1>${(open ?? '').repeat(300_000)}deep${(close ?? '').repeat(300_000)}`), open)
        .to.match(/^\[the page nests \d+ deep/)
        .and.include('Head')
        .and.include('deep');
  });

  it('with more cells than a table can align are read row by row', () => {
    expect(laidOut('<table><tr><td>a</td><td>bbb</td></tr><tr><td>aaa</td><td>b</td></tr></table>')).to.equal('a     bbb\naaa   b');
    expect(laidOut(`<table>${'<tr><td>a</td><td>b</td></tr>'.repeat(20_000)}</table>`)).to.match(/^a b\na b\n/);
    expect(laidOut('<table><tr><td colspan="99999999" rowspan=99999999>a</td><td>b</td></tr></table>')).to.equal('a b');
  });

  it('that people write are laid out, however many lines and lists they leave open', () => {
    const text = laidOut(`<ul>${'<li>point<br>'.repeat(3_000)}</ul>${'<p>words'.repeat(3_000)}<a href="b">link</a>`);
    expect(text).to.include(' * point').and.include('link (https://example.org/a/b)');
  });

  it('are shown bare when no worker could lay them out', async () => {
    for (const code of ['workers_timeout', 'workers_busy', 'workers_out_of_memory'])
      expect(await fetchPage('<p>Hello <b>you</b><script>no</script>', { run: async () => Promise.reject(new SvcError(code, 'x', { status: 503 })) }), code).to.match(
        /could not be laid out.*\]\nHello you$/,
      );
  });

  it('wait for the pages of others only so long, and are bare then', async () => {
    const clock = virtualClock(0);
    let waits = 0;
    const workers: Workers = {
      run: (_worker, _input, options) =>
        new Promise((_resolve, reject) => {
          waits++;
          options?.signal?.addEventListener('abort', () => reject(new SvcError('workers_cancelled', 'x', { status: 499 })));
        }),
    };
    const shown = fetchPage('<p>Hello', workers, clock);
    while (waits === 0) await Promise.resolve();
    await clock.advance(20_000);
    expect(await shown).to.match(/\]\nHello$/);
    const leaving = new AbortController();
    const cancelled = fetchPage('<p>Hello', workers, clock, leaving.signal).catch((error: SvcError) => error.code);
    while (waits === 1) await Promise.resolve();
    leaving.abort();
    expect(await cancelled).to.equal('workers_cancelled');
  });

  it('as bare text have no tags, scripts or comments, and their characters as meant', () => {
    expect(plainPage('<!DOCTYPE html><title>T</title><!-- <p>no --><p>a &lt;b&gt; &amp;amp; &#233;&#x1F600;</p><SCRIPT>if (1<2) x</Script ><i>c</i>d<br>1 < 2', 1_000)).to.equal(
      'T\n\na <b> &amp; é😀\n\ncd\n1 < 2',
    );
    for (const open of ['<!-- never closed', '<script>never closed', '<div never closed']) expect(plainPage(`a${open}`, 100), open).to.equal('a');
    expect(plainPage('x'.repeat(1_000), 100)).to.have.length(100);
  });
});
