/**
 * The network of daemons as this one takes part in it: it listens, dials, and keeps links.
 *
 * N1  It is off until network_enabled and a secret are set, and says why.
 * N2  It dials only addresses that the operator named.
 * N3  Before it goes it says so to all that are connected.
 */
import { hostname } from 'node:os';
import { createTurns, type Disposable, type ExtensionContext, type TcpConnection, type TcpListener } from '@svc/api';
import { type Address, readAddress, showAddress } from '../addresses.js';
import { PeerChanged } from '../contract.js';
import type { NetworkSettings } from '../config.js';
import { ephemeralOf, KEY_BYTES } from '../wire/crypto.js';
import { createFrameBudget, type FrameBudget, type FrameReader, WireFault } from '../wire/frames.js';
import type { Established, HandshakeDeps } from '../wire/handshake.js';
import type { NotificationBody, PeerAgent, RequestBody, ResponseBody } from '../wire/messages.js';
import { createNonces, type Nonces } from '../wire/nonces.js';
import { createAcceptor } from './accept.js';
import { type DialDeps, dialPeer, keepDialing, LINK_IDLE_MS } from './dial.js';
import type { IdentityOf } from './identity.js';
import { type Asked, type LinkDeps, openLink } from './link.js';
import type { Pins } from './pins.js';
import { type ConnectedNode, createRegistry, type Link, type Registry, setAgent } from './registry.js';
import { createMinuteCount, type MinuteCount } from './traffic.js';

const BUDGET_BYTES = 67_108_864;
const MAX_LINKS = 190;
const MAX_LINKS_OF_ONE = 32;
const QUIET_MS = 60_000;
const PONG_MS = 20_000;
const LISTEN_AGAIN_MS = 30_000;

export interface NetworkDeps {
  readonly ctx: Pick<ExtensionContext, 'clock' | 'ids' | 'log' | 'tcp' | 'egress' | 'events'>;
  readonly pins: Pins;
  readonly identity: IdentityOf;
  settings(): NetworkSettings & { readonly enabled: boolean };
  agents(): Promise<readonly PeerAgent[]>;
  answer(nodeId: string, asked: Asked, signal: AbortSignal): Promise<ResponseBody>;
}

export interface NetworkState {
  readonly online: boolean;
  readonly reason: string | undefined;
  readonly listening: string | undefined;
  readonly sent: number;
  readonly received: number;
  readonly lately: number;
}

export interface Network {
  readonly registry: Registry;
  /** Stops, and begins as the settings say now. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  /** In one turn: a generation that ends has no more than that. */
  farewell(): void;
  state(): NetworkState;
  ask(node: ConnectedNode, body: RequestBody, limitMs: number, signal: AbortSignal): Promise<ResponseBody>;
  broadcast(body: NotificationBody): void;
  ping(): Promise<void>;
  nodeName(): string;
}

/** Of one generation. */
interface State {
  readonly deps: NetworkDeps;
  readonly registry: Registry;
  readonly traffic: MinuteCount;
  readonly counts: { sent: number; received: number };
  readonly nonces: Nonces;
  readonly budget: FrameBudget;
  readonly links: LinkDeps;
  session: Session | undefined;
  startFault: string | undefined;
}

/** Of one time that it is on. */
interface Session {
  readonly ending: AbortController;
  readonly opened: Disposable[];
  readonly troubles: Map<string, string>;
  readonly dial: DialDeps;
  listener: TcpListener | undefined;
  listenFault: string | undefined;
}

export const whyOff = ({ enabled, shared_secret: secret }: { readonly enabled: boolean; readonly shared_secret: string }): string | undefined => {
  if (!enabled) return 'The network is off. Set network_enabled = true in config.toml, and shared_secret under [network].';
  return secret.trim() === '' ? 'OFP requires shared_secret. Set [network] shared_secret in config.toml, or the variable SVC_NETWORK_SECRET.' : undefined;
};

