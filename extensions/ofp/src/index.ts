import { DoctorCheck, defineExtension, openResource, SecurityReport, securityProbe } from '@svc/api';
import { AgentKilled, Agents, AgentSpawned } from '@svc/ext-agents/contract';
import { PeerAgents, Runs } from '@svc/ext-runs/contract';
import { Sessions } from '@svc/ext-sessions/contract';
import { peerTables } from '../migrations/0001_init.js';
import { findingsOf, lookAtHandshake } from './checks.js';
import { NetworkEnabled, NetworkSection } from './config.js';
import * as contract from './contract.js';
import { createInbound, type Inbound, peerAgentOf } from './inbound.js';
import { createIdentity } from './node/identity.js';
import { createNetwork, whyOff } from './node/network.js';
import { createPins } from './node/pins.js';
import { createPeerRates } from './node/rates.js';
import { createOutbound } from './outbound.js';
import { peerOf, statusOf } from './shown.js';
import { discoverTool } from './tool.js';

/** The daemon answers first. */
const START_MS = 200;
const PING_MS = 30_000;

export default defineExtension({
  contract,
  tables: [contract.PeerRows],
  migrations: [peerTables],
  capabilities: [contract.OfpDiscover, contract.OfpConnect],
  config: [NetworkEnabled, NetworkSection],
  resources: [contract.Peers],
  commandWords: [
    {
      word: 'peers',
      summary: 'other daemons and their agents: list, get, status',
      usage: 'peers list|get|status',
      order: 39,
      synonyms: [{ word: 'network status', means: 'peers status', runs: true }],
    },
  ],
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const isEnabled = (): boolean => ctx.config.get(NetworkEnabled);
    const settings = () => ({ ...ctx.config.get(NetworkSection), enabled: isEnabled() });
    const pins = createPins(ctx);
    const identity = createIdentity(ctx.secrets);
    const network = createNetwork({
      ...{ ctx, pins, identity, settings },
      agents: () => inbound.offered(),
      answer: (nodeId, asked, signal) => inbound.answer(nodeId, asked, signal),
    });
    const inbound: Inbound = createInbound({
      ...{ ctx, agents, settings },
      runs: ctx.services.require(Runs),
      sessions: ctx.services.require(Sessions),
      rates: createPeerRates(() => ctx.clock.mono()),
      nodeName: (nodeId) => network.registry.get(nodeId)?.nodeName ?? nodeId,
    });
    const peers = openResource(contract.Peers, {
      list: async ({ actor }) => (await pins.list(actor)).map((row) => peerOf(row, network.registry)),
      get: async ({ actor, key }) => {
        const row = await pins.find(actor, key);
        return row && peerOf(row, network.registry);
      },
      actions: { status: ({ actor }) => statusOf({ network, pins, identity, inbound, isEnabled }, actor) },
    });
    ctx.routes.add(...peers.routes);
    ctx.services.provide(PeerAgents, createOutbound({ network, settings, closing: ctx.signal }));
    ctx.tools.add(discoverTool(network.registry));
    ctx.events.on(AgentSpawned, async ({ agentId }) => {
      if (network.registry.size() === 0) return;
      const agent = (await inbound.shared()).find(({ id }) => id === agentId);
      if (agent) network.broadcast({ event: 'agent_spawned', agent: peerAgentOf(agent) });
    });
    ctx.events.on(AgentKilled, ({ agentId }) => network.broadcast({ event: 'agent_terminated', agent_id: agentId }));
    ctx.hooks.tap(DoctorCheck, () => findingsOf(network.state(), isEnabled(), network.registry.size()));
    ctx.hooks.tap(
      SecurityReport,
      securityProbe('ofp_hmac_auth', () => lookAtHandshake(whyOff(settings()))),
    );
    for (const section of [NetworkEnabled, NetworkSection]) ctx.config.onChange(section, () => void network.restart());
    ctx.timers.after('join', START_MS, () => network.restart());
    ctx.timers.every('ping-peers', PING_MS, () => network.ping());
    // What this generation opened is closed right after this event: a peer hears why before that.
    ctx.signal.addEventListener('abort', () => network.farewell(), { once: true });
    ctx.onDispose('the network', () => network.stop());
  },
});
