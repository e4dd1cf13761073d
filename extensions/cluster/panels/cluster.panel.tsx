/** The daemons on this database: who is there, who does what, how far behind. */
import { ago, Badge, type Column, count, daemon, definePanel, Empty, type OutputOf, PanelBody, PanelHead, Shown, Stat, Stats, Table, useFresh, useLoaded } from '@svc/kit';
import { t } from './cluster/words.js';

type Cluster = OutputOf<'getCluster'>;
type Daemon = Cluster['daemons'][number];

const Replicas = () => {
  const cluster = useLoaded('cluster', (signal) => daemon.call('getCluster', {}, { signal }));
  useFresh(cluster.reload, ['cluster', 'run']);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <Shown of={cluster}>{(now) => (now.shared ? <Daemons of={now} /> : <Alone />)}</Shown>
      </PanelBody>
    </>
  );
};

const Alone = () => (
  <Empty icon="server" title={t('alone')}>
    <p>{t('alone_text')}</p>
  </Empty>
);

const Daemons = ({ of: now }: { of: Cluster }) => (
  <div class="stack">
    <Stats>
      <Stat label={t('daemons')} value={count(now.daemons.filter(({ state }) => state === 'running').length)} />
      <Stat label={t('connection')} value={t(now.connected ? 'connected' : 'not_connected')} note={now.connection} />
      <Stat label={t('waiting')} value={count(now.waiting_runs)} note={now.oldest_waiting_since === null ? t('waiting_none') : t('waiting_since', { ago: ago(now.oldest_waiting_since) })} />
      <Stat label={t('undelivered')} value={count(now.undelivered_events)} note={t('undelivered_note')} />
    </Stats>
    <Table label={t('table')} columns={columns()} rows={now.daemons} keyOf={({ id }) => id} />
  </div>
);

const doesOf = ({ delivers_events: delivers, runs }: Daemon): string => {
  const parts = [...(delivers ? [t('events')] : []), ...(runs > 0 ? [t('runs', { count: count(runs) })] : [])];
  return parts.length === 0 ? t('ready') : parts.join(' · ');
};

const columns = (): ReadonlyArray<Column<Daemon>> => [
  {
    id: 'daemon',
    title: t('daemon'),
    cell: ({ asked, name }) => (
      <>
        <bdi>{name}</bdi> {asked && <Badge>{t('asked')}</Badge>}
      </>
    ),
  },
  {
    id: 'state',
    title: t('state'),
    cell: ({ seen_secs_ago: secs, state }) => <Badge tone={state === 'running' ? 'good' : 'bad'}>{state === 'running' ? t('running') : t('silent', { secs })}</Badge>,
  },
  { id: 'does', title: t('does'), cell: doesOf },
  { id: 'started', title: t('started'), isMinor: true, cell: ({ started_at: at }) => ago(at) },
  { id: 'address', title: t('address'), isMinor: true, cell: ({ address }) => <bdi>{address}</bdi> },
  { id: 'version', title: t('version'), isMinor: true, cell: ({ version }) => version },
];

export const panel = definePanel({ view: Replicas });
