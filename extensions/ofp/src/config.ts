import { defineConfig, type Plain, Type } from '@svc/api';
import { ADDRESS_PATTERN } from './addresses.js';

const Address = Type.String({ maxLength: 300, pattern: ADDRESS_PATTERN });

export const NetworkEnabled = defineConfig(
  '/network_enabled',
  Type.Boolean({ default: false, description: 'Whether this daemon meets other daemons over the OFP protocol; it also needs [network] shared_secret', 'x-security': true }),
);

export const NetworkSection = defineConfig(
  'network',
  Type.Object(
    {
      shared_secret: Type.String({
        default: '',
        maxLength: 1_024,
        description: 'What all daemons of the network know: only who has it gets in. Without it the network stays off',
        'x-secret': true,
        'x-env': 'SVC_NETWORK_SECRET',
      }),
      listen_addresses: Type.Array(Address, {
        default: ['127.0.0.1:0'],
        maxItems: 1,
        description: 'Where other daemons connect: `host:port` or `/ip4/0.0.0.0/tcp/9090`; port 0 takes any that is free. An empty list listens nowhere, and this daemon only connects to others',
      }),
      bootstrap_peers: Type.Array(Address, {
        default: [],
        maxItems: 100,
        description: `Daemons to connect to, and to connect to again when the connection is lost; the port is ${9090} where none is given`,
      }),
      agents: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { default: ['*'], maxItems: 1_000, description: "Names of the owner's agents that others see and reach; `*` is all of them" }),
      max_peers: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Daemons that are connected at the same time' }),
      max_messages_per_peer_per_minute: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 60, description: 'Messages to agents from one daemon; 0 for no limit' }),
      max_llm_tokens_per_peer_per_hour: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'Model tokens that messages of one daemon may use within 60 minutes; 0 for no limit',
      }),
      mdns_enabled: Type.Boolean({ default: false, description: 'Accepted and not used: daemons are found by bootstrap_peers' }),
    },
    { additionalProperties: false, default: {}, 'x-security': true, 'x-by-hand': 'it says which daemons reach your agents' },
  ),
);
export type NetworkSettings = Plain<typeof NetworkSection.schema>;