export const createNetwork = (deps: NetworkDeps): Network => {
  const state = createState(deps);
  const { registry, counts, traffic } = state;
  const turns = createTurns();
  const inTurn = (work: () => Promise<void>): Promise<void> =>
    turns('network', work).catch((error: unknown) => {
      state.startFault = reasonOf(error);
      deps.ctx.log.warn('The network could not be started.', { cause: error });
    });
  return {
    registry,
    nodeName,
    ask: (node, body, limitMs, signal) => ask(state, node, body, limitMs, signal),
    restart: () =>
      inTurn(async () => {
        await end(state);
        await begin(state);
      }),
    stop: () => inTurn(() => end(state)),
    farewell: () => {
      for (const link of linksOf(registry)) link.farewell();
    },
    state: () => {
      const { session, startFault } = state;
      const troubles = [...(session?.troubles.values() ?? [])];
      const reason = whyOff(deps.settings()) ?? startFault ?? session?.listenFault ?? (troubles.length > 0 ? troubles.join('; ') : undefined);
      const listening = session?.listener && showAddress({ host: session.listener.address, port: session.listener.port });
      return { online: session !== undefined && (listening !== undefined || registry.size() > 0), reason, listening, ...counts, lately: traffic.lately() };
    },
    broadcast: (body) => {
      for (const { links } of registry.all()) {
        const [link] = links;
        link?.notify(body).catch(() => undefined); // a link that ends says so itself
      }
    },
    ping: async () => {
      const before = deps.ctx.clock.mono() - QUIET_MS;
      const quiet = linksOf(registry).filter((link) => link.lastReceived() < before);
      await Promise.all(quiet.map((link) => link.request({ method: 'ping' }, PONG_MS).catch(() => link.close())));
    },
  };
};

const nodeName = (): string => hostname().slice(0, 200) || 'svc';
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const linksOf = (registry: Registry): Link[] => registry.all().flatMap(({ links }) => [...links]);
const changed = ({ deps: { ctx } }: State, id: string): void => ctx.events.publish(PeerChanged, { id });

const createState = (deps: NetworkDeps): State => {
  const { clock, ids, log } = deps.ctx;
  const registry = createRegistry(clock);
  const traffic = createMinuteCount(() => clock.mono());
  const counts = { sent: 0, received: 0 };
  const began = clock.mono();
  const links: LinkDeps = {
    ...{ clock, log },
    uuid: () => ids.uuid(),
    uptimeSecs: () => Math.floor((clock.mono() - began) / 1_000),
    answer: (nodeId, asked, signal) => deps.answer(nodeId, asked, signal),
    notified: (nodeId, body) => {
      const node = registry.get(nodeId);
      if (!node) return;
      if (body.event === 'agent_spawned') setAgent(node, body.agent);
      else if (body.event === 'agent_terminated') node.agents.delete(body.agent_id);
      else node.isLeaving = true;
      changed(state, nodeId);
    },
    passed: (nodeId, direction) => {
      counts[direction] += 1;
      traffic.add();
      const node = registry.get(nodeId);
      node?.traffic.add();
      if (node && direction === 'received') node.lastSeen = clock.iso();
    },
  };
  const nonces = createNonces(() => clock.mono());
  const state: State = { deps, registry, traffic, counts, nonces, links, budget: createFrameBudget(BUDGET_BYTES), session: undefined, startFault: undefined };
  return state;
};

/** Until the link ends. */
const serve = async (state: State, connection: TcpConnection, reader: FrameReader, established: Established, dialed?: Address): Promise<void> => {
  const { deps, links, registry } = state;
  const link = openLink(links, connection, reader, established);
  const address = showAddress(dialed ?? { host: connection.remote.address, port: connection.remote.port });
  const { nodeId } = registry.join(established, link, address, dialed);
  changed(state, nodeId);
  try {
    await Promise.all([link.run(), deps.pins.seen(nodeId, registry.get(nodeId)?.address ?? address)]);
  } finally {
    if (registry.leave(link)) {
      await deps.pins.seen(nodeId, address);
      changed(state, nodeId);
    }
  }
};

const whyFull = ({ deps, registry }: State, nodeId: string): string | undefined => {
  const known = registry.get(nodeId);
  if (!known && registry.size() >= deps.settings().max_peers) return 'Too many peers';
  return registry.links() >= MAX_LINKS || (known?.links.size ?? 0) >= MAX_LINKS_OF_ONE ? 'Too many connections' : undefined;
};

