/** A panel from elsewhere, in a real browser, against the page around it. What else it tries in vain: extensions/webchat/test/framed.test.ts. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useBrowser, WHOLE } from '../page/browser.js';

const ID = 'acme-garden';

describe('a panel from elsewhere', function () {
  this.timeout(120_000);
  const chromium = useBrowser(WHOLE);
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-panels-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });

  const boot = async (id: string, code: string): Promise<TestKernel> => {
    await writeFile(join(folder, 'garden.js'), code);
    const panel = { id, title: { en: 'Garden', zh: '花园' }, icon: 'leaf', hub: 'chat', order: 0, permission: 'acme_garden.read' } as const;
    const garden = {
      ...fixtureExtension({ id: ID, manifest: { panels: [panel] }, definition: { activate: () => undefined } }),
      bundled: false,
      panels: { folder, files: { [id]: { script: 'garden.js' } } },
    };
    return bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n`, extra: [garden] });
  };

  /** An empty page that notes what the panel prints, so that nothing of it is missed once the panel is shown. */
  const openPage = async (): Promise<{ page: Page; printed: Set<string>; until(enough: () => boolean): Promise<void> }> => {
    const { page } = await chromium.open('about:blank');
    const printed = new Set<string>();
    page.on('console', (message) => printed.add(message.text()));
    const until = async (enough: () => boolean): Promise<void> => {
      while (!enough()) await sleep(50);
    };
    return { page, printed, until };
  };

  it('takes no place of a panel of svc by its id', async () => {
    const kernel = await boot('overview', 'document.title = "mine";');
    const { panels } = (await kernel.http.expect(200, 'GET', '/api/panels')).body;
    expect(panels.filter(({ id }: { id: string }) => id === 'overview').map(({ extension }: { extension: string }) => extension)).to.deep.equal(['system']);
  });

  for (const [what, code] of [
    [
      'sends to the page itself, past its channel, without end',
      'let sent = 0; const more = () => { for (let n = 0; n < 200; n++) parent.postMessage({ svc: "panel", type: "go", path: ["x"], n }, "*"); sent += 200; if (sent === 4_000) console.log("begun"); setTimeout(more, 0); }; more();',
    ],
    ['takes its processor for itself', 'setTimeout(() => { console.log("begun"); for (;;); }, 500);'],
    [
      'registers a worker, frames the page, and asks for what a person must allow',
      'try { void navigator.serviceWorker.register("/ui/shell.js"); } catch {} const f = document.createElement("iframe"); f.src = "/"; document.body.append(f); void Notification?.requestPermission?.(); try { void document.body.requestFullscreen(); } catch {} setTimeout(() => console.log("begun"), 500);',
    ],
  ] as const)
    it(`${what}: the page goes on`, async () => {
      const kernel = await boot('garden', code);
      const { page, printed, until } = await openPage();
      await page.goto(`${kernel.url}/#/garden`);
      await page.locator('iframe.panel-frame').waitFor();
      await until(() => printed.has('begun'));
      expect(await page.evaluate('location.hash')).to.equal('#/garden');
      await page.evaluate('location.hash = "#/chat"');
      await page.locator('iframe.panel-frame').waitFor({ state: 'detached', timeout: 60_000 });
      expect(await page.evaluate('navigator.serviceWorker.getRegistrations().then((all) => all.length)')).to.equal(0);
      expect(page.context().pages()).to.have.length(1);
      const inner = page.frames().map((frame) => frame.url());
      expect(inner.filter((url) => url === `${kernel.url}/`)).to.deep.equal([]);
    });

  it('leads nowhere: not the page, not a window, not itself, and reads nothing around it', async () => {
    const outside: string[] = [];
    const site = createServer((req, res) => {
      outside.push(req.url ?? '');
      res.setHeader('content-type', 'text/html').end('<title>elsewhere</title>');
    });
    await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
    const evil = `http://127.0.0.1:${(site.address() as AddressInfo).port}`; // listening, so it has one
    const tries = [
      `top.location = '${evil}/top'`,
      `parent.location.href = '${evil}/parent'`,
      `top.location = 'javascript:document.title="taken"'`,
      `window.open('${evil}/window')`,
      `window.open('/', '_top')`,
      `const a = document.createElement('a'); a.href = '${evil}/link'; a.target = '_top'; document.body.append(a); a.click()`,
      `const b = document.createElement('a'); b.href = 'data:text/html,x'; b.download = 'x.html'; document.body.append(b); b.click()`,
      `const f = document.createElement('form'); f.action = '${evil}/form'; f.method = 'post'; document.body.append(f); f.submit()`,
      `const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = '${evil}/style'; document.head.append(l)`,
      `const p = document.createElement('link'); p.rel = 'prefetch'; p.href = '${evil}/prefetch'; document.head.append(p)`,
      `new Image().src = '${evil}/image'`,
      `navigator.sendBeacon('${evil}/beacon', 'x')`,
      `new EventSource('${evil}/events')`,
      `new WebSocket('${evil.replace('http', 'ws')}/socket')`,
      `new Worker('data:text/javascript,fetch("${evil}/worker")')`,
      `import('${evil}/module.js')`,
      `parent.document.title = 'taken'`,
      `parent.localStorage.setItem('taken', '1')`,
      `localStorage.setItem('taken', '1')`,
      `document.cookie = 'taken=1'`,
      `indexedDB.open('taken')`,
      `caches.open('taken')`,
      `fetch('/api/agents')`,
      `parent.postMessage({ svc: 'panel', type: 'call', id: 1, method: 'DELETE', path: '/api/agents' }, '*')`,
      `const s = document.createElement('script'); s.src = '/ui/shell.js'; document.head.append(s)`,
      `eval('parent.document.title = "taken"')`,
      `document.documentElement.requestPointerLock()`,
      // From here on the frame is another document, or none.
      `const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url=${evil}/meta'; document.head.append(m)`,
      `location = '${evil}/self'`,
    ];
    try {
      const kernel = await boot('garden', tries.map((one, index) => `setTimeout(() => { console.log('try ${index}'); ${one} }, ${500 + index * 20});`).join('\n'));
      const { page, printed, until } = await openPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
      await page.goto(`${kernel.url}/#/garden`);
      await page.locator('iframe.panel-frame').waitFor();
      // After the try before the last, the frame may be another document that prints nothing.
      await until(() => tries.slice(0, -1).every((_, index) => printed.has(`try ${index}`)));
      // What got through would arrive now.
      await sleep(1_500);
      expect(outside).to.deep.equal([]);
      expect(asked.filter((one) => one.startsWith('DELETE'))).to.deep.equal([]);
      expect(new URL(page.url()).origin).to.equal(new URL(kernel.url).origin);
      expect(await page.title()).to.not.equal('taken');
      expect(page.context().pages()).to.have.length(1);
      expect(await page.evaluate('[localStorage.getItem("taken"), document.cookie, location.hash]')).to.deep.equal([null, '', '#/garden']);
    } finally {
      site.closeAllConnections();
      site.close();
    }
  });
});
