/** What a call costs, whoever it turns out to be for, and by what its caller is counted. */
import { request } from 'node:http';
import { defineSocket, reply, Type } from '@svc/api';
import { expect } from 'chai';
import { clientAddress } from '../../src/http/callers/client-address.js';
import { networkOf } from '../../src/adapters/ip-range.js';
import { answerOf, type Bench, owner, route, startBench } from './http-fixture.js';

const PAGE = 'https://desk.example';
const PREFLIGHT = { origin: PAGE, 'access-control-request-method': 'POST' };
const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };

describe('callers', () => {
  let bench: Bench;
  let charged: Array<[routeId: string, cost: number]>;
  beforeEach(async () => {
    bench = await startBench();
    charged = [];
    bench.cors = [PAGE];
    bench.admit = ({ routeId, cost }) => void charged.push([routeId, cost]);
    bench.area('a', {
      routes: [route({ id: 'x', path: '/api/x/{id}', cost: 7, responses: { 200: Type.Unknown() }, handler: async () => reply(200, {}) })],
      sockets: [defineSocket({ id: 's', path: '/api/s', summary: 'A socket', auth: 'bearer', permission: 'test.read', cost: 5, upgrade: async () => undefined, message: () => undefined })],
    });
  });
  afterEach(() => bench.stop());

  const upgrade = (path: string, headers: Record<string, string> = {}) => answerOf(request({ host: '127.0.0.1', port: bench.port, path, agent: false, headers: { ...UPGRADE, ...headers } }));

  it('are charged once for each call: what its row costs, or one token where it came to no row', async () => {
    const calls: Array<[string, () => Promise<{ status: number }>, number, [string, number]]> = [
      ['a route', () => bench.get('/api/x/1'), 200, ['x', 7]],
      ['a path that nobody has', () => bench.get('/api/y'), 404, ['none', 1]],
      ['a method that the path does not take', () => bench.send('DELETE', '/api/x/1'), 405, ['none', 1]],
      ['a method that nobody knows', () => bench.send('PURGE', '/'), 404, ['none', 1]],
      ['a path that cannot be read', () => bench.get('/api/x/%E0%A4%A'), 400, ['none', 1]],
      ['a version that is not there', () => bench.get('/api/x/1', { accept: 'application/vnd.svc.v9+json' }), 406, ['none', 1]],
      ['a preflight of a page that is named', () => bench.send('OPTIONS', '/api/x/1', undefined, PREFLIGHT), 204, ['none', 1]],
      ['OPTIONS alone', () => bench.send('OPTIONS', '/api/x/1'), 405, ['none', 1]],
      ['a page from elsewhere', () => bench.get('/api/x/1', { origin: 'https://evil.example' }), 403, ['none', 1]],
      ['a name that is not ours', () => bench.get('/api/x/1', { host: 'evil.example' }), 403, ['none', 1]],
      ['a socket without an upgrade', () => bench.get('/api/s'), 426, ['s', 5]],
      ['an upgrade where no socket is', () => upgrade('/api/y'), 404, ['none', 1]],
      ['an upgrade from a page elsewhere', () => upgrade('/api/s', { origin: 'https://evil.example' }), 403, ['none', 1]],
    ];
    for (const [what, call, status, cost] of calls) {
      charged = [];
      expect((await call()).status, what).to.equal(status);
      expect(charged, what).to.deep.equal([cost]);
    }
  });

  it('who have used up their limit get 429 instead of 404, 405, a preflight or a refused upgrade', async () => {
    bench.admit = () => ({ deny: 'Rate limit exceeded', code: 'rate_limited', headers: { 'retry-after': '7' } });
    const answers = [await bench.get('/api/y'), await bench.send('DELETE', '/api/x/1'), await bench.send('OPTIONS', '/api/x/1', undefined, PREFLIGHT), await upgrade('/api/y')];
    for (const answer of answers) expect([answer.status, answer.json.code, answer.headers['retry-after']]).to.deep.equal([429, 'rate_limited', '7']);
  });

  it('of a route alone are asked before everybody else, and its handler has the bytes of the body', async () => {
    const asked: string[] = [];
    bench.authenticate = () => void asked.push('all');
    bench.area('b', {
      routes: [
        route({
          id: 'own',
          method: 'POST',
          path: '/api/own',
          body: Type.Object({ n: Type.Number() }),
          keepsBytes: true,
          callers: ({ headers }) => (headers['x-token'] === 'right' ? owner : undefined),
          responses: { 200: Type.Unknown() },
          handler: async ({ actor, bytes }) => reply(200, { actor: actor.id, text: Buffer.from(bytes).toString() }),
        }),
      ],
    });
    const { status, json } = await bench.send('POST', '/api/own', { n: 1 }, { 'x-token': 'right' });
    expect([status, json, asked]).to.deep.equal([200, { actor: 'owner', text: '{"n":1}' }, []]);
    expect((await bench.send('POST', '/api/own', { n: 1 })).status).to.equal(401);
    expect(asked).to.deep.equal(['all']);
    const open = route({ id: 'open', path: '/api/open', auth: 'public', callers: () => owner, responses: { 200: Type.Unknown() }, handler: async () => reply(200, {}) });
    expect(() => bench.area('c', { routes: [open] })).to.throw('names callers of its own and is open to everybody');
  });

  it('are known by the page that sends them, as far as a browser says it', async () => {
    bench.apiKey = 'k';
    bench.cors = ['*', 'https://desk.example'];
    const pages: string[] = [];
    bench.admit = ({ page }) => void pages.push(page);
    const own = `http://127.0.0.1:${bench.port}`;
    const cases: Array<[Record<string, string>, string]> = [
      [{}, 'none'],
      [{ 'sec-fetch-site': 'none' }, 'none'],
      [{ origin: own }, 'own'],
      [{ 'sec-fetch-site': 'same-origin' }, 'own'],
      // Behind a proxy that calls the daemon by another name.
      [{ origin: 'https://svc.example', 'sec-fetch-site': 'same-origin' }, 'own'],
      [{ origin: 'https://desk.example' }, 'named'],
      [{ origin: 'https://desk.example', 'sec-fetch-site': 'cross-site' }, 'named'],
      [{ origin: 'https://evil.example' }, 'other'],
      [{ origin: 'null' }, 'other'],
      [{ origin: '' }, 'other'],
      [{ origin: 'http://127.0.0.1:1' }, 'other'],
      [{ origin: own, 'sec-fetch-site': 'same-site' }, 'other'],
      [{ origin: own, 'sec-fetch-site': 'none' }, 'other'],
      [{ 'sec-fetch-site': 'cross-site' }, 'other'],
    ];
    for (const [headers, page] of cases) {
      await bench.get('/api/x/1', headers);
      expect(pages.pop(), JSON.stringify(headers)).to.equal(page);
    }
    await upgrade('/api/y', { origin: own });
    expect(pages.pop()).to.equal('own');
  });

  it('came over https where a trusted proxy says so, and then no page of http is the daemon’s own', async () => {
    bench.apiKey = 'k';
    const seen: Array<[isSecure: boolean, page: string]> = [];
    bench.admit = ({ isSecure, page }) => void seen.push([isSecure, page]);
    const ask = async (proto: string, scheme = 'https') => {
      await bench.get('/api/x/1', { 'x-forwarded-proto': proto, origin: `${scheme}://127.0.0.1:${bench.port}` });
      return seen.pop();
    };
    expect(await ask('https')).to.deep.equal([false, 'own']);
    bench.trusted = ['127.0.0.0/8'];
    expect(await ask('https')).to.deep.equal([true, 'own']);
    expect(await ask('HTTPS')).to.deep.equal([true, 'own']);
    expect(await ask('https', 'http')).to.deep.equal([true, 'other']);
    // The nearest proxy's word is the last; what stands before it anybody can write.
    for (const proto of ['http', 'https, http', '']) expect((await ask(proto))?.[0], proto).to.equal(false);
  });

  it('of one IPv6 /64 count as one, those of two do not; an IPv4 address counts for itself', async () => {
    bench.trusted = ['127.0.0.0/8'];
    const networks: string[] = [];
    const opened: number[] = [];
    bench.admit = ({ network }) => void networks.push(network);
    bench.upgrade = ({ openFromIp }) => void opened.push(openFromIp);
    for (const ip of ['2001:db8::1', '2001:db8::ffff:1', '2001:db8:0:1::1', '192.0.2.1', '::ffff:192.0.2.1']) await bench.get('/api/x/1', { 'x-forwarded-for': ip });
    expect(networks).to.deep.equal(['2001:db8:0:0::/64', '2001:db8:0:0::/64', '2001:db8:0:1::/64', '192.0.2.1', '192.0.2.1']);
    const sockets = await Promise.all(['2001:db8::1', '2001:db8::2'].map((ip) => opens(bench.port, ip)));
    await opens(bench.port, '2001:db8::3').then((socket) => sockets.push(socket));
    await opens(bench.port, '2001:db8:0:1::1').then((socket) => sockets.push(socket));
    for (const socket of sockets) socket.destroy();
    expect(opened.slice(2)).to.deep.equal([2, 0]);
  });

  it('have the address that the nearest untrusted hop has, through addresses, ranges and mapped ones', () => {
    const seen = (peer: string, forwarded: string | undefined, trusted: readonly string[]) =>
      // All that is read of a request.
      clientAddress({ socket: { remoteAddress: peer }, headers: { 'x-forwarded-for': forwarded } } as unknown as Parameters<typeof clientAddress>[0], trusted);
    const rows: Array<[peer: string, forwarded: string | undefined, trusted: string[], ip: string]> = [
      ['192.0.2.9', '203.0.113.5', [], '192.0.2.9'],
      ['192.0.2.9', '203.0.113.5', ['10.0.0.0/8'], '192.0.2.9'],
      ['10.1.2.3', '203.0.113.5', ['10.0.0.0/8'], '203.0.113.5'],
      ['::ffff:10.1.2.3', '203.0.113.5', ['10.0.0.0/8'], '203.0.113.5'],
      ['::ffff:a01:203', '203.0.113.5', ['::ffff:10.0.0.0/104'], '203.0.113.5'],
      ['10.1.2.3', '1.1.1.1, 203.0.113.5, 10.9.9.9', ['10.0.0.0/8'], '203.0.113.5'],
      ['fd00::1', '2001:db8::7', ['fd00::/8'], '2001:db8::7'],
      ['fd00::1', '[2001:db8::7]:443', ['fd00::/8'], '2001:db8::7'],
      ['10.1.2.3', '203.0.113.5:51234', ['10.1.2.3'], '203.0.113.5'],
      ['10.1.2.3', '203.0.113.5, unknown', ['10.1.2.3'], '10.1.2.3'],
      ['10.1.2.3', undefined, ['10.1.2.3'], '10.1.2.3'],
      ['10.1.2.3', '10.1.2.4', ['10.0.0.0/8'], '10.1.2.4'],
    ];
    for (const [peer, forwarded, trusted, ip] of rows) expect(seen(peer, forwarded, trusted), `${peer} ${forwarded} ${trusted}`).to.equal(ip);
    expect(networkOf('fe80::1%eth0')).to.equal('fe80:0:0:0::/64');
  });
});

const opens = (port: number, ip: string): Promise<{ destroy(): void }> =>
  new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path: '/api/s', agent: false, headers: { ...UPGRADE, 'x-forwarded-for': ip } });
    req.once('upgrade', (_res, socket) => resolve(socket));
    req.once('error', reject);
    req.end();
  });