const listen = async (state: State, one: Session, address: Address): Promise<void> => {
  const { clock, log, tcp } = state.deps.ctx;
  const accept = createAcceptor({
    ...{ clock, log, budget: state.budget, handshake: one.dial.handshake },
    full: (nodeId) => whyFull(state, nodeId),
    serve: (connection, reader, established) => serve(state, connection, reader, established),
  });
  while (!one.ending.signal.aborted) {
    try {
      one.listener = await tcp.listen({ ...address, idleTimeoutMs: LINK_IDLE_MS }, accept);
      one.listenFault = undefined;
      log.info('Other daemons can connect.', { address: showAddress({ host: one.listener.address, port: one.listener.port }) });
      if (one.ending.signal.aborted) await one.listener.close();
      return;
    } catch (error) {
      one.listenFault = reasonOf(error);
      log.warn('The network does not listen; it is tried again.', { address: showAddress(address), cause: error });
    }
    await clock.sleep(LISTEN_AGAIN_MS, one.ending.signal).catch(() => undefined);
  }
};

const begin = async (state: State): Promise<void> => {
  const { deps, nonces, budget } = state;
  const { clock, ids, log, tcp } = deps.ctx;
  const settings = deps.settings();
  state.startFault = undefined;
  if (whyOff(settings) !== undefined) return;
  const identity = await deps.identity();
  const handshake: HandshakeDeps = {
    self: { nodeId: identity.nodeId, nodeName: nodeName(), secret: settings.shared_secret, agents: () => deps.agents(), sign: identity.sign },
    nonces,
    uuid: () => ids.uuid(),
    ephemeral: () => ephemeralOf(ids.bytes(KEY_BYTES)),
    pin: async (met) => {
      if (met.nodeId !== identity.nodeId) return deps.pins.pin(met);
      return met.publicKey === identity.publicKey ? undefined : 'it uses the id of this daemon';
    },
  };
  const one: Session = {
    ...{ ending: new AbortController(), opened: [], troubles: new Map(), listener: undefined, listenFault: undefined },
    dial: { clock, log, ids, tcp, budget, handshake },
  };
  state.session = one;
  const [listening] = settings.listen_addresses;
  const own = listening === undefined ? undefined : readAddress(listening);
  if (own) void listen(state, one, own);
  else if (listening !== undefined) one.listenFault = `"${listening}" is no address: its port is over 65535`;
  for (const text of settings.bootstrap_peers) keep(state, one, text, identity.nodeId);
};

/** Connects to an address of the settings, again and again. */
const keep = (state: State, one: Session, text: string, ownId: string): void => {
  const address = readAddress(text);
  if (!address || address.port === 0) {
    one.troubles.set(text, `"${text}" is no address of a peer`);
    return;
  }
  one.opened.push(state.deps.ctx.egress.allow(`tcp://${showAddress(address)}`, 'server'));
  void keepDialing(one.dial, {
    address,
    signal: one.ending.signal,
    serve: async ({ connection, reader, established }) => {
      const nodeId = established.hello.node_id;
      const isOwn = nodeId === ownId;
      if (isOwn || whyFull(state, nodeId) !== undefined) connection.close();
      else await serve(state, connection, reader, established, address).finally(() => connection.close());
      return isOwn;
    },
    trouble: (why) => void (why === undefined ? one.troubles.delete(text) : one.troubles.set(text, why)),
  });
};

const end = async (state: State): Promise<void> => {
  const one = state.session;
  state.session = undefined;
  if (!one) return;
  const links = linksOf(state.registry);
  await Promise.allSettled(links.map((link) => link.notify({ event: 'shutting_down' })));
  one.ending.abort(new WireFault('the network is switched off'));
  for (const link of links) link.close();
  for (const opened of one.opened) opened.dispose();
  await one.listener?.close();
};

const ask = async ({ session, links }: State, node: ConnectedNode, body: RequestBody, limitMs: number, signal: AbortSignal): Promise<ResponseBody> => {
  const [link] = node.links;
  if (!session) throw new WireFault('the network is off');
  // Another connection: the answer to one message does not wait for that of another.
  if (!node.dialed) {
    if (!link) throw new WireFault('it is not connected');
    return link.request(body, limitMs);
  }
  const { connection, reader, established } = await dialPeer(session.dial, node.dialed, node.nodeId, signal);
  const own = openLink(links, connection, reader, established);
  const running = own.run();
  try {
    return await own.request(body, limitMs);
  } finally {
    connection.close();
    await running;
  }
};
