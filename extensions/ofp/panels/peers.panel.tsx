import './peers/peers.css';
/** Other daemons: a picture of them with their agents, and the same as a table. */
import {
  ago,
  Badge,
  type Column,
  count,
  daemon,
  definePanel,
  Empty,
  IconButton,
  type OutputOf,
  PanelBody,
  PanelHead,
  Section,
  Shown,
  shortId,
  Stat,
  Stats,
  Table,
  useFresh,
  useLoaded,
} from '@svc/kit';
import { Picture } from './peers/picture.js';
import { t } from './peers/words.js';

type Peer = OutputOf<'listPeers'>['peers'][number];
type Status = OutputOf<'getNetworkStatus'>;

const Peers = () => {
  const status = useLoaded('network status', (signal) => daemon.call('getNetworkStatus', {}, { signal }));
  const peers = useLoaded('peers', (signal) => daemon.call('listPeers', {}, { signal }));
  const look = (): void => {
    status.reload();
    peers.reload();
  };
  useFresh(look, ['peer', 'agent', 'config']);
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} actions={<IconButton icon="refresh-cw" label={t('look_again')} onPress={look} />} />
      <PanelBody>
        <Shown of={status} lines={4}>
          {(now) => (
            <div class="stack">
              <Standing of={now} />
              <Shown of={peers} lines={6}>
                {({ peers: rows }) => <Known status={now} peers={rows} />}
              </Shown>
            </div>
          )}
        </Shown>
      </PanelBody>
    </>
  );
};

const Standing = ({ of: now }: { of: Status }) => (
  <>
    {now.reason !== null && (
      <p role="status">
        <Badge tone={now.enabled ? 'warn' : 'quiet'}>{t(now.enabled ? 'attention' : 'off')}</Badge> {now.reason}
      </p>
    )}
    <Stats>
      <Stat label={t('connected')} value={count(now.connected_peers)} note={t('of_known', { count: count(now.total_peers) })} />
      <Stat label={t('per_minute')} value={count(now.messages_per_minute)} note={t('passed', { sent: count(now.messages_sent), received: count(now.messages_received) })} />
      <Stat label={t('shared')} value={count(now.agents.length)} note={now.agents.map(({ name }) => name).join(', ')} />
      <Stat label={t('this_daemon')} value={now.node_name} note={now.listen_address ?? t('not_listening')} />
    </Stats>
    {now.node_id !== null && (
      <p class="muted small-text">
        {t('node_id')}: <bdi>{now.node_id}</bdi>
      </p>
    )}
  </>
);

const Known = ({ status, peers }: { status: Status; peers: readonly Peer[] }) => {
  if (peers.length === 0)
    return (
      <Empty icon="link" title={t('none')}>
        <p>{t('none_text')}</p>
      </Empty>
    );
  return (
    <>
      <Section title={t('picture_title')}>
        <Picture own={{ name: status.node_name, agents: status.agents }} peers={peers} />
      </Section>
      <Table label={t('table')} rows={peers} keyOf={({ node_id: id }) => id} columns={columns()} />
    </>
  );
};

const columns = (): ReadonlyArray<Column<Peer>> => [
  {
    id: 'name',
    title: t('daemon'),
    cell: ({ node_id: id, node_name: name }) => (
      <>
        <bdi>{name}</bdi> <span class="muted small-text">{shortId(id)}</span>
      </>
    ),
  },
  { id: 'state', title: t('state'), cell: ({ state }) => <Badge tone={state === 'connected' ? 'good' : 'quiet'}>{t(state)}</Badge> },
  { id: 'agents', title: t('agents'), cell: ({ agents }) => <bdi>{agents.map(({ name }) => name).join(', ')}</bdi> },
  { id: 'rate', title: t('per_minute'), cell: ({ messages_per_minute: rate }) => count(rate) },
  { id: 'identity', title: t('identity'), isMinor: true, cell: ({ identity }) => t(identity === 'none' ? 'no_key' : 'pinned') },
  { id: 'address', title: t('address'), isMinor: true, cell: ({ address }) => <bdi>{address}</bdi> },
  { id: 'seen', title: t('seen'), isMinor: true, cell: ({ last_seen: at }) => ago(at) },
];

export const panel = definePanel({ view: Peers });
