/** What was talked about last. */
import { addressOf, ago, Badge, type Column, count, daemon, LinkButton, money, type OutputOf, Section, Shown, Table, useFresh, useLoaded } from '@svc/kit';
import { t } from './words.js';

type Session = OutputOf<'listSessions'>['sessions'][number];
const SHOWN = 6;

const columns = (): ReadonlyArray<Column<Session>> => [
  {
    id: 'label',
    title: t('conversation'),
    cell: ({ label, active }) => (
      <span class="row recent-name">
        <bdi class="cut">{label || t('untitled')}</bdi>
        {active && <Badge tone="info">{t('active')}</Badge>}
      </span>
    ),
  },
  { id: 'agent', title: t('agent'), cell: ({ agent_name }) => <bdi>{agent_name}</bdi> },
  { id: 'messages', title: t('messages'), align: 'end', isMinor: true, cell: ({ message_count }) => count(message_count) },
  { id: 'cost', title: t('cost'), align: 'end', cell: ({ cost_usd }) => money(cost_usd) },
  { id: 'last', title: t('last'), align: 'end', cell: ({ last_message_at }) => (last_message_at === null ? '' : ago(last_message_at)) },
];

export const Recent = ({ isOffered }: { isOffered: (panel: string) => boolean }) => {
  const sessions = useLoaded('recent', (signal) => daemon.call('listSessions', { limit: SHOWN }, { signal }));
  useFresh(sessions.reload, ['session', 'run']);
  const canChat = isOffered('chat');
  return (
    <Section
      title={t('recent')}
      actions={
        canChat && (
          <LinkButton small icon="message-square" href={addressOf('chat')}>
            {t('all_conversations')}
          </LinkButton>
        )
      }
    >
      <Shown of={sessions}>
        {({ sessions: rows }) =>
          rows.length === 0 ? (
            <div class="row wrap">
              <p class="muted">{t('nothing_said')}</p>
              {canChat && (
                <LinkButton small icon="message-square-plus" href={addressOf('chat')}>
                  {t('begin')}
                </LinkButton>
              )}
            </div>
          ) : (
            <Table
              label={t('recent_table')}
              columns={columns()}
              rows={rows}
              keyOf={({ id }) => id}
              hrefOf={({ agent_id, session_id }) => (canChat ? addressOf('chat', [agent_id, session_id]) : undefined)}
            />
          )
        }
      </Shown>
    </Section>
  );
};
