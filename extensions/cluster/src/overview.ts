/** What the kernel knows of its replicas, in the words of the interface. */
import type { ReplicasView } from '@svc/api';

type Daemon = ReplicasView['daemons'][number];

/** Three heartbeats. */
const SILENT_MS = 15_000;
const MS_PER_SECOND = 1_000;

const stateOf = ({ isSelf, silentMs }: Daemon): 'running' | 'silent' => (isSelf || silentMs < SILENT_MS ? 'running' : 'silent');

const runsOf = ({ runs }: Daemon): number => runs.reduce((sum, { count }) => sum + count, 0);

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

const doesOf = (daemon: Daemon): string => {
  const runs = runsOf(daemon);
  const parts = [...(daemon.isRelaying ? ['delivers events'] : []), ...(runs > 0 ? [`holds ${counted(runs, 'run')}`] : [])];
  return parts.length === 0 ? 'ready for work' : parts.join(', ');
};

const CARRIERS = { process: 'within this daemon', postgres: 'PostgreSQL LISTEN and NOTIFY', nats: 'NATS', none: 'not connected yet' } as const;

/** Why, and for how long, a daemon does not hear the others. */
export const lostOf = ({ carrier, lostMs, problem }: ReplicasView['bus']): string =>
  `Not connected${carrier === 'none' ? '' : ` over ${CARRIERS[carrier]}`} for ${Math.round((lostMs ?? 0) / MS_PER_SECOND)} s: ${problem ?? 'it is being opened'}.`;

export const connectionOf = ({ bus, isShared }: ReplicasView): string => {
  if (!isShared) return 'no other daemon can use this database';
  return bus.isConnected ? CARRIERS[bus.carrier] : `${lostOf(bus)} Changes are read from the database within seconds`;
};

const summaryOf = ({ daemons, isShared }: ReplicasView): string => {
  if (!isShared) return 'One daemon on a SQLite file. For more, set [storage] url to a PostgreSQL database.';
  const silent = daemons.filter((daemon) => stateOf(daemon) === 'silent').length;
  return `${counted(daemons.length - silent, 'daemon')} on this database${silent === 0 ? '.' : `; ${counted(silent, 'daemon')} silent.`}`;
};

export const overviewOf = (view: ReplicasView) => ({
  shared: view.isShared,
  summary: summaryOf(view),
  connection: connectionOf(view),
  connected: view.bus.isConnected,
  disconnected_secs: view.bus.lostMs === null ? null : Math.floor(view.bus.lostMs / MS_PER_SECOND),
  carrier: view.bus.carrier,
  daemons: view.daemons.map((daemon) => ({
    id: daemon.id,
    name: daemon.name,
    host: daemon.host,
    pid: daemon.pid,
    version: daemon.version,
    started_at: daemon.startedAt,
    address: daemon.address,
    state: stateOf(daemon),
    seen_secs_ago: Math.floor(daemon.silentMs / MS_PER_SECOND),
    asked: daemon.isSelf,
    reached: daemon.isReached,
    delivers_events: daemon.isRelaying,
    runs: runsOf(daemon),
    does: doesOf(daemon),
  })),
  waiting_runs: view.waiting.runs,
  oldest_waiting_since: view.waiting.oldest,
  undelivered_events: Math.max(0, ...view.listeners.map(({ behind }) => behind)),
  listeners: view.listeners.map(({ behind, listener }) => ({ extension: listener, undelivered_events: behind })),
});

/** What a page would show otherwise: times and counts of runs change without a word. */
export const outlineOf = ({ bus, daemons }: ReplicasView): string =>
  JSON.stringify([bus.isConnected, daemons.map((daemon) => [daemon.id, daemon.name, daemon.address, stateOf(daemon), daemon.isRelaying, daemon.isReached])]);
