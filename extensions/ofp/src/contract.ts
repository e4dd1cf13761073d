/** Daemons that this one meets: their routes, commands and rows. */
import { defineCapability, defineEvent, defineResource, defineTable, Nullable, OneOf, type Plain, type RowOf, Type } from '@svc/api';
import { ofpErrors } from './errors.js';

export const OfpDiscover = defineCapability('ofp_discover', '1.0.0', { description: 'See agents of other daemons', grant: 'flag' });
export const OfpConnect = defineCapability('ofp_connect', '1.0.0', { description: 'Write to agents of these other daemons, by their node name or id', grant: 'names' });

const text = { kind: 'text', notNull: true } as const;
/** Every daemon that passed the handshake, with the key that its id stays with. */
export const PeerRows = defineTable('peers', '1.0.0', {
  columns: {
    node_id: { kind: 'text', primaryKey: true },
    owner_id: text,
    node_name: text,
    public_key: { kind: 'text' },
    address: { kind: 'text' },
    first_seen: text,
    last_seen: text,
  },
  owner: 'owner_id',
  indexes: [['node_name']],
});
export type PeerRow = RowOf<typeof PeerRows>;

/** A daemon came, went, or has other agents. */
export const PeerChanged = defineEvent('peer.changed', '1.0.0', Type.Object({ id: Type.String() }), { what: 'peer', permission: 'ofp.read', id: 'id' });

const NodeId = Type.String({ minLength: 1, maxLength: 256, description: 'Node id', examples: ['6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e'] });

export const Peer = Type.Object(
  {
    id: Type.String({ description: 'The same as node_id' }),
    node_id: Type.String(),
    node_name: Type.String({ description: 'As it calls itself; agents write to `agent@node_name` or `agent@node_id`' }),
    address: Type.String({ description: 'host:port, where it is reached or connected from; empty if it is not known' }),
    state: OneOf(['connected', 'disconnected']),
    authenticated: Type.Boolean({ description: 'It knows the shared secret' }),
    identity: OneOf(['ed25519', 'none'], { description: '`ed25519`: its id is bound to the key that it first came with' }),
    fingerprint: Nullable(Type.String(), { description: 'SHA-256 of its public key' }),
    agents: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), { description: 'Empty while it is disconnected' }),
    protocol_version: Type.Integer(),
    connected_at: Nullable(Type.String({ format: 'date-time' }), { description: 'null while it is disconnected' }),
    first_seen: Type.String({ format: 'date-time' }),
    last_seen: Type.String({ format: 'date-time' }),
    messages_per_minute: Type.Integer({ description: 'In both directions, within the last 60 seconds' }),
  },
  { 'x-name': 'Peer' },
);
export type Peer = Plain<typeof Peer>;

export const NetworkStatus = Type.Object(
  {
    node_id: Nullable(Type.String(), { description: 'How others know this daemon; null where the vault keeps no keys' }),
    node_name: Type.String(),
    enabled: Type.Boolean({ description: 'network_enabled is true' }),
    online: Type.Boolean({ description: 'It takes connections, or keeps some of its own' }),
    reason: Nullable(Type.String(), { description: 'Why it is not online, and what to do; null where all is well' }),
    listen_address: Nullable(Type.String(), { description: 'host:port' }),
    protocol_version: Type.Literal('ofp/1'),
    identity_fingerprint: Nullable(Type.String()),
    connected_peers: Type.Integer(),
    total_peers: Type.Integer({ description: 'Daemons that were met' }),
    pinned_peers: Type.Integer({ description: 'Those whose id is bound to a key' }),
    agents: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), { description: 'Agents that others see: [network] agents' }),
    messages_sent: Type.Integer({ description: 'Since the start' }),
    messages_received: Type.Integer({ description: 'Since the start' }),
    messages_per_minute: Type.Integer({ description: 'In both directions, within the last 60 seconds' }),
  },
  { 'x-name': 'NetworkStatus' },
);
export type NetworkStatus = Plain<typeof NetworkStatus>;

export const Peers = defineResource({
  area: 'ofp',
  one: 'peer',
  path: '/api/peers',
  key: { name: 'id', schema: NodeId },
  item: Peer,
  operations: {
    list: { summary: 'List other daemons', description: 'Daemons that know the shared secret of [network] and were met, connected or not.' },
    get: { summary: 'Get another daemon', description: 'With its agents while it is connected, and the fingerprint of the key that its id is bound to.' },
  },
  list: { as: ['peers'], search: ['node_name', 'node_id', 'address'], sort: ['node_name', 'last_seen'], filters: ['state'] },
  columns: [
    'node_name',
    'state',
    'address',
    { field: 'messages_per_minute', title: { en: 'Messages a minute', zh: '每分钟消息' } },
    { field: 'last_seen', format: 'ago', title: { en: 'Last seen', zh: '最近出现' } },
  ],
  word: 'peers',
  actions: {
    status: {
      on: 'list',
      id: 'getNetworkStatus',
      method: 'GET',
      path: '/api/network/status',
      summary: 'Get the state of the network of daemons',
      description: 'Answers while the network is off, too: `reason` says why.',
      answer: NetworkStatus,
      command: { output: { kind: 'record' } },
    },
  },
  words: {
    title: { en: 'Peers', zh: '对等节点' },
    one: { en: 'peer', zh: '对等节点' },
    empty: {
      en: 'No other daemon was met yet. Set network_enabled, and shared_secret and bootstrap_peers under [network].',
      zh: '还没有遇到其他守护进程。请设置 network_enabled，以及 [network] 下的 shared_secret 和 bootstrap_peers。',
    },
    fields: {
      node_name: { label: { en: 'Name', zh: '名称' } },
      state: { label: { en: 'State', zh: '状态' }, values: { connected: { en: 'connected', zh: '已连接' }, disconnected: { en: 'disconnected', zh: '未连接' } } },
      address: { label: { en: 'Address', zh: '地址' } },
    },
  },
  missing: ofpErrors.peer_not_found,
});
