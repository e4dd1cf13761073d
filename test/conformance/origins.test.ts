/** Which pages may drive the daemon: Host, Origin and CORS. Only origins that the settings allow are answered. */
import { request } from 'node:http';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { refusalOrUpgrade, walk } from './route-walk.js';

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

/** fetch sets Host and Origin by itself: a page that lies about them is played by a plain request. */
const send = (kernel: TestKernel, method: string, path: string, headers: Record<string, string>, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(
      { port: kernel.daemon.port, host: '127.0.0.1', method, path, headers: body === undefined ? headers : { 'content-length': String(Buffer.byteLength(body)), ...headers } },
      (response) => {
        let text = '';
        response.on('data', (data: Buffer) => {
          text += data.toString();
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });

const EVIL = 'https://evil.example';

describe('a page from elsewhere', () => {
  afterEach(stopTestKernels);

  describe('while no API key is set', () => {
    it('is refused on every route by its Origin, also for requests that need no preflight', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      for (const one of walk(kernel).filter((each) => !each.isSocket)) {
        const answer = await send(kernel, one.method, one.path, { origin: EVIL, 'content-type': 'text/plain' }, one.method === 'GET' ? undefined : '{}');
        expect(answer.status, `${one.method} ${one.template}`).to.equal(403);
        expect(JSON.parse(answer.text).code).to.equal('forbidden_origin');
        expect(answer.headers['access-control-allow-origin']).to.equal(undefined);
        expect(answer.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
      }
    });

    it('is refused by a Host that is not this machine (a re-pointed name)', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      for (const host of ['evil.example', `evil.example:${kernel.daemon.port}`, 'localhost.evil.example', '127.0.0.1.evil.example', '169.254.169.254', 'localhost:1@evil.example'])
        expect((await send(kernel, 'GET', '/api/agents', { host })).status, host).to.equal(403);
      for (const host of [`127.0.0.1:${kernel.daemon.port}`, `localhost:${kernel.daemon.port}`, 'LOCALHOST', '[::1]:4545', 'localhost.'])
        expect((await send(kernel, 'GET', '/api/agents', { host })).status, host).to.equal(200);
    });

    it('may not preflight, nor open a WebSocket', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      const preflight = await send(kernel, 'OPTIONS', '/api/agents', { origin: EVIL, 'access-control-request-method': 'POST' });
      expect(preflight.status).to.equal(403);
      const [agent] = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents;
      for (const headers of [{ origin: EVIL }, { host: 'evil.example' }, { origin: 'null' }]) {
        const refused = await refusalOrUpgrade(kernel.url, `/api/agents/${agent.id}/ws`, headers);
        expect(refused.status, JSON.stringify(headers)).to.equal(403);
      }
    });

    it('may not hide: `null`, other ports of other machines and look-alikes are elsewhere too', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      for (const origin of ['null', 'http://192.168.1.5', 'http://localhost.evil.example', 'http://evil.example#localhost', 'file://', 'http://localhost@evil.example', 'chrome-extension://abc'])
        expect((await send(kernel, 'GET', '/api/agents', { origin })).status, origin).to.equal(403);
    });

    it('differs from the daemon’s own page, which is named in the CORS headers', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      const origin = `http://127.0.0.1:${kernel.daemon.port}`;
      const answer = await send(kernel, 'GET', '/api/agents', { origin, host: origin.slice(7) });
      expect(answer.status).to.equal(200);
      expect(answer.headers['access-control-allow-origin']).to.equal(origin);
      expect(answer.headers.vary).to.contain('Origin');
      expect(answer.headers['access-control-allow-credentials']).to.equal(undefined);
    });
  });

  describe('while an API key is set', () => {
    const config = `api_key = "k"\n${OPEN_RATE.replace('[api]', '[api]\ncors_origins = ["https://app.example"]')}`;
    const key = { authorization: 'Bearer k' };

    it('may read answers only from cors_origins', async () => {
      const kernel = await bootTestKernel({ config });
      const good = await send(kernel, 'GET', '/api/agents', { ...key, origin: 'https://app.example' });
      expect(good.status).to.equal(200);
      expect(good.headers['access-control-allow-origin']).to.equal('https://app.example');
      const other = await send(kernel, 'GET', '/api/agents', { ...key, origin: EVIL });
      expect(other.headers['access-control-allow-origin']).to.equal(undefined);
      expect((await send(kernel, 'OPTIONS', '/api/agents', { origin: EVIL, 'access-control-request-method': 'POST' })).status).to.equal(403);
      expect((await send(kernel, 'OPTIONS', '/api/agents', { origin: 'https://app.example', 'access-control-request-method': 'POST' })).status).to.equal(204);
    });

    it('gets nothing without the key, wherever it comes from', async () => {
      const kernel = await bootTestKernel({ config });
      const answer = await send(kernel, 'GET', '/api/agents', { origin: 'https://app.example' });
      expect(answer.status).to.equal(401);
      // The page may read why.
      expect(answer.headers['access-control-allow-origin']).to.equal('https://app.example');
    });

    it('leaves other programs free to call by any name', async () => {
      const kernel = await bootTestKernel({ config });
      expect((await send(kernel, 'GET', '/api/agents', { ...key, host: 'svc.internal:4545' })).status).to.equal(200);
    });
  });
});
