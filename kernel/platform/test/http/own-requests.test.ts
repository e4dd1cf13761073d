/** The requests that a server makes of itself, and the probe that looks for headers on their answers. */
import { bytes, reply, Type } from '@svc/api';
import { expect } from 'chai';
import { lookAtHeaders } from '../../src/http/header-probe.js';
import { type Bench, owner, raw, route, startBench } from './http-fixture.js';

describe('requests of the daemon to itself', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench();
  });
  afterEach(() => bench.stop());

  it('come from another machine, without a key, and leave no connection', async () => {
    const seen: unknown[] = [];
    bench.area('a', {
      routes: [
        route({
          path: '/api/who',
          auth: 'public',
          responses: { 200: Type.Unknown() },
          handler: async ({ ip, headers, actor }) => {
            seen.push([ip, headers.authorization, headers.cookie, actor.role]);
            return reply(200, { ok: true });
          },
        }),
      ],
    });
    const { status, body, headers } = await bench.http.anonymousGet('/api/who');
    expect([status, body, headers['content-type']]).to.deep.equal([200, '{"ok":true}', 'application/json; charset=utf-8']);
    expect(seen).to.deep.equal([['192.0.2.1', undefined, undefined, 'public']]);
    expect(bench.http.stats()).to.include({ connections: 0, inFlight: 0 });
  });

  it('are refused where they need a key', async () => {
    bench.authenticate = ({ headers }) => (headers.authorization === undefined ? undefined : owner);
    bench.area('a', { routes: [route({ path: '/api/x', responses: { 200: Type.Unknown() }, handler: async () => reply(200, 1) })] });
    expect((await bench.http.anonymousGet('/api/x')).status).to.equal(401);
  });

  it('find every security header on an ordinary answer, an error and a page', async () => {
    bench.area('a', {
      routes: [
        route({ path: '/api/health', auth: 'public', responses: { 200: Type.Unknown() }, handler: async () => reply(200, {}) }),
        route({ path: '/', auth: 'public', handler: async () => bytes(200, 'text/html; charset=utf-8', '<!doctype html>') }),
      ],
    });
    expect(await lookAtHeaders(bench.http.anonymousGet)).to.deep.equal({
      state: 'active',
      detail: 'All 10 security headers are on GET /api/health (200), /api/security-probe-of-no-area (404), page / (200).',
    });
  });

  it('name a header that is missing or weaker, and where', async () => {
    bench.area('a', { routes: [route({ path: '/', auth: 'public', handler: async () => bytes(200, 'text/html', '', { 'x-frame-options': 'SAMEORIGIN', 'content-security-policy': '' }) })] });
    expect(await lookAtHeaders(bench.http.anonymousGet)).to.deep.equal({
      state: 'failed',
      detail: 'Headers that are missing or have another value: x-frame-options of GET /, content-security-policy of GET /.',
    });
  });

  it('have headers that what is not HTTP is answered with, too', async () => {
    const answer = await raw(bench.port, 'NONSENSE\r\n\r\n', (seen) => seen.includes('}'));
    expect(answer).to.match(/^HTTP\/1\.1 400 /);
    for (const header of ['x-content-type-options: nosniff', 'x-frame-options: DENY', 'strict-transport-security: ', 'content-security-policy: ', 'x-xss-protection: '])
      expect(answer).to.contain(header);
  });
});
