/** NATS, which others may use as well: who is let in, what they can read, and what happens when it is away. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, nkeys } from '@nats-io/transport-node';
import { natsProgram, type NatsServer, startNats } from '@svc/testing/nats/server';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import type { Bus } from '../src/bus/bus.js';
import { createCarriedBus } from '../src/bus/carried-bus.js';
import { type Deployment, deploymentOf } from '../src/bus/deployment.js';
import { natsCarrier } from '../src/bus/nats-carrier.js';
import { createPacketSeal } from '../src/bus/packet-seal.js';
import { systemIds } from '../src/clock/ids.js';

const until = async (holds: () => boolean, what: string): Promise<void> => {
  for (const end = performance.now() + 20_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 5))) if (performance.now() > end) throw new Error(`never: ${what}`);
};

const ids = systemIds();
const ours: Deployment = { id: 'ours', secret: randomBytes(32) };

(natsProgram() === undefined ? describe.skip : describe)('the bus over NATS', function () {
  this.timeout(90_000);
  let members: Bus[];
  let servers: NatsServer[];
  let said: string[];

  const server = async (config?: string): Promise<NatsServer> => {
    const one = await startNats(config);
    servers.push(one);
    return one;
  };
  const member = (name: string, urls: string, { credentials, deployment = ours }: { credentials?: string; deployment?: Deployment } = {}): Bus => {
    const log = (text: string, more?: unknown): void => void said.push(`${text} ${JSON.stringify(more)}`);
    const bus = createCarriedBus({
      name,
      failed: (error) => expect.fail(String(error)),
      log: { info: log, warn: log },
      helloMs: 60_000,
      carrier: async () => natsCarrier({ name, urls, credentials, deployment: async () => deployment }),
    });
    members.push(bus);
    return bus;
  };
  const met = (a: Bus, b: Bus): Promise<void> => until(() => a.state().peers.length === 1 && b.state().peers.length === 1, 'both know each other');

  beforeEach(() => {
    [members, servers, said] = [[], [], []];
  });
  afterEach(async () => {
    await Promise.all(members.map((bus) => bus.close()));
    await Promise.all(servers.map((one) => one.close()));
  });

  it('keeps two deployments apart, and shows nobody what is said', async () => {
    const nats = await server();
    const theirs: Deployment = { id: 'theirs', secret: ours.secret };
    const [a, b] = [member('a', nats.url), member('b', nats.url)];
    const other = member('c', nats.url, { deployment: theirs });
    const thirdParty = await connect({ servers: `127.0.0.1:${nats.port}` });
    const packets: Array<{ subject: string; data: Uint8Array }> = [];
    thirdParty.subscribe('>', { callback: (_, { data, subject }) => void packets.push({ subject, data }) });
    await thirdParty.flush();
    await met(a, b);
    await until(() => other.state().isConnected, 'the other deployment is there');
    const received: string[] = [];
    for (const bus of [b, other]) bus.subscribe('choices', ({ extension }) => void received.push(`${bus.name}: ${extension}`));

    a.publish('choices', { extension: 'a-private-word' });
    await until(() => received.length > 0, 'the message');
    expect(packets.map(({ data }) => Buffer.from(data).toString('latin1')).join('')).not.to.match(/a-private-word|hello|choices/);

    // What was recorded is neither heard again nor heard elsewhere, and what was changed not at all.
    for (const { data } of packets.splice(0)) {
      thirdParty.publish('svc.bus.ours', data);
      thirdParty.publish('svc.bus.theirs', data);
      thirdParty.publish('svc.bus.ours', Buffer.from(data).fill(1, 30, 31));
      thirdParty.publish('svc.bus.ours', data.subarray(0, 20));
    }
    const forged = JSON.stringify({ by: 'x', n: 1, say: [['choices', '{"extension":"forged"}']] });
    thirdParty.publish('svc.bus.ours', forged);
    thirdParty.publish('svc.bus.ours', createPacketSeal(randomBytes(32), 'svc.bus.ours', 'x').seal(forged));
    thirdParty.publish('svc.bus.theirs', createPacketSeal(ours.secret, 'svc.bus.ours', 'x').seal(forged));
    await thirdParty.flush();
    a.publish('choices', { extension: 'last' });
    await until(() => received.length > 1, 'the last message');
    expect(received).to.deep.equal(['b: a-private-word', 'b: last']);
    expect(other.state().peers).to.deep.equal([]);
    await thirdParty.close();
  });

  it('is there from when its server is, and says why not until then', async () => {
    const nats = await server();
    await nats.stop();
    const [a, b] = [member('a', nats.url), member('b', nats.url)];
    await until(() => a.state().problem !== undefined, 'a problem');
    expect(a.state()).to.deep.include({ carrier: 'nats', isConnected: false, problem: 'nothing answers at this address' });
    expect(a.state().lostMs).to.be.greaterThan(0);
    await nats.start();
    await met(a, b);
    expect(a.state()).not.to.have.any.keys('lostMs', 'problem');
    let gaps = 0;
    b.onGap(() => void gaps++);
    await nats.stop();
    await until(() => !b.state().isConnected, 'it is noticed');
    a.publish('choices', { extension: 'lost' });
    await nats.start();
    await until(() => gaps > 0, 'the rows are looked at');
  });

  it('sends large messages in parts that the server takes', async () => {
    const nats = await server('max_payload: 4096');
    const [a, b] = [member('a', nats.url), member('b', nats.url)];
    await met(a, b);
    const received: unknown[] = [];
    b.subscribe('events', ({ data }) => void received.push(data));
    const data = '"\\\u0000é漢🙂'.repeat(20_000);
    a.publish('events', { event: 'x', data });
    await until(() => received.length === 1, 'the message');
    expect(received[0] === data).to.equal(true);
  });

  it('logs in with a password, a token or an NKey, and names none of them', async () => {
    const pair = nkeys.createUser();
    const seed = Buffer.from(pair.getSeed()).toString();
    for (const [config, right, wrong] of [
      ['authorization { user: svc, password: "pass:word-1" }', 'svc:pass:word-1', 'svc:pass:word-2'],
      ['authorization { token: "token-word-1" }', 'token-word-1', 'token-word-2'],
      [`authorization { users: [{ nkey: ${pair.getPublicKey()} }] }`, `${seed}\n`, Buffer.from(nkeys.createUser().getSeed()).toString()],
    ] as const) {
      const nats = await server(config);
      const [a, b] = [member('a', nats.url, { credentials: right }), member('b', nats.url, { credentials: right })];
      await met(a, b);
      for (const credentials of [wrong, undefined]) {
        const c = member('c', nats.url, credentials === undefined ? {} : { credentials });
        await until(() => c.state().problem !== undefined, 'it is refused');
        expect(c.state().problem).to.equal('it refused the credentials; see cluster.bus_credentials_env');
      }
      for (const secret of [right, wrong]) expect(said.join()).not.to.contain(secret.trim());
    }
  });

  it('says when its user may not use the subject', async () => {
    const nats = await server('authorization { users: [{ user: svc, password: x, permissions: { publish: "other.>", subscribe: ">" } }] }');
    const bus = createCarriedBus({
      name: 'a',
      failed: () => undefined,
      log: { info: () => undefined, warn: () => undefined },
      helloMs: 100,
      carrier: async () => natsCarrier({ name: 'a', urls: nats.url, credentials: 'svc:x', deployment: async () => ours }),
    });
    members.push(bus);
    await until(() => /allowed to publish and subscribe to svc\.>/.test(bus.state().problem ?? ''), 'the problem is said');
  });

  it('never sends in the clear where tls is asked for, and checks the certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
    try {
      const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
      const made = spawnSync('openssl', [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        key,
        '-out',
        cert,
        '-subj',
        '/CN=nats',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
      ]);
      expect(made.status).to.equal(0);
      const [open, closed] = [await server(), await server(`tls { cert_file: "${cert}", key_file: "${key}" }`)];
      const at = ({ port }: NatsServer, query = ''): string => `tls://127.0.0.1:${port}${query}`;
      const [a, b] = ['a', 'b'].map((name) => member(name, at(closed, `?sslrootcert=${cert}`))) as [Bus, Bus];
      await met(a, b);
      for (const [url, problem] of [
        [at(open), 'it does not offer TLS, and the URL asks for it'],
        [at(closed), 'its certificate was refused; see sslrootcert in the URL'],
        [at(closed, '?sslrootcert=/none.pem'), 'a file of its certificates does not exist'],
      ] as const) {
        const c = member('c', url);
        await until(() => c.state().problem !== undefined, 'a problem');
        expect(c.state().problem).to.equal(problem);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the secret of the bus', function () {
  this.timeout(90_000);

  it('is one for all daemons on a database, waits for its table, and a copy of the database has another name', async () => {
    const cluster = await sharedCluster();
    const url = await cluster.fresh();
    const asked = Promise.all([deploymentOf(url, ids), deploymentOf(url, ids)]);
    await cluster.admin('CREATE TABLE kernel__bus (id text PRIMARY KEY, secret text NOT NULL)', url);
    const [first, second] = await asked;
    expect(second).to.deep.equal(first);
    expect(first.secret).to.have.length(32);
    const copy = await deploymentOf(await cluster.fresh(url), ids);
    expect(copy.secret).to.deep.equal(first.secret);
    expect(copy.id).not.to.equal(first.id);
  });
});
