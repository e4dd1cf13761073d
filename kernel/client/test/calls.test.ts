/** Calls of a real daemon, and what comes where something else answers. Each promise of src/client.ts by its name. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createMailServer } from 'node:net';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { AbortedError, type ClientError, type ClientOptions, ConnectionError, createClient, NotSvcError, SvcError, TimeoutError } from '../src/index.js';
import { nodeFetch } from '../src/node-http.js';

const MANIFEST = 'name = "clerk"\n[model]\nprovider = "default"\nmodel = "default"\n';
const NOBODY = '00000000-0000-4000-8000-000000000000';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const errorOf = (work: Promise<unknown>): Promise<ClientError> =>
  work.then(
    () => Promise.reject(new Error('it was no error')),
    (error: unknown) => error as ClientError, // the test says of which class
  );

for (const [name, transport] of [
  ['the global fetch', undefined],
  ['nodeFetch', nodeFetch],
] as const)
  describe(`a client over ${name}`, () => {
    const clientOf = (baseUrl: string, options: ClientOptions = {}) => createClient({ baseUrl, ...(transport ? { fetch: transport } : {}), ...options });
    afterEach(stopTestKernels);

    describe('and a daemon', () => {
      it('calls operations by their ids, with path, query and body in one place', async () => {
        const { url } = await bootTestKernel();
        const client = clientOf(url);
        const { agent_id: id } = await client.call('spawnAgent', { body: { manifest_toml: MANIFEST } });
        expect(id).to.match(UUID);
        expect((await client.call('getAgent', { id })).name).to.equal('clerk');
        expect((await client.call('listAgents', { q: 'clerk', limit: 1 })).agents.map((agent) => agent.id)).to.deep.equal([id]);
        expect((await client.call('listAgents')).total).to.equal(2);
        expect(await client.call('killAgent', { id })).to.be.an('object');
        const { status, headers, requestId } = await client.answer('getHealth');
        expect([status, requestId]).to.deep.equal([200, headers.get('x-request-id')]);
      });

      it('gives text as text and what is not JSON as it is', async () => {
        const client = clientOf((await bootTestKernel()).url);
        expect(await client.call('getMetrics'))
          .to.be.a('string')
          .that.contains('svc_uptime_seconds');
        expect(await client.call('getWebchat')).to.contain('<!doctype html>');
      });

      it('names that need escaping arrive as they are', async () => {
        const client = clientOf((await bootTestKernel()).url);
        const refused = await errorOf(client.call('getProvider', { name: 'a/b?c=d#é %2e' }));
        expect(refused).to.be.instanceOf(SvcError).and.include({ status: 404 });
        expect(refused.message).to.contain('a/b?c=d#é %2e');
      });

      it('says what the daemon refuses in its own words: 401, 404, 409, 400, 415', async () => {
        const { url } = await bootTestKernel({ config: `api_key = "right-key-of-the-test"\n${OPEN_RATE}` });
        const wrong = await errorOf(clientOf(url, { key: 'wrong' }).call('listAgents'));
        expect(wrong).to.be.instanceOf(SvcError).and.include({ status: 401 });
        expect(wrong.message).to.not.contain('right-key');
        const client = clientOf(url, { key: async () => 'right-key-of-the-test' });
        const missing = await errorOf(client.call('getAgent', { id: NOBODY }));
        expect(missing).to.include({ status: 404, code: 'agent_not_found' });
        expect((missing as SvcError).requestId).to.match(UUID);
        expect(await errorOf(client.call('getAgent', { id: 'x' }))).to.include({ status: 400 });
        await client.call('spawnAgent', { body: { manifest_toml: MANIFEST } }, { idempotencyKey: 'one' });
        const other = await errorOf(client.call('spawnAgent', { body: { manifest_toml: MANIFEST.replace('clerk', 'other') } }, { idempotencyKey: 'one' }));
        expect(other).to.be.instanceOf(SvcError).and.include({ status: 409 });
        expect(await errorOf(client.call('spawnAgent', { body: { manifest_toml: MANIFEST } }, { headers: { 'content-type': 'text/plain' } }))).to.include({ status: 415 });
      });

      it('says after which time a limit is over, and does not wait longer than a moment by itself', async () => {
        const { url } = await bootTestKernel({ config: '[api]\nrate_limit_per_second = 1\n[rate_limit]\n' });
        const client = clientOf(url);
        const limited = (await errorOf(Promise.all(Array.from({ length: 100 }, () => client.call('listProviders'))))) as SvcError;
        expect(limited).to.be.instanceOf(SvcError).and.include({ status: 429 });
        expect(limited.retryAfter).to.be.above(10);
        expect(limited.message).to.contain(String(limited.retryAfter));
      });

      it('spawns one agent with one key, however often it is asked', async () => {
        const { url } = await bootTestKernel();
        const client = clientOf(url);
        const spawn = () => client.call('spawnAgent', { body: { manifest_toml: MANIFEST } }, { idempotencyKey: 'once' });
        const [one, other] = [await spawn(), await spawn()];
        expect(one.agent_id).to.equal(other.agent_id);
      });

      it('refuses by name what it could not keep: a key where none is taken, a path without its part', async () => {
        const client = clientOf('http://127.0.0.1:1');
        const keyed: object = { idempotencyKey: 'x' };
        expect((await errorOf(client.call('getHealth', {}, keyed))).message).to.contain('getHealth takes no Idempotency-Key');
        expect((await errorOf(client.call('getAgent', { id: '' }))).message).to.contain('needs "id"');
        expect((await errorOf(client.call('getAgent', { id: '..' }))).message).to.contain('may not be ".."');
        expect(() => createClient({ baseUrl: 'ftp://x' })).to.throw('http address');
      });
    });

    describe('and somebody else', () => {
      let server: Server;
      let asked: IncomingMessage[];
      afterEach(async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      });
      const answering = async (listener: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> => {
        asked = [];
        server = createServer((req, res) => {
          asked.push(req);
          listener(req, res);
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      };
      const json = { 'content-type': 'application/json', 'x-request-id': NOBODY };

      for (const [what, head, body] of [
        ['a page', { 'content-type': 'text/html' }, '<title>Welcome to nginx</title>'],
        ['JSON without a request id', { 'content-type': 'application/json' }, '{"agents":[]}'],
        ['JSON that is none', json, '{"agents":['],
      ] as const)
        for (const status of [200, 404, 500])
          it(`${what} with ${status} is not taken for the daemon`, async () => {
            const url = await answering((_req, res) => void res.writeHead(status, head).end(body));
            const error = await errorOf(clientOf(url).call('listAgents'));
            expect(error).to.be.instanceOf(NotSvcError).and.include({ status, code: 'client_not_svc' });
            expect(error.message).to.contain(url).and.contain('svc status');
            expect(asked, 'asked once').to.have.length(1);
          });

      it('what speaks no HTTP is not taken for the daemon', async () => {
        await answering(() => undefined);
        const mail = createMailServer((socket) => void socket.on('error', () => undefined).once('data', () => socket.write('220 mail.example.com ESMTP\r\n')));
        await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve));
        const url = `http://127.0.0.1:${(mail.address() as AddressInfo).port}`;
        expect(await errorOf(clientOf(url, { retries: 0 }).call('listAgents'))).to.be.instanceOf(NotSvcError);
        await new Promise((resolve) => mail.close(resolve));
      });

      it('C3: a redirect is not followed: the key stays here', async () => {
        const elsewhere: string[] = [];
        const url = await answering((req, res) => {
          if (req.url === '/stolen') elsewhere.push(String(req.headers.authorization));
          res.writeHead(302, { location: '/stolen' }).end();
        });
        expect(await errorOf(clientOf(url, { key: 'secret' }).call('listAgents'))).to.be.instanceOf(NotSvcError);
        expect(elsewhere).to.deep.equal([]);
      });

      it('C2: says that nobody answers', async () => {
        const url = await answering(() => undefined);
        await new Promise((resolve) => server.close(resolve));
        const error = await errorOf(clientOf(url, { retries: 0 }).call('listAgents'));
        expect(error).to.be.instanceOf(ConnectionError).and.include({ fault: 'refused', code: 'client_refused' });
        expect(error.message).to.contain(`Nothing answers at ${url}`).and.contain('svc start');
      });

      it('C2: says that it took too long, and that the caller took it back', async () => {
        const url = await answering(() => undefined);
        const late = await errorOf(clientOf(url).call('listAgents', {}, { timeoutMs: 20 }));
        expect(late).to.be.instanceOf(TimeoutError).and.include({ code: 'client_timeout', timeoutMs: 20 });
        expect(late.message).to.contain('GET /api/agents').and.contain('0.02 s');
        const abort = new AbortController();
        const taken = errorOf(clientOf(url).call('listAgents', {}, { signal: abort.signal }));
        abort.abort();
        expect(await taken)
          .to.be.instanceOf(AbortedError)
          .and.include({ code: 'client_aborted' });
        expect(await errorOf(clientOf(url).call('listAgents', {}, { signal: AbortSignal.abort() }))).to.be.instanceOf(AbortedError);
      });

      it('C2: an answer that stops in its middle took too long as well', async () => {
        const url = await answering((_req, res) => void res.writeHead(200, json).write('{"agents":['));
        expect(await errorOf(clientOf(url).call('listAgents', {}, { timeoutMs: 50 }))).to.be.instanceOf(TimeoutError);
      });

      for (const head of [{ ...json, 'content-length': '100' }, json])
        it(`C2: an answer that was cut in half is no answer (${'content-length' in head ? 'of a known length' : 'in chunks'})`, async () => {
          const url = await answering((_req, res) => {
            res.writeHead(200, head);
            res.write('{"agents":[]', () => res.destroy());
          });
          const error = await errorOf(clientOf(url, { retries: 0 }).call('listAgents'));
          expect(error).to.be.instanceOf(ConnectionError).and.include({ fault: 'broken' });
        });

      it('C1: a read is asked again after a connection that broke', async () => {
        const url = await answering((req, res) => void (asked.length < 3 ? req.socket.destroy() : res.writeHead(200, json).end('{"agents":[]}')));
        expect(await clientOf(url).call('listAgents')).to.deep.equal({ agents: [] });
        expect(asked).to.have.length(3);
      });

      it('C1: a write under a key is sent again under the same one, and a write without one is not', async () => {
        const url = await answering((req, res) => void (asked.length < 2 ? req.socket.destroy() : res.writeHead(201, json).end('{"agent_id":"x","name":"y"}')));
        const client = clientOf(url);
        await client.call('spawnAgent', { body: { manifest_toml: MANIFEST } });
        const keys = asked.map((req) => req.headers['idempotency-key']);
        expect(keys[0]).to.match(UUID);
        expect(keys).to.deep.equal([keys[0], keys[0]]);
        asked.length = 0;
        expect(await errorOf(client.call('stopAgent', { id: NOBODY }))).to.be.instanceOf(ConnectionError);
        expect(asked).to.have.length(1);
      });

      it('C1: comes back when it was told to, if that is soon, and not where it was told that it is of no use', async () => {
        const refusal = '{"error":"busy","code":"run_too_many"}';
        let headers: Record<string, string> = { 'retry-after': '0' };
        const url = await answering((_req, res) => void (asked.length < 2 ? res.writeHead(503, { ...json, ...headers }).end(refusal) : res.writeHead(200, json).end('{"agents":[]}')));
        expect(await clientOf(url).call('listAgents')).to.deep.equal({ agents: [] });
        headers = { 'retry-after': '0', 'x-should-retry': 'false' };
        asked.length = 0;
        expect(await errorOf(clientOf(url).call('listAgents'))).to.include({ status: 503, code: 'run_too_many', mayRetry: false });
        expect(asked).to.have.length(1);
        headers = { 'retry-after': '60' };
        asked.length = 0;
        expect(await errorOf(clientOf(url).call('listAgents'))).to.include({ retryAfter: 60 });
        expect(asked).to.have.length(1);
      });

      it('C1: stops waiting for another attempt when the caller takes it back', async () => {
        const abort = new AbortController();
        const url = await answering((_req, res) => {
          res.writeHead(503, { ...json, 'retry-after': '9' }).end('{"error":"busy","code":"busy"}', () => setImmediate(() => abort.abort()));
        });
        expect(await errorOf(clientOf(url).call('listAgents', {}, { signal: abort.signal }))).to.be.instanceOf(AbortedError);
      });
    });
  });
