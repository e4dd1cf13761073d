/** The promises of a bus (M1 to M4), kept by each that there is; and what the ones between processes promise besides (C1 to C5). */
import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { engines } from '@svc/testing/postgres/engines';
import { natsProgram, type NatsServer, startNats } from '@svc/testing/nats/server';
import { sharedCluster, startCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';
import type { Bus } from '../src/bus/bus.js';
import type { Carrier } from '../src/bus/carrier.js';
import { createCarriedBus } from '../src/bus/carried-bus.js';
import { createLocalBusHub } from '../src/bus/local-bus.js';
import type { Deployment } from '../src/bus/deployment.js';
import { natsCarrier } from '../src/bus/nats-carrier.js';
import { postgresCarrier } from '../src/bus/postgres-carrier.js';

const HELLO_MS = 200;
const silent = { info: () => undefined, warn: () => undefined };

const until = async (holds: () => boolean, what: string): Promise<void> => {
  for (const end = performance.now() + 20_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 5))) if (performance.now() > end) throw new Error(`never: ${what}`);
};

interface Place {
  readonly name: string;
  /** Where a program is missing that it needs. */
  readonly isSkipped?: boolean;
  /** Gives what joins members of one bus. */
  open(): Promise<(name: string, failed: (error: unknown) => void) => Bus>;
}

const freshUrl = async (): Promise<string> => {
  const postgres = engines.find(({ name }) => name === 'PostgreSQL');
  await postgres?.start();
  return (await postgres?.fresh())?.url ?? '';
};

const carriedBy = (carrierOf: (name: string) => Carrier) => (name: string, failed: (error: unknown) => void) =>
  createCarriedBus({ name, failed, log: silent, helloMs: HELLO_MS, carrier: async () => carrierOf(name) });

let nats: NatsServer | undefined;
/** The NATS server of this file. */
const natsHere = async (): Promise<NatsServer> => {
  nats ??= await startNats();
  return nats;
};
after(() => nats?.close());

let deployments = 0;
/** As of a database of its own. */
const freshDeployment = (): Deployment => ({ id: `test${++deployments}`, secret: randomBytes(32) });
const overNats = (name: string, urls: string, deployment: Deployment): Carrier => natsCarrier({ name, urls, credentials: undefined, deployment: async () => deployment });

const places: readonly Place[] = [
  {
    name: 'inside a process',
    open: async () => {
      const hub = createLocalBusHub();
      return hub.join;
    },
  },
  {
    name: 'over PostgreSQL',
    open: async () => {
      const url = await freshUrl();
      return carriedBy(() => postgresCarrier(url));
    },
  },
  {
    name: 'over NATS',
    isSkipped: natsProgram() === undefined,
    open: async () => {
      const [{ url }, deployment] = [await natsHere(), freshDeployment()];
      return carriedBy((name) => overNats(name, url, deployment));
    },
  },
];

