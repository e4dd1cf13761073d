/** Peers and the network, as people see them. */
import { type Actor, seesAll } from '@svc/api';
import type { NetworkStatus, Peer, PeerRow } from './contract.js';
import type { Inbound } from './inbound.js';
import type { IdentityOf } from './node/identity.js';
import type { Network } from './node/network.js';
import type { Pins } from './node/pins.js';
import type { Registry } from './node/registry.js';
import { fingerprintOf } from './wire/crypto.js';
import { PROTOCOL_VERSION } from './wire/messages.js';

export const peerOf = (row: PeerRow, registry: Pick<Registry, 'get'>): Peer => {
  const live = registry.get(row.node_id);
  const isConnected = live !== undefined && !live.isLeaving;
  return {
    id: row.node_id,
    node_id: row.node_id,
    node_name: live?.nodeName ?? row.node_name,
    address: live?.address ?? row.address ?? '',
    state: isConnected ? 'connected' : 'disconnected',
    authenticated: true,
    identity: row.public_key === null ? 'none' : 'ed25519',
    fingerprint: row.public_key === null ? null : fingerprintOf(row.public_key),
    agents: isConnected ? [...live.agents.values()].map(({ id, name }) => ({ id, name })) : [],
    protocol_version: PROTOCOL_VERSION,
    connected_at: isConnected ? live.connectedAt : null,
    first_seen: row.first_seen,
    last_seen: live?.lastSeen ?? row.last_seen,
    messages_per_minute: live?.traffic.lately() ?? 0,
  };
};

export interface StatusDeps {
  readonly network: Network;
  readonly pins: Pick<Pins, 'counts'>;
  readonly identity: IdentityOf;
  readonly inbound: Pick<Inbound, 'shared'>;
  isEnabled(): boolean;
}

export const statusOf = async ({ network, pins, identity, inbound, isEnabled }: StatusDeps, actor: Actor): Promise<NetworkStatus> => {
  const own = await identity().catch(() => undefined); // without a vault it has no identity, and says so
  const [{ all, pinned }, agents] = await Promise.all([pins.counts(), inbound.shared(actor)]);
  const { online, reason, listening, sent, received, lately } = network.state();
  return {
    node_id: own?.nodeId ?? null,
    node_name: network.nodeName(),
    enabled: isEnabled(),
    online,
    reason: reason ?? (own ? null : 'The vault keeps no keys, so this daemon has no identity. Switch the extension vault on.'),
    listen_address: seesAll(actor) ? (listening ?? null) : null,
    protocol_version: 'ofp/1',
    identity_fingerprint: own ? fingerprintOf(own.publicKey) : null,
    connected_peers: network.registry.all().filter(({ isLeaving }) => !isLeaving).length,
    total_peers: all,
    pinned_peers: pinned,
    agents: agents.map(({ id, name }) => ({ id, name })),
    messages_sent: sent,
    messages_received: received,
    messages_per_minute: lately,
  };
};
