/** Daemons that are connected now, each with its links and agents. Who is not connected is a row. */
import type { Clock } from '@svc/api';
import type { Established } from '../wire/handshake.js';
import type { PeerAgent, ResponseBody, NotificationBody, RequestBody } from '../wire/messages.js';
import type { Address } from '../addresses.js';
import { createMinuteCount, type MinuteCount } from './traffic.js';
import { legible } from './legible.js';

const MAX_AGENTS = 1_000;
const SHORT = 200;
const LONG = 2_000;
const MAX_WORDS = 50;

export interface Link {
  readonly nodeId: string;
  /** Resolves with the answer; rejects where the link ends first. */
  request(body: RequestBody, limitMs: number): Promise<ResponseBody>;
  notify(body: NotificationBody): Promise<void>;
  /** Says that this node shuts down, in this turn. */
  farewell(): void;
  /** When anything last came, by the monotonic clock. */
  lastReceived(): number;
  close(): void;
}

export interface ConnectedNode {
  readonly nodeId: string;
  nodeName: string;
  address: string;
  /** Where it can be dialed: only an address that the operator named. */
  dialed: Address | undefined;
  identity: Established['identity'];
  readonly connectedAt: string;
  lastSeen: string;
  readonly agents: Map<string, PeerAgent>;
  readonly links: Set<Link>;
  readonly traffic: MinuteCount;
  /** It said that it shuts down. */
  isLeaving: boolean;
}

export interface Registry {
  all(): ConnectedNode[];
  get(nodeId: string): ConnectedNode | undefined;
  /** By id, else by name. */
  named(text: string): ConnectedNode[];
  size(): number;
  links(): number;
  join(established: Established, link: Link, address: string, dialed: Address | undefined): ConnectedNode;
  /** True where it was the last link. */
  leave(link: Link): boolean;
}

const trimmed = ({ id, name, description, tags, tools, state }: PeerAgent): PeerAgent => {
  const words = (list: readonly string[]): string[] => list.slice(0, MAX_WORDS).map((word) => legible(word, SHORT));
  return { id: legible(id, SHORT), name: legible(name, SHORT), description: legible(description, LONG), tags: words(tags), tools: words(tools), state: legible(state, SHORT) };
};

/** What others send is cut to a length, and to so many. */
export const setAgent = (node: Pick<ConnectedNode, 'agents'>, agent: PeerAgent): void => {
  const own = trimmed(agent);
  if (node.agents.has(own.id) || node.agents.size < MAX_AGENTS) node.agents.set(own.id, own);
};

export const createRegistry = (clock: Pick<Clock, 'iso' | 'mono'>): Registry => {
  const nodes = new Map<string, ConnectedNode>();
  return {
    all: () => [...nodes.values()],
    get: (nodeId) => nodes.get(nodeId),
    named: (text) => {
      const byId = nodes.get(text);
      return byId ? [byId] : [...nodes.values()].filter(({ nodeName }) => nodeName === text);
    },
    size: () => nodes.size,
    links: () => [...nodes.values()].reduce((sum, { links }) => sum + links.size, 0),
    join: ({ hello, identity }, link, address, dialed) => {
      const now = clock.iso();
      const node: ConnectedNode = nodes.get(hello.node_id) ?? {
        ...{ nodeId: hello.node_id, nodeName: '', address, dialed, identity, connectedAt: now, lastSeen: now, isLeaving: false },
        ...{ agents: new Map(), links: new Set(), traffic: createMinuteCount(() => clock.mono()) },
      };
      node.nodeName = legible(hello.node_name, SHORT);
      node.isLeaving = false;
      node.identity = identity;
      node.lastSeen = now;
      if (dialed) [node.dialed, node.address] = [dialed, address];
      node.agents.clear();
      for (const agent of hello.agents) setAgent(node, agent);
      node.links.add(link);
      nodes.set(node.nodeId, node);
      return node;
    },
    leave: (link) => {
      const node = nodes.get(link.nodeId);
      if (!node?.links.delete(link) || node.links.size > 0) return false;
      nodes.delete(link.nodeId);
      return true;
    },
  };
};
