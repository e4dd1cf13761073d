/** SSRF: what is refused and what passes, by fetch and tcp, over redirects and with a name server that lies. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import type { FetchInit } from '@svc/api';
import { expect } from 'chai';
import { decode, encode } from 'dns-packet';
import { canonicalHost, loadMachineCheck } from '../../src/adapters/address-policy.js';
import { createFetchAdapter, type FetchAdapter } from '../../src/adapters/fetch/fetch-adapter.js';
import { publicAddresses, type ResolvedAddress, type ResolveHost } from '../../src/adapters/resolved-address.js';
import { createTcpAdapter, type TcpAdapter } from '../../src/adapters/tcp/tcp-adapter.js';
import { systemClock } from '../../src/clock/clock.js';
import { createLog } from '../../src/log/log.js';
import { NEVER_ALLOWED, NOT_A_HOST, PUBLIC, REFUSED } from './address-corpus.js';

const EVERYTHING = ['0.0.0.0/0', '::/0'];
const clock = systemClock();

/** Answers each question for a name with the next of its answers; the last one stays. */
const openNameServer = async (zone: ReadonlyMap<string, readonly string[][]>): Promise<{ resolveHost: ResolveHost; asked: string[]; close(): void }> => {
  const socket: UdpSocket = createSocket('udp4');
  const asked: string[] = [];
  const turns = new Map<string, number>();
  socket.on('message', (message, { port, address }) => {
    const { id = 0, questions = [] } = decode(message);
    const [question] = questions;
    const { name = '', type = 'A' } = question ?? {};
    const rounds = zone.get(name) ?? [];
    const turn = turns.get(name) ?? 0;
    if (type === 'A') {
      asked.push(name);
      turns.set(name, turn + 1);
    }
    const round = rounds[Math.min(turn, rounds.length - 1)] ?? [];
    const answers = round.filter((data) => (isIP(data) === 6) === (type === 'AAAA')).map((data) => ({ type: type === 'AAAA' ? ('AAAA' as const) : ('A' as const), name, data, ttl: 0 }));
    socket.send(encode({ type: 'response', id, questions, answers }), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  const of = (family: 4 | 6, addresses: readonly string[]): ResolvedAddress[] => addresses.map((address) => ({ address, family }));
  return {
    asked,
    resolveHost: async (host) => {
      if (isIP(host)) return [{ address: host, family: isIP(host) }];
      const six = await resolver.resolve6(host).catch(() => []);
      return [...of(4, await resolver.resolve4(host).catch(() => [])), ...of(6, six)];
    },
    close: () => socket.close(),
  };
};

describe('adapters: addresses of other machines', () => {
  const log = createLog({ dir: null, level: 'error', clock, terminal: false });
  const zone = new Map<string, string[][]>();
  const servers: Server[] = [];
  let names: Awaited<ReturnType<typeof openNameServer>>;
  let fetches: FetchAdapter;
  let tcp: TcpAdapter;
  let allowed: string[];
  let port: number;
  let answer: (req: IncomingMessage, res: ServerResponse, at: string) => void;

  before(async () => {
    names = await openNameServer(zone);
    const config = { get: () => ({ fetch: { ssrf_allowed_hosts: allowed } }) };
    const { resolveHost } = names;
    fetches = createFetchAdapter({ config, secrets: { resolve: async () => undefined }, clock, log: log.logger('fetch'), resolveHost, isModelUrl: () => false });
    tcp = createTcpAdapter({ config, clock, log: log.logger('tcp'), resolveHost });
    // The same port at two addresses of this machine: one that is allowed, and one that is not.
    port = await listen('127.0.0.2', 0);
    await listen('127.0.0.1', port);
  });
  after(async () => {
    names.close();
    await Promise.all([fetches.close(), tcp.close()]);
    for (const server of servers) server.close().closeAllConnections();
  });
  beforeEach(() => {
    allowed = [];
    zone.clear();
    names.asked.length = 0;
    answer = (_req, res, at) => res.end(`here is ${at}`);
  });

  const listen = async (host: string, at: number): Promise<number> => {
    const server = createServer((req, res) => answer(req, res, host)).listen(at, host);
    servers.push(server);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port; // of a server that listens on TCP
  };
  const outcome = async (url: string, init: Partial<FetchInit> = {}): Promise<string> => {
    try {
      return await (await fetches.fetch(url, { purpose: 'tool', ...init })).text();
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  /** The addresses of a URL, without a connection to them. */
  const addressesOf = (text: string, open: readonly string[]): Promise<readonly ResolvedAddress[]> => {
    const url = new URL(text);
    const target = { host: canonicalHost(url.hostname), port: url.port || '80', shown: url.host };
    return publicAddresses(target, { granted: open, allowed: open }, names.resolveHost, AbortSignal.timeout(5_000));
  };

  it('has at least 120 forms, each of them once, and 20 that pass', () => {
    expect(REFUSED.length).to.be.at.least(120);
    expect(new Set(REFUSED.map(([url]) => url)).size).to.equal(REFUSED.length);
    expect(PUBLIC.length).to.be.at.least(20);
  });

  it('refuses each form, and says why', async () => {
    const wrong: string[] = [];
    for (const [url, why] of REFUSED) {
      const text = await outcome(url);
      if (!text.includes(why)) wrong.push(`${url.slice(0, 80)}: ${text.slice(0, 200)}`);
      expect(text.length, url.slice(0, 80)).to.be.below(500);
    }
    expect(wrong).to.deep.equal([]);
    expect(names.asked).to.deep.equal([]);
  });

  it('refuses each form where a public server redirects to it', async () => {
    allowed = ['127.0.0.2'];
    const wrong: string[] = [];
    for (const [at, [url, why]] of REFUSED.entries()) {
      // What is relative to where the redirect comes from leads back there; no server sends a head of 100,000 bytes.
      if (!URL.canParse(url) || /^http:\/?[^/\\]/.test(url) || url.length > 10_000) continue;
      const status = [301, 302, 303, 307, 308][at % 5] ?? 302;
      answer = (req, res) =>
        req.url === '/'
          ? res
              .writeHead(status, {
                location: url
                  .trim()
                  .replace(/[\t\n]/g, '')
                  .replace(/[^\x21-\x7e]/gu, encodeURIComponent),
              })
              .end()
          : res.end('reached');
      const text = await outcome(`http://127.0.0.2:${port}/`);
      if (!text.includes(why) && text !== 'reached') wrong.push(`${url.slice(0, 80)}: ${text.slice(0, 200)}`);
      if (text === 'reached') wrong.push(`${url.slice(0, 80)} was reached`);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('lets public addresses pass in any spelling, at the edges of what is not', async () => {
    for (const url of PUBLIC) expect(await addressesOf(url, []), url).to.have.lengthOf(1);
  });

  it('A3 opens what serves credentials to no setting and no grant', async () => {
    for (const url of NEVER_ALLOWED) {
      const host = canonicalHost(new URL(url).hostname);
      const open = [...EVERYTHING, host, `*.${host.slice(host.indexOf('.') + 1)}`];
      expect(await addressesOf(url, open).catch((error: { code?: string }) => error.code), url).to.equal('fetch_refused_address');
    }
    for (const url of ['http://10.0.0.1/', 'http://[fd12::1]/', 'http://[2002:a00:1::1]/', 'http://127.0.0.1/', 'http://[::1]/']) expect(await addressesOf(url, EVERYTHING), url).to.have.lengthOf(1);
  });

  it('looks at every address of a name, of both families', async () => {
    const bad = ['10.0.0.1', '169.254.169.254', '127.0.0.1', 'fd00::1', '::1', '::ffff:10.0.0.1', '64:ff9b::a9fe:a9fe', 'fe80::1'];
    for (const [at, address] of bad.entries()) {
      zone.set(`mixed${at}.test`, [['93.184.215.14', '8.8.8.8', '2606:4700:4700::1111', address]]);
      expect(await outcome(`http://mixed${at}.test/`), address).to.include('is not allowed');
    }
    zone.set('public.test', [['93.184.215.14', '8.8.8.8', '2606:4700:4700::1111']]);
    expect(await addressesOf('http://public.test/', [])).to.have.lengthOf(3);
    expect(await outcome('http://nobody.test/')).to.include('the name has no address');
  });

  it('a name that leads to another address after the check is connected to the one that was checked', async () => {
    allowed = ['127.0.0.2'];
    zone.set('rebind.test', [['127.0.0.2'], ['127.0.0.1']]);
    expect(await outcome(`http://rebind.test:${port}/`)).to.equal('here is 127.0.0.2');
    expect(names.asked).to.deep.equal(['rebind.test']);
    expect(await outcome(`http://rebind.test:${port}/`)).to.include('this machine');
    zone.set('rebind-tcp.test', [['127.0.0.2'], ['127.0.0.1']]);
    const dialled = await tcp.dial({ id: 'x', hosts: ['*'] }, { host: 'rebind-tcp.test', port, purpose: 'a test' });
    expect(dialled.remote.address).to.equal('127.0.0.2');
    dialled.close();
  });

  it('a name that leads to another address when it is redirected to itself is checked again', async () => {
    allowed = ['127.0.0.2'];
    zone.set('again.test', [['127.0.0.2'], ['127.0.0.1']]);
    answer = (req, res, at) => (req.url === '/' ? res.writeHead(302, { location: '/secret' }).end() : res.end(`reached ${at}`));
    expect(await outcome(`http://again.test:${port}/`)).to.include('this machine');
    expect(names.asked).to.deep.equal(['again.test', 'again.test']);
  });

  it('lets no request name another site than that of its URL', async () => {
    allowed = ['127.0.0.2'];
    answer = (req, res) => res.end(String(req.headers.host));
    expect(await outcome(`http://127.0.0.2:${port}/`, { headers: { Host: 'admin.test' }, allowHosts: ['127.0.0.2'] })).to.include('is set by svc');
    expect(await outcome(`http://127.0.0.2:${port}/`, { allowHosts: ['127.0.0.2'] })).to.equal(`127.0.0.2:${port}`);
  });

  it('refuses each form for tcp too, and text that a resolver would cut off', async () => {
    const dial = (host: string, hosts: readonly string[]): Promise<string> =>
      tcp.dial({ id: 'x', hosts }, { host, port, purpose: 'a test' }).then(
        (connection) => `reached ${connection.remote.address}`,
        (error: { code?: string }) => String(error.code),
      );
    const hosts = REFUSED.flatMap(([url, why]) => (/ublic|machine|cloud/.test(why) ? [new URL(url).hostname] : []));
    for (const host of hosts) expect(await dial(host, ['*']), host).to.equal('fetch_refused_address');
    for (const host of ['0x7f.1', '①②⑦.0.0.1', '2130706433', 'ⓛocalhost', '0:0:0:0:0:0:0:1', '[::1]']) expect(await dial(host, ['*']), host).to.equal('fetch_refused_address');
    allowed = ['127.0.0.2', '*.granted.test'];
    for (const host of NOT_A_HOST) expect(await dial(host, ['*.granted.test', '127.0.0.0/8', '[::1]']), JSON.stringify(host).slice(0, 60)).to.equal('tcp_bad_host');
    expect(await dial('127.0.0.2', ['*'])).to.equal('reached 127.0.0.2');
  });

  it('A5 knows this machine by its addresses, not by their text', async () => {
    const isThisMachine = await loadMachineCheck();
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::1%lo', '::ffff:127.0.0.1', '0.0.0.0', '::', '64:ff9b::7f00:1']) expect(isThisMachine(address), address).to.equal(true);
    expect(isThisMachine('8.8.8.8')).to.equal(false);
  });
});
