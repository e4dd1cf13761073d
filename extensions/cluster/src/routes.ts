import { type KernelView, Nullable, OneOf, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { overviewOf } from './overview.js';

const route = routeGroup({ area: 'cluster' });
const Count = (description: string) => Type.Integer({ minimum: 0, description });

const Daemon = Type.Object(
  {
    id: Type.String({ description: 'New at each start' }),
    name: Type.String({ description: '[cluster] name, or the name of its host' }),
    host: Type.String(),
    pid: Type.Integer(),
    version: Type.String(),
    started_at: Type.String(),
    address: Type.String({ description: '[cluster] address, or the address it listens on' }),
    state: OneOf(['running', 'silent'], { description: 'silent: no heartbeat for 15 seconds. It leaves the list after a minute' }),
    seen_secs_ago: Count('Since its last heartbeat, by the clock of the database'),
    asked: Type.Boolean({ description: 'The daemon that answers' }),
    reached: Type.Boolean({ description: 'Whether its messages reach the daemon that answers' }),
    delivers_events: Type.Boolean({ description: 'It holds the lease on durable events' }),
    runs: Count('Runs that it holds a lease on'),
    does: Type.String({ description: 'The same for people' }),
  },
  { 'x-name': 'ClusterDaemon' },
);

const Overview = Type.Object(
  {
    shared: Type.Boolean({ description: 'false: the database is a file of this daemon alone' }),
    summary: Type.String({ description: 'For people' }),
    connection: Type.String({ description: 'How the daemons hear of each other, for people' }),
    connected: Type.Boolean({ description: 'false: changes of other daemons are found in the database within seconds' }),
    disconnected_secs: Nullable(Type.Integer(), { description: 'For how long it has not been connected; null while it is' }),
    carrier: OneOf(['process', 'postgres', 'nats', 'none']),
    daemons: Type.Array(Daemon, { description: 'Oldest first' }),
    waiting_runs: Count('Runs that could go on and that no daemon has taken'),
    oldest_waiting_since: Nullable(Type.String(), { description: 'Since when the oldest of them waits' }),
    undelivered_events: Count('Durable events that the slowest listener has not had'),
    listeners: Type.Array(Type.Object({ extension: Type.String(), undelivered_events: Type.Integer() })),
  },
  { 'x-name': 'Cluster' },
);

export const clusterRoutes = (kernel: Pick<KernelView, 'replicas'>): RouteDecl[] => [
  route({
    id: 'getCluster',
    method: 'GET',
    path: '/api/cluster',
    summary: 'Get the daemons on this database',
    description: 'Who is there, who holds which lease, and how far behind the work is. On a SQLite file there is one daemon.',
    permission: 'cluster.admin',
    cost: 3,
    responses: { 200: Overview },
    handler: async () => reply(200, overviewOf(await kernel.replicas())),
  }),
];
