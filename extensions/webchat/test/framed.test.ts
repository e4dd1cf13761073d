/** Panels of third parties: what they may do in their frame, and what they try in vain. Each runs real code in a real browser. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineRoute, reply, Type } from '@svc/api';
import type { FrameRoute } from '@svc/api/internal';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { Frame, Page } from 'playwright-core';
import { useBrowser } from '@svc/test/page/browser';
import { logInAs, person } from '@svc/test/page/callers';

const ID = 'acme-garden';
const PANEL = { id: 'garden', title: { en: 'Garden', zh: '花园' }, icon: 'leaf', hub: 'more', permission: 'acme_garden.read' } as const;
/** Shows what its extension answers, and offers the test what a panel's code has. */
const GOOD = `
  import { openFrame } from '@svc/client/frame';
  const panel = await openFrame();
  globalThis.panel = panel;
  const at = document.getElementById('panel');
  const show = () => { at.dataset.now = JSON.stringify(panel.now); };
  panel.onChange(show);
  show();
  panel.onEvent((change) => { at.dataset.heard = (at.dataset.heard ?? '') + JSON.stringify(change); });
  const { beds } = await panel.call('GET', '/api/${ID}/beds');
  at.innerHTML = '<h2>Beds</h2>' + beds.map((bed) => '<p class="bed">' + bed + '</p>').join('');
`;