for (const place of places)
  (place.isSkipped ? describe.skip : describe)(`the bus ${place.name}`, function () {
    this.timeout(90_000);
    let join: Awaited<ReturnType<Place['open']>>;
    let failures: unknown[];
    let a: Bus;
    let b: Bus;
    let received: string[];

    before(async () => {
      join = await place.open();
    });
    beforeEach(async () => {
      failures = [];
      received = [];
      a = join('a', (error) => failures.push(error));
      b = join('b', (error) => failures.push(error));
      a.subscribe('choices', ({ extension }) => void received.push(`a:${extension}`));
      b.subscribe('choices', ({ extension }) => void received.push(`b:${extension}`));
      await until(() => a.state().peers.includes('b') && b.state().peers.includes('a'), 'both know each other');
    });
    afterEach(async () => {
      await a.close();
      await b.close();
    });

    it('brings a message to every other member in order, and never to its sender', async () => {
      for (const extension of ['one', 'two']) a.publish('choices', { extension });
      b.publish('choices', { extension: 'three' });
      await until(() => received.length >= 3, 'three messages');
      expect(received.filter((text) => text.startsWith('b:'))).to.deep.equal(['b:one', 'b:two']);
      expect(received.filter((text) => text.startsWith('a:'))).to.deep.equal(['a:three']);
    });

    it('keeps channels apart', async () => {
      a.publish('events', { event: 'x', data: 1 });
      a.publish('choices', { extension: 'last' });
      await until(() => received.length > 0, 'the last message');
      expect(received).to.deep.equal(['b:last']);
    });

    it('calls nobody inside the call that published', async () => {
      a.publish('choices', { extension: 'one' });
      expect(received).to.deep.equal([]);
      await until(() => received.length === 1, 'the message');
    });

    it('says what a listener threw, and brings the message to the others', async () => {
      const broken = b.subscribe('choices', () => {
        throw new Error('broken');
      });
      b.subscribe('choices', () => void received.push('b again'));
      a.publish('choices', { extension: 'one' });
      await until(() => received.includes('b again'), 'the message');
      expect(failures.map(String)).to.deep.equal(['Error: broken']);
      await broken.dispose();
      a.publish('choices', { extension: 'two' });
      await until(() => received.includes('b:two'), 'the second message');
      expect(failures).to.have.length(1);
    });

    it('says nothing to a member that left, and forgets it', async () => {
      await b.close();
      await until(() => a.state().peers.length === 0, 'nobody else is there');
      a.publish('choices', { extension: 'one' });
      b.publish('choices', { extension: 'two' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(received).to.deep.equal([]);
    });
  });

it('the bus inside a process knows when nobody else is there', async () => {
  const hub = createLocalBusHub();
  const [a, b] = ['a', 'b'].map((name) => hub.join(name, () => undefined)) as [Bus, Bus];
  expect(a.isAlone()).to.equal(false);
  await b.close();
  expect(a.isAlone()).to.equal(true);
});

/** What a bus between processes needs to be tried over. */
interface Way {
  readonly name: string;
  readonly isSkipped?: boolean;
  open(): Promise<{ carrier(name: string): Carrier; cut(): Promise<unknown>; write(text: string): Promise<unknown> }>;
}

const ways: readonly Way[] = [
  {
    name: 'PostgreSQL',
    open: async () => {
      const url = await freshUrl();
      const { admin } = await sharedCluster();
      return {
        carrier: () => postgresCarrier(url),
        cut: () => admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc bus' AND datname = current_database()", url),
        write: (text) => admin(`SELECT pg_notify('svc_bus', '${text}')`, url),
      };
    },
  },
  {
    name: 'NATS',
    isSkipped: natsProgram() === undefined,
    open: async () => {
      const server = await natsHere();
      const deployment = freshDeployment();
      return {
        carrier: (name) => overNats(name, server.url, deployment),
        cut: async () => {
          await server.stop();
          await server.start();
        },
        write: async (text) => {
          const thirdParty = await connect({ servers: `127.0.0.1:${server.port}` });
          thirdParty.publish(`svc.bus.${deployment.id}`, text);
          await thirdParty.close();
        },
      };
    },
  },
];

for (const { isSkipped, name: wayName, open } of ways)
  (isSkipped ? describe.skip : describe)(`a bus between processes over ${wayName}`, function () {
    this.timeout(90_000);
    let way: Awaited<ReturnType<Way['open']>>;
    let members: Bus[];
    let sent: string[];

    const counting = (carrier: Carrier): Carrier => ({
      ...carrier,
      connect: async (events) => {
        const connection = await carrier.connect(events);
        return {
          ...connection,
          send: (packets) => {
            sent.push(...packets);
            return connection.send(packets);
          },
        };
      },
    });
    const join = (name: string, helloMs = 60_000): Bus => {
      const bus = createCarriedBus({ name, failed: (error) => expect.fail(String(error)), log: silent, helloMs, carrier: async () => counting(way.carrier(name)) });
      members.push(bus);
      return bus;
    };
    const meet = (...buses: readonly Bus[]): Promise<void> => until(() => buses.every((bus) => bus.state().peers.length === buses.length - 1), 'all know each other');

    before(async () => {
      way = await open();
    });
    beforeEach(() => {
      members = [];
      sent = [];
    });
    afterEach(async () => {
      await Promise.all(members.map((bus) => bus.close()));
    });

    it('sends what is published together in one packet, and nothing while nobody was heard of', async () => {
      const a = join('a', HELLO_MS);
      await until(() => a.state().isConnected, 'connected');
      await new Promise((resolve) => setTimeout(resolve, HELLO_MS * 1.5));
      sent.length = 0;
      a.publish('choices', { extension: 'unheard' });
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect(sent.filter((packet) => packet.includes('unheard'))).to.deep.equal([]);

      const b = join('b', HELLO_MS);
      await meet(a, b);
      const received: string[] = [];
      b.subscribe('choices', ({ extension }) => void received.push(extension));
      sent.length = 0;
      for (let n = 0; n < 100; n++) a.publish('choices', { extension: String(n) });
      await until(() => received.length === 100, 'all messages');
      expect(received).to.deep.equal(Array.from({ length: 100 }, (_, n) => String(n)));
      expect(sent.filter((packet) => packet.includes('choices')).length).to.be.lessThan(3);
    });

    it('gathers live events for longer than what somebody waits for, which takes them along', async () => {
      const [a, b] = [join('a'), join('b')];
      await meet(a, b);
      const received: string[] = [];
      b.subscribe('events', ({ event }) => void received.push(event));
      b.subscribe('choices', ({ extension }) => void received.push(extension));
      sent.length = 0;
      const begun = performance.now();
      for (let n = 0; n < 60; n++) {
        a.publish('events', { event: String(n), data: {} });
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await until(() => received.length === 60, 'all events');
      // At most one packet in 50 ms, however slow the machine is.
      expect(sent.length).to.be.at.most(2 + (performance.now() - begun) / 50);

      await new Promise((resolve) => setTimeout(resolve, 60));
      sent.length = 0;
      a.publish('events', { event: 'first', data: {} });
      await until(() => received.includes('first'), 'the first after a pause');
      a.publish('events', { event: 'second', data: {} });
      a.publish('choices', { extension: 'urgent' });
      await until(() => received.includes('urgent'), 'the urgent message');
      expect(received.slice(-2)).to.deep.equal(['second', 'urgent']);
      expect(sent.length).to.equal(2);
    });

    it('brings a message of a megabyte whole, whatever is in it', async () => {
      const [a, b] = [join('a'), join('b')];
      await meet(a, b);
      const received: unknown[] = [];
      b.subscribe('events', ({ data }) => void received.push(data));
      const data = '"\\\u0000é漢🙂'.repeat(60_000);
      a.publish('events', { event: 'x', data });
      a.publish('events', { event: 'x', data: 'after' });
      await until(() => received.length === 2, 'both messages');
      expect(received[0] === data).to.equal(true);
      expect(received[1]).to.equal('after');
    });

    it('tells its users to look at the rows when a message was too large, or a connection was lost, and goes on', async () => {
      const [a, b] = [join('a'), join('b')];
      await meet(a, b);
      let gaps = 0;
      const received: string[] = [];
      b.onGap(() => void gaps++);
      b.subscribe('choices', ({ extension }) => void received.push(extension));
      a.publish('events', { event: 'x', data: 'x'.repeat(3_000_000) });
      a.publish('choices', { extension: 'one' });
      await until(() => gaps === 1 && received.length === 1, 'a gap and the message after it');

      await way.cut();
      await until(() => gaps >= 2 && b.state().isConnected && a.state().isConnected, 'both are back');
      await until(() => {
        a.publish('choices', { extension: 'two' });
        return received.includes('two');
      }, 'a message after that');
    });

    it('ignores what others write to its channel', async () => {
      const [a, b] = [join('a'), join('b')];
      await meet(a, b);
      const received: string[] = [];
      b.subscribe('choices', ({ extension }) => void received.push(extension));
      for (const text of ['', 'hello', '[]', 'null', '{"by":1}', '{"by":"x","n":"y"}', '{"by":"x","n":1,"say":7}', '{"by":"x","n":2,"say":[["choices"]]}', '{"by":"x","n":3,"say":[["choices","{"]]}'])
        await way.write(text);
      a.publish('choices', { extension: 'real' });
      await until(() => received.length > 0, 'the real message');
      expect(received).to.deep.equal(['real']);
    });
  });

describe('a bus between processes', function () {
  this.timeout(90_000);
  let members: Bus[];
  const join = (name: string, carrier: Carrier): Bus => {
    const bus = createCarriedBus({ name, failed: (error) => expect.fail(String(error)), log: silent, helloMs: 60_000, carrier: async () => carrier });
    members.push(bus);
    return bus;
  };
  beforeEach(() => {
    members = [];
  });
  afterEach(async () => {
    await Promise.all(members.map((bus) => bus.close()));
  });

  it('is opened anew when its own hello does not come back', async () => {
    let connections = 0;
    const deaf: Carrier = {
      kind: 'postgres',
      deafness: 'messages do not come back',
      reasonOf: String,
      connect: async () => {
        connections++;
        return { maxBytes: 7_900, send: async () => undefined, close: async () => undefined };
      },
    };
    const bus = createCarriedBus({ name: 'a', failed: () => undefined, log: silent, helloMs: 20, carrier: async () => deaf });
    members.push(bus);
    await until(() => connections >= 2, 'a second connection');
    await until(() => (bus.state().problem ?? '').includes('do not come back'), 'the problem is said');
  });

  it('waits for a server that is away, and names neither user nor password', async () => {
    const own = await startCluster({ maxConnections: 10 });
    try {
      const at = await own.fresh();
      await own.crash();
      const [a, b] = [join('a', postgresCarrier(at)), join('b', postgresCarrier(at))];
      await until(() => a.state().problem !== undefined, 'a problem');
      expect(a.state()).to.deep.include({ carrier: 'postgres', isConnected: false, peers: [], problem: 'nothing answers at this address' });
      a.publish('choices', { extension: 'lost' });
      await own.start();
      await until(() => a.state().peers.length + b.state().peers.length === 2, 'both know each other');
    } finally {
      await Promise.all(members.map((bus) => bus.close()));
      await own.stop();
    }
  });
});
