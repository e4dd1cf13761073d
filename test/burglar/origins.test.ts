/** Pages that are not the daemon's own, against a daemon without a key: in a real browser, and by what browsers send. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { refusalOrUpgrade } from '../conformance/route-walk.js';
import { useBrowser } from '../page/browser.js';

const NAMED = 'tauri://localhost';

describe('a page of another port', function () {
  this.timeout(60_000);
  let kernel: TestKernel;
  let site: Server;
  let elsewhere: string;
  let own: string;
  const browser = useBrowser();

  before(async () => {
    kernel = await bootTestKernel({ config: OPEN_RATE.replace('[api]', `[api]\ncors_origins = ["${NAMED}", "*"]`) });
    site = createServer((_req, res) => res.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>'));
    await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
    elsewhere = `http://127.0.0.1:${(site.address() as AddressInfo).port}`; // listening, so it has one
    own = new URL(kernel.url).origin;
  });
  after(async () => {
    site.close();
    await stopTestKernels();
  });

  const send = (method: string, path: string, headers: Record<string, string>): Promise<{ status: number; allowed: string | undefined }> =>
    new Promise((resolve, reject) => {
      const asked = request(kernel.url + path, { method, headers }, (res) => {
        res.resume();
        res.once('end', () => resolve({ status: res.statusCode ?? 0, allowed: res.headers['access-control-allow-origin'] }));
      });
      asked.once('error', reject);
      asked.end();
    });

  it('reads nothing, changes nothing and opens no socket, also where the browser sends its request without asking', async () => {
    const { page } = await browser.open(elsewhere);
    const script = `(async () => {
      const tries = [
        () => fetch('${own}/api/agents').then((r) => r.text()),
        () => fetch('${own}/api/agents', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"evil-json"}' }),
        () => fetch('${own}/api/agents', { method: 'POST', mode: 'no-cors', body: '{"name":"evil-plain"}' }),
        () => new Promise((done, fail) => { const s = new WebSocket('${own.replace('http', 'ws')}/api/live'); s.onopen = done; s.onerror = () => fail(new Error('no socket')); }),
        () => new Promise((done, fail) => { const i = new Image(); i.onload = done; i.onerror = () => fail(new Error('no image')); i.src = '${own}/ui/icon.svg'; }),
        () => new Promise((done, fail) => { const s = document.createElement('script'); s.onload = done; s.onerror = () => fail(new Error('no script')); s.src = '${own}/ui/shell.js'; document.head.append(s); }),
      ];
      const ends = [];
      for (const one of tries) ends.push(await one().then((r) => (r && r.type === 'opaque' ? 'opaque' : 'in'), () => 'refused'));
      return ends;
    })()`;
    expect(await page.evaluate(script)).to.deep.equal(['refused', 'refused', 'refused', 'refused', 'refused', 'refused']);
    const names = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents.map(({ name }: { name: string }) => name);
    expect(names).to.deep.equal(['assistant']);
  });

  it('is told apart by scheme, name and port; `*` lets nobody in without a key, and what the operator names comes in', async () => {
    const { port } = new URL(own);
    for (const origin of [elsewhere, `http://localhost:${port}`, `http://[::1]:${port}`, 'http://127.0.0.1', 'null', 'file://', 'https://tauri.localhost', 'https://evil.example', '*'])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect(await send(method, '/api/agents', { origin, 'access-control-request-method': 'POST' }), `${method} from ${origin}`).to.deep.equal({ status: 403, allowed: undefined });
    expect(await send('GET', '/api/agents', { origin: own })).to.deep.equal({ status: 200, allowed: own });
    expect(await send('GET', '/api/agents', { origin: NAMED })).to.deep.equal({ status: 200, allowed: NAMED });
  });

  it('embeds nothing of the daemon; a person may still follow its link', async () => {
    const from = (site: string, mode: string, dest: string) => send('GET', '/api/agents', { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest });
    for (const site of ['cross-site', 'same-site'])
      for (const [mode, dest] of [
        ['no-cors', 'image'],
        ['no-cors', 'script'],
        ['navigate', 'iframe'],
        ['navigate', 'object'],
      ] as const)
        expect((await from(site, mode, dest)).status, `${site} ${mode} ${dest}`).to.equal(403);
    expect((await from('cross-site', 'navigate', 'document')).status).to.equal(200);
    expect((await from('none', 'navigate', 'document')).status).to.equal(200);
    expect((await from('same-origin', 'cors', 'empty')).status).to.equal(200);
    expect((await send('POST', '/api/agents', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' })).status).to.equal(403);
  });

  it('opens no socket by any of these', async () => {
    for (const origin of [elsewhere, 'null', 'file://', '*']) expect((await refusalOrUpgrade(kernel.url, '/api/live', { origin })).status, origin).to.equal(403);
  });
});
