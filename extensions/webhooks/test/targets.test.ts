/** Targets that hang or answer without an end: the others get their events all the same. */
import { lookup } from 'node:dns/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { standardFactories } from '@svc/daemon';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

const EVENTS = 6;
const BIG_BYTES = 10 * 1024 * 1024;

describe('targets of webhooks', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let server: Server;
  let base = '';
  /** Where the name leads that turns. */
  let leadsTo = '93.184.215.14';
  const received: string[] = [];
  before(async () => {
    server = createServer((req, res) => {
      received.push(req.url ?? '');
      req.resume();
      if (req.url === '/hang') return;
      if (req.url === '/big') res.write(Buffer.alloc(BIG_BYTES));
      res.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const createFetchAdapter: typeof standardFactories.createFetchAdapter = (deps) =>
      standardFactories.createFetchAdapter({ ...deps, resolveHost: async (host) => (host === 'turns.example.com' ? [{ address: leadsTo, family: 4 }] : lookup(host, { all: true })) });
    world = await bootWithModel(undefined, { config: `${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n`, factories: { createFetchAdapter } });
  });
  after(async () => {
    server.closeAllConnections();
    await stopModelKernels();
    server.close();
  });

  const hook = async (path: string): Promise<string> => (await world.http.expect(200, 'POST', '/api/webhooks', { name: path, url: `${base}${path}`, events: ['agent_spawned'] })).body.id;
  const sent = async (id: string): Promise<number> =>
    (await world.http.expect(200, 'GET', `/api/webhooks/${id}/deliveries`)).body.deliveries.filter(({ status }: { status: string }) => status === 'sent').length;

  const until = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };

  it('W5 one that hangs or answers 10 MB keeps nobody waiting', async () => {
    const [hang, big, quick] = [await hook('/hang'), await hook('/big'), await hook('/quick')];
    const began = Date.now();
    for (let count = 0; count < EVENTS; count += 1) await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: `agent ${count}` } });
    while ((await sent(quick)) < EVENTS || (await sent(big)) < EVENTS) {
      expect(Date.now() - began, 'all were sent while one hangs').to.be.lessThan(9_000);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    expect(received.filter((path) => path === '/hang').length, 'places of the one that hangs').to.be.at.most(4);
    expect(await sent(hang)).to.equal(0);
  });

  it('are refused where their name leads inside', async () => {
    for (const url of ['http://localhost/hook', 'http://169.254.169.254/hook', 'http://[::1]/hook', 'http://10.0.0.1/hook'])
      expect((await world.http.expect(400, 'POST', '/api/webhooks', { name: 'inside', url, events: ['all'] })).body.code, url).to.equal('webhooks_unsafe_url');
  });

  it('are not asked once their name leads inside, though it was outside when it was saved', async () => {
    const url = `http://turns.example.com:${new URL(base).port}/turned`;
    const { id } = (await world.http.expect(200, 'POST', '/api/webhooks', { name: 'turns', url, events: ['agent_spawned'] })).body;
    for (const inside of ['10.0.0.5', '169.254.169.254']) {
      leadsTo = inside;
      await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: `while at ${inside}` } });
    }
    const all = await until(async () => {
      const { deliveries } = (await world.http.expect(200, 'GET', `/api/webhooks/${id}/deliveries`)).body;
      return deliveries.length === 2 && deliveries.every(({ status }: { status: string }) => status === 'dead') ? deliveries : undefined;
    });
    for (const { attempts, reason } of all) {
      expect(attempts, 'it is not tried again').to.equal(1);
      expect(reason).to.contain('turns.example.com');
    }
    expect((await world.http.expect(200, 'POST', `/api/webhooks/${id}/test`)).body.status).to.equal('error');
    expect((await world.http.expect(400, 'PUT', `/api/webhooks/${id}`, { url: `${url}/again` })).body.code).to.equal('webhooks_unsafe_url');
    expect(received).not.to.include('/turned');
  });
});
