import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FetchInit } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { loadAddressPolicy, refusedName } from '../../src/adapters/address-policy.js';
import { createFetchAdapter, type FetchAdapter } from '../../src/adapters/fetch/fetch-adapter.js';
import { createModelOrigins, type ModelOrigins } from '../../src/adapters/fetch/model-origins.js';
import type { ResolvedAddress } from '../../src/adapters/resolved-address.js';
import { createSecrets } from '../../src/adapters/secrets-adapter.js';
import { createLog } from '../../src/log/log.js';

const CANARY = 'sk-canary-8842-never-seen';
const REFUSED = [
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://017700000001/',
  'http://127.1/',
  'http://0.0.0.0/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[::7f00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://100.100.100.200/',
  'http://100.64.0.1/',
  'http://192.0.0.192/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[2002:7f00:1::]/',
  'http://[200:1234::1]/', // where private meshes live (Yggdrasil)
  'http://[1::1]/',
  'http://[4000::1]/',
  'http://168.63.129.16/',
  'http://[::ffff:168.63.129.16]/',
  'http://[fd20:ce::254]/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://x.localhost/',
  'http://ip6-localhost/',
  'http://metadata.google.internal/',
  'http://metadata.aws.internal./',
  'http://instance-data/',
];

describe('adapters: fetch', () => {
  const log = createLog({ dir: null, level: 'info', clock: systemClock(), terminal: false });
  const secrets = createSecrets({ env: { PROVIDER_KEY: `${CANARY}\n` }, ask: async () => undefined, change: async () => undefined, log });
  let server: Server;
  let port: number;
  let handler: (req: IncomingMessage, res: ServerResponse) => void;
  let allowed: string[];
  let limits: { max_response_bytes?: number; timeout_secs?: number };
  let names: Record<string, readonly ResolvedAddress[]>;
  let lookups: string[];
  let adapter: FetchAdapter;
  let origins: ModelOrigins;

  beforeEach(async () => {
    allowed = ['127.0.0.1'];
    limits = {};
    names = {};
    lookups = [];
    origins = createModelOrigins();
    server = createServer((req, res) => handler(req, res));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    port = (server.address() as AddressInfo).port;
    origins.allow(`http://127.0.0.1:${port}`);
    const resolveHost = async (host: string): Promise<readonly ResolvedAddress[]> => {
      lookups.push(host);
      return names[host] ?? [{ address: host, family: host.includes(':') ? 6 : 4 }];
    };
    adapter = createFetchAdapter({
      config: { get: () => ({ fetch: { ssrf_allowed_hosts: allowed, ...limits } }) },
      secrets,
      clock: systemClock(),
      log: log.logger('fetch'),
      resolveHost,
      isModelUrl: (url) => origins.covers(url),
    });
  });
  afterEach(async () => {
    await adapter.close();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  const errorOf = async (url: string, init: Partial<FetchInit> = {}): Promise<{ code: string; message: string }> => {
    try {
      const answer = await adapter.fetch(url, { purpose: 'tool', ...init });
      await answer.text();
      return { code: 'none', message: String(answer.status) };
    } catch (error) {
      return error as { code: string; message: string };
    }
  };

  it('refuses every private, local, reserved and metadata address for tools, in any spelling', async () => {
    allowed = [];
    const passed: string[] = [];
    for (const url of REFUSED) if ((await errorOf(url)).code !== 'fetch_refused_address') passed.push(url);
    expect(passed).to.deep.equal([]);
  });

  it('lets public addresses pass and never lets configuration open metadata', async () => {
    const refusedAddress = await loadAddressPolicy();
    for (const address of ['93.184.215.14', '8.8.8.8', '2606:4700:4700::1111', '64:ff9b::808:808']) expect(refusedAddress('x.test', address, []), address).to.equal(undefined);
    expect(refusedAddress('x.test', '10.0.0.9', ['10.0.0.0/8'])).to.equal(undefined);
    expect(refusedAddress('a.intra.test', '10.0.0.9', ['*.intra.test'])).to.equal(undefined);
    expect(refusedAddress('169.254.169.254', '169.254.169.254', ['169.254.0.0/16', '169.254.169.254'])).to.be.a('string');
    expect(refusedName('metadata.google.internal', ['metadata.google.internal', '*.internal'])).to.be.a('string');
  });

  it('A4 opens a private address to an agent that was granted it literally, and to no other', async () => {
    allowed = [];
    handler = (_req, res) => res.end('inside');
    names['nas.test'] = names['evil.test'] = [{ address: '127.0.0.1', family: 4 }];
    const here = `http://127.0.0.1:${port}/`;
    const code = async (url: string, ...allowHosts: string[]): Promise<string> => (await errorOf(url, { allowHosts })).code;
    for (const grant of ['127.0.0.1:*', '127.0.0.1', `127.0.0.1:${port}`, '127.0.0.0/8', '[::ffff:127.0.0.1]:*']) expect(await code(here, grant), grant).to.equal('none');
    for (const grant of ['*', '*:*', '127.*', '*.0.0.1']) expect(await code(here, grant), grant).to.equal('fetch_refused_address');
    for (const grant of ['127.0.0.1:1', '127.0.0.2', '10.0.0.0/8', 'localhost', '[::1]']) expect(await code(here, grant), grant).to.equal('fetch_host_not_allowed');
    expect(await code(`http://nas.test:${port}/`, 'nas.test')).to.equal('fetch_refused_address');
    expect(await code(`http://nas.test:${port}/`, 'nas.test', '127.0.0.0/30')).to.equal('none');
    expect(await code(`http://evil.test:${port}/`, '*', '127.0.0.1:1')).to.equal('fetch_refused_address');
    names.localhost = [{ address: '127.0.0.1', family: 4 }];
    expect(await code(`http://localhost:${port}/`, 'localhost:*')).to.equal('none');
    expect(await code(`http://localhost:${port}/`, '*')).to.equal('fetch_refused_address');
    names.localhost = [{ address: '10.0.0.1', family: 4 }];
    expect(await code(`http://localhost:${port}/`, 'localhost')).to.equal('fetch_refused_address');
  });

  it('A3 opens cloud metadata to nobody, however literally it is granted', async () => {
    for (const [url, grant] of [
      ['http://169.254.169.254/', '169.254.169.254'],
      ['http://169.254.169.254/', '169.254.0.0/16'],
      ['http://[fd00:ec2::254]/', 'fd00:ec2::254'],
      ['http://168.63.129.16/', '168.63.129.16'],
      ['http://[fd20:ce::254]/', 'fd20:ce::254'],
      ['http://100.100.100.200/', '100.64.0.0/10'],
      ['http://metadata.google.internal/', 'metadata.google.internal'],
    ] as const)
      expect((await errorOf(url, { allowHosts: [grant] })).code, grant).to.equal('fetch_refused_address');
  });

  it('A5 reaches the daemon for no model either, also where its port goes without saying', async () => {
    const adapter = createFetchAdapter({ config: { get: () => ({}) }, secrets, clock: systemClock(), log: log.logger('fetch'), isModelUrl: () => true, ownPort: () => 80 });
    for (const url of ['http://127.0.0.1/v1/models', 'http://localhost:80/v1/models']) {
      const refused = await adapter.fetch(url, { purpose: 'model' }).catch((error: unknown) => error);
      expect(refused, url).to.include({ code: 'fetch_refused_address' });
    }
    await adapter.close();
  });

  it('N4 lets a caller ask for less than [web.fetch] allows, never for more', async () => {
    limits = { max_response_bytes: 100, timeout_secs: 1 };
    handler = (_req, res) => res.end('x'.repeat(101));
    expect(await errorOf(`http://127.0.0.1:${port}/`, { maxBytes: 1_000_000 })).to.include({ code: 'fetch_too_large' });
    handler = (_req, res) => res.end('x'.repeat(50));
    expect((await errorOf(`http://127.0.0.1:${port}/`, { maxBytes: 10 })).code).to.equal('fetch_too_large');
    expect((await errorOf(`http://127.0.0.1:${port}/`)).code).to.equal('none');
    handler = () => undefined;
    expect((await errorOf(`http://127.0.0.1:${port}/`, { timeoutMs: 60_000 })).message).to.match(/1000 ms/);
  });

  it('refuses a name of which one address is private', async () => {
    allowed = [];
    names['mixed.test'] = [
      { address: '93.184.215.14', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ];
    expect(await errorOf('http://mixed.test/')).to.include({ code: 'fetch_refused_address' });
  });

  it('connects to the address that was checked and asks for it once', async () => {
    handler = (req, res) => res.end(`host ${req.headers.host}`);
    names['pinned.test'] = [{ address: '127.0.0.1', family: 4 }];
    const answer = await adapter.fetch(`http://pinned.test:${port}/`, { purpose: 'tool' });
    expect(await answer.text()).to.equal(`host pinned.test:${port}`);
    expect(lookups).to.deep.equal(['pinned.test']);
  });

  it('validates each redirect again, and follows no more than ten', async () => {
    handler = (req, res) => res.writeHead(302, { location: req.url === '/inside' ? 'http://10.0.0.1/admin' : '/again' }).end();
    expect(await errorOf(`http://127.0.0.1:${port}/inside`)).to.include({ code: 'fetch_refused_address' });
    expect(await errorOf(`http://127.0.0.1:${port}/loop`)).to.include({ code: 'fetch_too_many_redirects' });
    handler = (_req, res) => res.writeHead(302, { location: 'file:///etc/passwd' }).end();
    expect(await errorOf(`http://127.0.0.1:${port}/`)).to.include({ code: 'fetch_bad_url' });
  });

  it('follows no redirect where it is told so, wherever that leads', async () => {
    handler = (_req, res) => res.writeHead(302, { location: 'http://10.0.0.1/admin' }).end('look there');
    const answer = await adapter.fetch(`http://127.0.0.1:${port}/`, { purpose: 'tool', redirect: 'manual' });
    expect([answer.status, answer.headers.location, await answer.text()]).to.deep.equal([302, 'http://10.0.0.1/admin', 'look there']);
  });

  it('takes no credentials to another origin and makes a GET of a redirected POST', async () => {
    names['other.test'] = [{ address: '127.0.0.1', family: 4 }];
    allowed.push('other.test');
    handler = (req, res) => (req.url === '/' ? res.writeHead(302, { location: `http://other.test:${port}/there` }).end() : res.end(JSON.stringify({ method: req.method, ...req.headers })));
    const answer = await adapter.fetch(`http://127.0.0.1:${port}/`, {
      purpose: 'tool',
      method: 'POST',
      body: 'x',
      headers: { Authorization: 'Bearer own', 'X-Kept': '1' },
      secretHeaders: { 'x-secret': { secret: 'p', env: 'PROVIDER_KEY' } },
    });
    const seen = (await answer.json()) as Record<string, string>;
    expect(seen).to.include({ method: 'GET', 'x-kept': '1' }).and.not.have.any.keys('authorization', 'x-secret', 'content-length');
    expect(answer.url).to.equal(`http://other.test:${port}/there`);
  });

  it('honours the hosts that an agent may reach', async () => {
    handler = (_req, res) => res.end('ok');
    const url = `http://127.0.0.1:${port}/`;
    expect(await errorOf(url, { allowHosts: ['api.test'] })).to.include({ code: 'fetch_host_not_allowed' });
    for (const host of ['*', '127.0.0.1', `127.0.0.1:${port}`]) expect(await errorOf(url, { allowHosts: [host] }), host).to.include({ code: 'none' });
  });

  it('caps the body, announced or not', async () => {
    handler = (req, res) => (req.url === '/said' ? res.writeHead(200, { 'content-length': 5_000 }).end('x'.repeat(5_000)) : res.write('x'.repeat(3_000), () => res.end('x'.repeat(2_000))));
    for (const path of ['said', 'unsaid']) expect(await errorOf(`http://127.0.0.1:${port}/${path}`, { maxBytes: 4_000 })).to.include({ code: 'fetch_too_large' });
  });

  it('ends an exchange that takes too long, that pauses, or whose caller goes away', async () => {
    handler = (req, res) => {
      if (req.url === '/silent') return;
      res.write('first');
    };
    const url = `http://127.0.0.1:${port}`;
    expect(await errorOf(`${url}/silent`, { timeoutMs: 50 })).to.include({ code: 'fetch_timeout' });
    expect(await errorOf(`${url}/pause`, { purpose: 'model', idleTimeoutMs: 50 })).to.include({ code: 'fetch_timeout' });
    const controller = new AbortController();
    const waiting = errorOf(`${url}/pause`, { purpose: 'model', signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    expect(await waiting).to.include({ code: 'fetch_cancelled' });
  });

  it('reports half a body as an error', async () => {
    handler = (_req, res) => {
      res.writeHead(200, { 'content-length': 100 });
      res.write('half', () => res.destroy());
    };
    expect(await errorOf(`http://127.0.0.1:${port}/`, { purpose: 'model' })).to.include({ code: 'fetch_network' });
  });

  it('streams for models over kept connections, wherever the operator points', async () => {
    allowed = [];
    const sockets = new Set<unknown>();
    handler = (req, res) => {
      sockets.add(req.socket);
      res.write('a');
      setTimeout(() => res.end('b'), 20);
    };
    for (let round = 0; round < 6; round++) {
      const answer = await adapter.fetch(`http://127.0.0.1:${port}/v1`, { purpose: 'model', method: 'POST', body: '{}' });
      const pieces: string[] = [];
      for await (const chunk of answer.body) pieces.push(Buffer.from(chunk).toString());
      expect(pieces).to.deep.equal(['a', 'b']);
    }
    // The first socket is free again one turn after its answer has been read, so a second may open once.
    expect(sockets.size).to.be.at.most(2);
    expect(lookups).to.deep.equal([]);
  });

  it('N1 reaches for a model what was allowed, by origin and path, and nothing else', async () => {
    const asked: string[] = [];
    handler = (req, res) => {
      asked.push(req.url ?? '');
      res.end('ok');
    };
    origins = createModelOrigins();
    const base = `http://127.0.0.1:${port}`;
    const codes = async (): Promise<string[]> =>
      Promise.all(['/v1', '/v1/models', '/v1x', '/', '/v1/../admin', '/v1/%2e%2e/admin'].map(async (path) => (await errorOf(base + path, { purpose: 'model' })).code));
    const no = 'fetch_not_a_model';
    expect(await codes()).to.deep.equal([no, no, no, no, no, no]);
    const entry = origins.allow(`${base}/v1/`);
    expect(await codes()).to.deep.equal(['none', 'none', no, no, no, no]);
    const again = origins.allow(`${base}/v1`);
    await entry.dispose();
    await entry.dispose();
    expect((await codes())[0]).to.equal('none');
    await again.dispose();
    expect((await codes())[0]).to.equal(no);
    expect(asked.sort()).to.deep.equal(['/v1', '/v1', '/v1/models', '/v1/models']);
    for (const url of ['https://other.test/v1', 'http://169.254.169.254/latest', `http://localhost:${port}/v1`]) expect((await errorOf(url, { purpose: 'model' })).code, url).to.equal(no);
    for (const bad of ['nonsense', 'ftp://x.test', 'http://u:p@x.test/'])
      expect(() => origins.allow(bad), bad)
        .to.throw()
        .with.property('code', 'fetch_bad_url');
    expect(() => Array.from({ length: 3_000 }, (_, at) => origins.allow(`http://x${at}.test`)))
      .to.throw()
      .with.property('code', 'fetch_too_many_origins');
  });

  describe('a body that comes piece by piece', () => {
    async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
      for (const text of texts) yield Buffer.from(text);
    }
    const sent = async (req: IncomingMessage): Promise<string> => {
      let text = '';
      for await (const piece of req) text += piece;
      return text;
    };

    it('is sent as it comes, and no faster than it is taken', async () => {
      let made = 0;
      async function* source(): AsyncGenerator<Uint8Array> {
        for (; made < 1_000; made++) yield Buffer.alloc(64 * 1_024);
      }
      let madeThen = 0;
      handler = (req, res) => {
        setTimeout(() => {
          madeThen = made;
          let bytes = 0;
          req.on('data', (piece: Buffer) => (bytes += piece.length));
          req.on('end', () => res.end(String(bytes)));
        }, 200);
      };
      const answer = await adapter.fetch(`http://127.0.0.1:${port}/`, { purpose: 'tool', method: 'PUT', body: source() });
      expect(await answer.text()).to.equal(String(1_000 * 64 * 1_024));
      expect(madeThen).to.be.greaterThan(0).and.lessThan(1_000);
    });

    it('is not silence while it goes', async () => {
      handler = async (req, res) => res.end(await sent(req));
      async function* slowly(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < 8; at++) {
          await new Promise((resolve) => setTimeout(resolve, 40));
          yield Buffer.from('x');
        }
      }
      const answer = await adapter.fetch(`http://127.0.0.1:${port}/`, { purpose: 'tool', method: 'PUT', body: slowly(), idleTimeoutMs: 200 });
      expect(await answer.text()).to.equal('xxxxxxxx');
    });

    it('is sent once: an answer that would have it sent again is an error, one that ends in a GET is followed', async () => {
      handler = async (req, res) => {
        const body = await sent(req);
        if (req.url === '/end') res.end(`${req.method} ${body}`);
        else res.writeHead(Number(req.url?.slice(1)), { location: '/end' }).end();
      };
      const url = `http://127.0.0.1:${port}`;
      for (const status of [307, 308]) expect((await errorOf(`${url}/${status}`, { method: 'POST', body: parts('a', 'b') })).code, String(status)).to.equal('fetch_bad_request');
      expect((await errorOf(`${url}/302`, { method: 'PUT', body: parts('a') })).code).to.equal('fetch_bad_request');
      expect(await (await adapter.fetch(`${url}/303`, { purpose: 'tool', method: 'POST', body: parts('a') })).text()).to.equal('GET ');
    });

    it('is ended when the exchange fails, and its own failure is told', async () => {
      let isEnded = false;
      async function* source(): AsyncGenerator<Uint8Array> {
        try {
          for (;;) yield Buffer.alloc(64 * 1_024);
        } finally {
          isEnded = true;
        }
      }
      handler = (req) => req.socket.destroy();
      expect((await errorOf(`http://127.0.0.1:${port}/`, { method: 'POST', body: source() })).code).to.equal('fetch_network');
      for (let tries = 0; tries < 200 && !isEnded; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(isEnded).to.equal(true);
      handler = async (req, res) => res.end(await sent(req).catch(() => ''));
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('half');
        throw new Error('the file is gone');
      }
      const failure = await adapter.fetch(`http://127.0.0.1:${port}/`, { purpose: 'tool', method: 'POST', body: broken() }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
    });
  });

  it('lets go of a body that nobody reads', async () => {
    let closed: () => void;
    const gone = new Promise<void>((done) => (closed = done));
    handler = (req, res) => {
      req.socket.once('close', () => closed());
      res.write('x');
    };
    (await adapter.fetch(`http://127.0.0.1:${port}/`, { purpose: 'tool' })).cancel();
    await gone;
  });

  it('puts secrets into headers and into nothing else', async () => {
    let got: string | undefined;
    handler = (req, res) => {
      got = req.headers.authorization;
      res.destroy();
    };
    const init: FetchInit = { purpose: 'model', secretHeaders: { authorization: { secret: 'provider.x', env: 'PROVIDER_KEY', prefix: 'Bearer ' } } };
    const error = await adapter.fetch(`http://127.0.0.1:${port}/?key=${CANARY}`, init).catch((reason: unknown) => reason as Error);
    expect(got).to.equal(`Bearer ${CANARY}`);
    log.logger('test').error('failed', { error, url: `http://x/?k=${CANARY}` });
    expect((error as Error).message + JSON.stringify(log.recent(50))).not.to.contain('canary');
    expect(await errorOf(`http://127.0.0.1:${port}/`, { secretHeaders: { authorization: { secret: 'provider.y', env: 'NO_SUCH' } } })).to.include({ code: 'secret_missing' });
  });

  it('names a dead host, a bad address and a bad header without repeating them', async () => {
    await new Promise((done) => server.close(done));
    expect((await errorOf(`http://127.0.0.1:${port}/?token=abc`)).message).to.equal(`127.0.0.1:${port} cannot be reached: the connection was refused.`);
    for (const url of ['ftp://x.test/', 'http://user:pw@x.test/', 'nonsense']) expect(await errorOf(url), url).to.include({ code: 'fetch_bad_url' });
    expect(await errorOf(`http://127.0.0.1:${port}/`, { headers: { 'x-a': 'b\r\nc: d' } })).to.include({ code: 'fetch_bad_request' });
  });
});