describe('a panel of a third party', function () {
  this.timeout(90_000);
  const chromium = useBrowser();
  let folder: string;
  let outside: Server;
  let called: string[];
  before(async () => {
    outside = createServer((request, response) => {
      called.push(request.url ?? '');
      response.setHeader('access-control-allow-origin', '*');
      response.end('ok');
    });
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    // A browser opens lines ahead, and sends nothing on them.
    outside.closeAllConnections();
    await new Promise((resolve) => outside.close(resolve));
  });
  beforeEach(async () => {
    called = [];
    folder = await mkdtemp(join(tmpdir(), 'svc-panels-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(folder, { recursive: true, force: true });
  });

  const elsewhere = (): string => `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  const routes = [
    defineRoute({
      id: 'listBeds',
      method: 'GET',
      path: `/api/${ID}/beds`,
      summary: 'Beds',
      auth: 'bearer',
      permission: 'acme_garden.read',
      cost: 0,
      responses: { 200: Type.Object({ beds: Type.Array(Type.String()) }) },
      handler: async () => reply(200, { beds: ['roses', 'leeks'] }),
    }),
    defineRoute({
      id: 'plantBed',
      method: 'POST',
      path: `/api/${ID}/beds/{name}`,
      summary: 'Plant a bed',
      auth: 'bearer',
      permission: 'acme_garden.write',
      cost: 0,
      params: Type.Object({ name: Type.String() }),
      body: Type.Object({ plant: Type.String() }),
      responses: { 200: Type.Object({ planted: Type.String() }) },
      handler: async ({ params, body }) => reply(200, { planted: `${body.plant} in ${params.name}` }),
    }),
  ];
  const boot = async (code: string, { head = '', people = '' } = {}): Promise<TestKernel> => {
    const { outputFiles } = await build({ stdin: { contents: code, resolveDir: process.cwd(), loader: 'js' }, bundle: true, format: 'esm', platform: 'browser', write: false });
    await writeFile(join(folder, 'garden.js'), outputFiles[0]?.contents ?? '');
    await writeFile(join(folder, 'garden.css'), 'h2 { color: rgb(0, 128, 0); } .bed { height: 60px; } /* </style><script>alert(1)</script> */');
    const garden = {
      ...fixtureExtension({
        id: ID,
        manifest: { panels: [PANEL], events: { publishes: ['garden.planted', 'garden.opened'] } },
        contributions: {
          live: {
            'garden.planted': { what: 'agent', permission: 'acme_garden.read', owner: 'ownerId', id: 'id' },
            'garden.opened': { permission: 'acme_garden.read', state: 'state' },
            'run.ended': { permission: 'acme_garden.read', id: 'runId' },
          },
          routes: routes.map(({ method, path }) => `${method} ${path}`),
        },
        definition: { activate: (ctx) => void ctx.routes.add(...routes) },
      }),
      bundled: false,
      panels: { folder, files: { garden: { script: 'garden.js', style: 'garden.css' } } },
    };
    return bootTestKernel({ config: `${head}${OPEN_RATE}[extensions]\nenable = ["${ID}"]\n${people}`, extra: [garden] });
  };
  const frameOf = async (page: Page): Promise<Frame> => {
    const frame = await (await page.locator('iframe.panel-frame').elementHandle())?.contentFrame();
    if (!frame) throw new Error('there is no frame');
    return frame;
  };
  /** Visits the panel, and gives its frame when its module has run so far that it says so by `data-done`. */
  const tried = async (code: string): Promise<{ page: Page; frame: Frame; seen: Record<string, string> }> => {
    const kernel = await boot(`const attempt = async (fn) => { try { return 'did: ' + String(await fn()); } catch (error) { return 'refused: ' + error.name; } };
      const seen = {};
      ${code}
      document.getElementById('panel').textContent = JSON.stringify(seen);
      document.getElementById('panel').dataset.done = 'yes';`);
    const { page } = await chromium.open(`${kernel.url}/#/garden`);
    const frame = await frameOf(page);
    await frame.locator('[data-done]').waitFor();
    return { page, frame, seen: JSON.parse(await frame.locator('#panel').innerText()) };
  };

  it('hears the live events of its own extension, under their own names, and nothing that is not for who looks at it', async () => {
    const kernel = await boot(GOOD, { head: 'api_key = "root"\n', people: person('ada', 'user') });
    const { page } = await chromium.open(`${kernel.url}/#/garden`);
    await logInAs(page, 'ada');
    await page.locator('iframe.panel-frame').waitFor();
    const frame = await frameOf(page);
    await frame.locator('.bed').first().waitFor();
    await page.getByText('Connected', { exact: true }).waitFor();
    await frame.evaluate(() => delete document.getElementById('panel')?.dataset.received);
    kernel.daemon.parts.events.emit('garden.planted', { id: 'foreign', ownerId: 'somebody-else' });
    kernel.daemon.parts.events.emit('garden.planted', { id: 'of-nobody' });
    kernel.daemon.parts.events.emit('run.ended', { runId: 'r1', agentId: 'a', sessionId: 's', ownerId: 'somebody-else', status: 'done' });
    kernel.daemon.parts.events.emit('provider.changed', { name: 'not-of-the-garden' });
    kernel.daemon.parts.events.emit('garden.opened', { state: 'open' });
    await frame.locator('[data-heard*="opened"]').waitFor();
    expect(await frame.locator('#panel').getAttribute('data-heard')).to.equal('{"what":"garden.opened","state":"open"}');
  });

  it('shows what its own extension answers, as the page looks, in its own size, and at its own places', async () => {
    const kernel = await boot(GOOD);
    const { page, mistakes } = await chromium.open(kernel.url);
    await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Garden' }).click();
    await page.getByText(`This panel comes from the third-party extension ${ID}.`, { exact: false }).waitFor();
    const frame = await frameOf(page);
    await frame.getByText('roses').waitFor();
    expect(await frame.locator('h2').evaluate((title) => getComputedStyle(title).color)).to.equal('rgb(0, 128, 0)');
    expect(await frame.evaluate(`panel.call('POST', '/api/${ID}/beds/south', { plant: 'kale' })`)).to.deep.equal({ planted: 'kale in south' });
    await page.waitForFunction(() => (document.querySelector('iframe.panel-frame')?.getBoundingClientRect().height ?? 0) > 120);

    await frame.evaluate("panel.go(['beds', 'roses'])");
    await page.waitForURL(/#\/garden\/beds\/roses$/);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('dark');
    await page.keyboard.press('Enter');
    await frame.locator('[data-now*="dark"][data-now*="roses"]').waitFor();
    expect(mistakes).to.deep.equal([]);
  });

  it('is told by a sentence what it may not ask, and asks nothing that is no route of its extension', async () => {
    const kernel = await boot(GOOD);
    const { page } = await chromium.open(`${kernel.url}/#/garden`);
    const frame = await frameOf(page);
    await frame.getByText('roses').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    for (const [method, path] of [
      ['GET', '/api/agents'],
      ['GET', `/api/${ID}/../agents`],
      ['GET', `/api/${ID}/%2e%2e/agents`],
      ['GET', `/api/${ID}%2fbeds`],
      ['GET', `//127.0.0.1/api/${ID}/beds`],
      ['GET', `${elsewhere()}/api/${ID}/beds`],
      ['DELETE', `/api/${ID}/beds`],
      ['POST', `/api/${ID}/beds/one/two`],
      ['GET', 'api/agents'],
    ]) {
      const why = await frame.evaluate(`panel.call('${method}', ${JSON.stringify(path)}).then(() => 'answered', (error) => error.message)`);
      expect(why, `${method} ${path}`).to.contain("is not a route of this panel's extension");
    }
    expect(asked.filter((path) => path.startsWith('/api/') && path !== `/api/${ID}/beds`)).to.deep.equal([]);
  });

  it('has no route that another extension could answer', async () => {
    const kernel = await boot(GOOD);
    const { body } = await kernel.http.expect(200, 'GET', '/api/panels');
    const { frame } = body.panels.find(({ id }: { id: string }) => id === 'garden');
    expect(frame.routes).to.deep.equal([
      { method: 'GET', path: `/api/${ID}/beds` },
      { method: 'POST', path: `/api/${ID}/beds/{name}` },
    ] satisfies FrameRoute[]);
    for (const panel of body.panels) expect(panel.frame === undefined, panel.id).to.equal(panel.id !== 'garden');
  });

  it('does as much as who looks at it may, and no more', async () => {
    const kernel = await boot(GOOD, { head: 'api_key = "root-key-0"\n', people: person('vera', 'viewer') });
    const { page } = await chromium.open(`${kernel.url}/#/garden`);
    await logInAs(page, 'vera');
    const frame = await frameOf(page);
    await frame.getByText('roses').waitFor();
    expect(await frame.evaluate(`panel.call('POST', '/api/${ID}/beds/south', { plant: 'kale' }).then(() => 'planted', (error) => error.status)`)).to.equal(403);
  });

  it('reaches nothing of the page, keeps nothing, and opens nothing', async () => {
    const { page, seen } = await tried(`
      seen.parent = await attempt(() => parent.document.title);
      seen.top = await attempt(() => { top.location.href = 'about:blank'; return 'gone'; });
      seen.cookie = await attempt(() => document.cookie);
      seen.storage = await attempt(() => localStorage.length);
      seen.database = await attempt(() => new Promise((resolve, reject) => { const opening = indexedDB.open('x'); opening.onsuccess = () => resolve('open'); opening.onerror = () => reject(opening.error); }));
      seen.popup = await attempt(() => { if (open('about:blank') === null) throw new DOMException('', 'Blocked'); });
      seen.origin = self.origin;
      seen.script = await attempt(() => new Promise((resolve, reject) => { const script = document.createElement('script'); script.src = '/ui/shell.js'; script.onload = () => resolve('loaded'); script.onerror = () => reject(new DOMException('', 'Blocked')); document.head.append(script); }));
      seen.eval = await attempt(() => globalThis.eval('1 + 1'));
    `);
    expect(seen).to.deep.equal({
      parent: 'refused: SecurityError',
      top: 'refused: SecurityError',
      cookie: 'refused: SecurityError',
      storage: 'refused: SecurityError',
      database: 'refused: SecurityError',
      popup: 'refused: Blocked',
      origin: 'null',
      script: 'refused: Blocked',
      eval: 'refused: EvalError',
    });
    expect(page.context().pages()).to.have.length(1);
    expect(page.url()).to.contain('#/garden');
  });

  it('calls nobody: not by a request, a socket, a picture, a form, a beacon or another document', async () => {
    const { page, seen } = await tried(`
      const to = '${elsewhere()}';
      seen.fetch = await attempt(() => fetch(to + '/fetch'));
      seen.own = await attempt(() => fetch('/api/agents'));
      seen.socket = await attempt(() => new Promise((resolve, reject) => { const socket = new WebSocket(to.replace('http', 'ws')); socket.onopen = () => resolve('open'); socket.onerror = () => reject(new DOMException('', 'Blocked')); }));
      seen.picture = await attempt(() => new Promise((resolve, reject) => { const picture = new Image(); picture.onload = () => resolve('came'); picture.onerror = () => reject(new DOMException('', 'Blocked')); picture.src = to + '/picture'; }));
      seen.worker = await attempt(() => new Promise((resolve, reject) => { const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); worker.onmessage = () => resolve('runs'); worker.onerror = () => reject(new DOMException('', 'Blocked')); }));
      navigator.sendBeacon(to + '/beacon', 'x');
      const form = document.createElement('form'); form.action = to + '/form'; form.method = 'post'; document.body.append(form); form.submit();
      const style = document.createElement('style'); style.textContent = '@import "' + to + '/style";'; document.head.append(style);
    `);
    expect(seen).to.deep.equal({ fetch: 'refused: TypeError', own: 'refused: TypeError', socket: 'refused: Blocked', picture: 'refused: Blocked', worker: 'refused: Blocked' });
    const frame = await frameOf(page);
    await frame.evaluate((to) => location.assign(`${to}/document`), elsewhere()).catch(() => undefined);
    await page.getByText('replaced its panel with another document', { exact: false }).waitFor();
    expect(called).to.deep.equal([]);
  });

  it('runs and loads nothing but what it was built with, whatever it knows of its own document', async () => {
    const { seen } = await tried(`
      const to = '${elsewhere()}';
      const nonce = document.querySelector('script').nonce || 'x';
      const loaded = (name, more) => new Promise((resolve, reject) => { const one = Object.assign(document.createElement(name), more, { nonce, onload: () => resolve('loaded'), onerror: () => reject(new DOMException('', 'Blocked')) }); document.head.append(one); });
      seen.module = await attempt(() => import(to + '/module.js?what=it-was-shown'));
      seen.nested = await attempt(() => import('data:text/javascript,import "' + to + '/nested.js"'));
      seen.deeper = await attempt(async () => (await import('data:text/javascript,export default (at) => import(at)')).default(to + '/deeper.js'));
      seen.blob = await attempt(() => import(URL.createObjectURL(new Blob(['export default 1'], { type: 'text/javascript' }))));
      seen.script = await attempt(() => loaded('script', { src: to + '/script.js' }));
      seen.own = await attempt(() => loaded('script', { src: '/ui/shell.js' }));
      seen.style = await attempt(() => loaded('link', { rel: 'stylesheet', href: to + '/style.css' }));
      seen.preload = await attempt(() => loaded('link', { rel: 'modulepreload', href: to + '/preload.js' }));
    `);
    expect(seen).to.deep.equal({
      module: 'refused: TypeError',
      nested: 'refused: TypeError',
      deeper: 'refused: TypeError',
      blob: 'refused: TypeError',
      script: 'refused: Blocked',
      own: 'refused: Blocked',
      style: 'refused: Blocked',
      preload: 'refused: Blocked',
    });
    expect(called).to.deep.equal([]);
  });

  it('is closed when it sends without end, and the page goes on', async () => {
    const kernel = await boot(`
      import { openFrame } from '@svc/client/frame';
      const panel = await openFrame();
      setInterval(() => { for (let n = 0; n < 100; n += 1) panel.go(['here']); }, 1);
    `);
    const { page } = await chromium.open(`${kernel.url}/#/garden`);
    await page.getByText('sent too many messages', { exact: false }).waitFor();
    expect(await page.locator('iframe').count()).to.equal(0);
    await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Chat' }).click();
    await page.getByRole('textbox', { name: /^Message to/ }).waitFor();
  });

  it('says a great deal that nobody understands, without harm', async () => {
    const kernel = await boot(`
      import { openFrame } from '@svc/client/frame';
      const original = MessagePort.prototype.postMessage;
      let port;
      MessagePort.prototype.postMessage = function (...said) { port = this; return original.apply(this, said); };
      const panel = await openFrame();
      panel.go(['x']);
      for (const odd of [null, 1, 'text', {}, { type: 'call' }, { type: 'call', id: {}, method: 'GET', path: '/api/agents' }, { type: 'go', path: '../agents' }, { type: 'go', path: [''] }, { type: 'height', px: 1e9 }, { type: 'height', px: 'tall' }, { type: 'height', px: NaN }]) original.call(port, odd);
      parent.postMessage({ svc: 'panel', now: { theme: 'dark' } }, '*');
      document.getElementById('panel').textContent = (await panel.call('GET', '/api/${ID}/beds')).beds.join();
    `);
    const { page, mistakes } = await chromium.open(`${kernel.url}/#/garden`);
    await (await frameOf(page)).getByText('roses,leeks').waitFor();
    expect(page.url()).to.match(/#\/garden\/x$/);
    expect(await page.evaluate(() => document.querySelector('iframe')?.getBoundingClientRect().height)).to.be.within(100, 20_000);
    expect(mistakes).to.deep.equal([]);
  });

  it('is a document of nobody where it is opened by itself, and its code is no file of this daemon', async () => {
    const kernel = await boot(GOOD);
    const { page } = await chromium.open(`${kernel.url}/ui/frames/${ID}/garden`);
    expect(await page.evaluate(() => self.origin)).to.equal('null');
    expect((await fetch(`${kernel.url}/ui/panels/${ID}/garden.js`)).status).to.equal(404);
    expect((await fetch(`${kernel.url}/ui/frames/webchat/chat`)).status, 'a panel that came with the daemon').to.equal(404);
  });

  it('goes with its extension, and comes anew with it', async () => {
    const kernel = await boot(GOOD);
    const { page } = await chromium.open(`${kernel.url}/#/garden`);
    await (await frameOf(page)).getByText('roses').waitFor();
    await kernel.http.expect(200, 'POST', `/api/extensions/${ID}/disable`);
    await page.getByText('Panel not available').waitFor();
    expect((await fetch(`${kernel.url}/ui/frames/${ID}/garden`)).status).to.equal(404);
    await kernel.http.expect(200, 'POST', `/api/extensions/${ID}/enable`);
    await (await frameOf(page)).getByText('roses').waitFor();
  });
});
