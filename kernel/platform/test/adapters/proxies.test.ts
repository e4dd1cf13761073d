/** Which requests leave through a proxy, and what is still checked here. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { FetchInit } from '@svc/api';
import { startProxy, type TestProxy } from '@svc/fixtures/providers/proxy';
import { expect } from 'chai';
import { createFetchAdapter, type FetchAdapter } from '../../src/adapters/fetch/fetch-adapter.js';
import { createProxies } from '../../src/adapters/fetch/proxies.js';
import { systemClock } from '../../src/clock/clock.js';
import { createLog } from '../../src/log/log.js';

const P = 'http://proxy.test:3128';
const way = (url: string, env: Record<string, string>, section?: object): string | undefined => createProxies({ get: () => section }, env).of(new URL(url))?.shown;

describe('adapters: proxies', () => {
  it('X1 takes [proxy] before the environment, small letters before capitals, and all_proxy last', () => {
    expect(way('https://a.test', { HTTPS_PROXY: P })).to.equal('http://proxy.test:3128 (HTTPS_PROXY)');
    expect(way('https://a.test', { HTTP_PROXY: P })).to.equal(undefined);
    expect(way('http://a.test', { HTTP_PROXY: P, http_proxy: 'small.test:80' })).to.equal('http://small.test:80 (http_proxy)');
    expect(way('http://a.test', { ALL_PROXY: 'socks5h://s.test' })).to.equal('socks5://s.test:1080 (ALL_PROXY)');
    expect(way('https://a.test', { HTTPS_PROXY: P }, { https_proxy: 'http://file.test:1' })).to.equal('http://file.test:1 ([proxy] https_proxy)');
    expect(way('https://a.test', { HTTPS_PROXY: P }, { https_proxy: '' })).to.equal(undefined);
  });

  it('X2 reaches this machine and what no_proxy names directly', () => {
    const env = { HTTP_PROXY: P, HTTPS_PROXY: P, NO_PROXY: 'a.test, .b.test *.c.test,d.test:8080,10.0.0.0/8,192.168.1.7,[2001:db8::1]' };
    const direct = ['a.test', 'x.a.test', 'y.b.test', 'z.c.test', 'd.test:8080', '10.9.9.9', '192.168.1.7', '[2001:db8::1]', 'localhost:11434', 'x.localhost', '127.0.0.2', '[::1]'];
    expect(direct.filter((host) => way(`http://${host}/`, env) !== undefined)).to.deep.equal([]);
    const through = ['aa.test', 'd.test', '11.0.0.1', '192.168.1.8', 'a.test.evil'];
    expect(through.filter((host) => way(`http://${host}/`, env) === undefined)).to.deep.equal([]);
    expect(way('https://any.test', { ...env, no_proxy: '*' })).to.equal(undefined);
  });

  it('X4 a login of the environment serves the same proxy in a file, and is never shown', () => {
    const proxies = createProxies({ get: () => ({ https_proxy: P }) }, { HTTP_PROXY: 'http://me:s%40cret@proxy.test:3128' });
    expect(proxies.of(new URL('https://a.test'))).to.deep.equal({ origin: P, username: 'me', password: 's@cret', shown: `${P} ([proxy] https_proxy)` });
    expect(proxies.own('http://other.test:3128')).to.include({ username: '', password: '' });
  });

  describe('a request', () => {
    let server: Server;
    let proxy: TestProxy;
    let adapter: FetchAdapter;
    let env: Record<string, string>;
    beforeEach(async () => {
      server = createServer((_, res) => res.end('by the proxy'));
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      proxy = await startProxy((server.address() as AddressInfo).port);
      env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url };
    });
    afterEach(async () => {
      await adapter.close();
      await proxy.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    });
    const ask = async (url: string, init: Partial<FetchInit> = {}): Promise<string> => {
      const log = createLog({ dir: null, level: 'error', clock: systemClock(), terminal: false });
      adapter = createFetchAdapter({
        ...{ config: { get: () => undefined }, secrets: { resolve: async () => undefined }, clock: systemClock(), log: log.logger('fetch'), env },
        isModelUrl: () => true,
        resolveHost: async (host) => {
          if (isIP(host) === 0) throw new Error('names are looked up by the proxy');
          return [{ address: host, family: isIP(host) }];
        },
      });
      return adapter.fetch(url, { purpose: 'tool', ...init }).then(
        (answer) => answer.text(),
        (error: Error) => error.message,
      );
    };

    for (const purpose of ['tool', 'webhook', 'model'] as const)
      it(`of ${purpose} goes through it, and its name is not looked up here`, async () => {
        expect(await ask('http://name.example/x?y=1', { purpose })).to.equal('by the proxy');
        expect(proxy.asked).to.deep.equal(['GET http://name.example/x?y=1']);
      });

    it('goes through SOCKS 5 by its name', async () => {
      env = { ALL_PROXY: proxy.socksUrl };
      expect(await ask('http://name.example:81/')).to.equal('by the proxy');
      expect(proxy.asked).to.deep.equal(['SOCKS name.example:81']);
    });

    it('of https asks for a tunnel, and a refusal is named with the proxy', async () => {
      proxy.refuse(403);
      expect(await ask('https://name.example/')).to.equal(`name.example through the proxy ${proxy.url} (HTTPS_PROXY) cannot be reached: the proxy refused the connection with 403.`);
      expect(proxy.asked).to.deep.equal(['CONNECT name.example:443']);
    });

    it('X3 to what is refused by name or number is not sent to it either, nor to a host that is not granted', async () => {
      for (const url of ['http://169.254.169.254/', 'http://metadata.google.internal/', 'http://10.0.0.1/', 'http://[fd00::1]/', 'http://0x0a000001/'])
        expect(await ask(url), url).to.contain('is not allowed');
      expect(await ask('http://name.example/', { allowHosts: ['other.example'] })).to.contain('does not cover name.example');
      expect(proxy.asked).to.deep.equal([]);
    });

    it('is not sent where the setting is no address of a proxy', async () => {
      env = { HTTP_PROXY: 'ftp://proxy.test' };
      expect(await ask('http://name.example/')).to.equal('The proxy (HTTP_PROXY) is not an address of a proxy, so nothing was sent.');
    });
  });
});
