/** Deleted conversations: until when they are there, and what brings them back. */
import { ago, Button, confirmed, daemon, dateTime, Empty, notify, Shown, useLoaded } from '@svc/kit';
import type { Named } from './conversation.js';
import { namedOf } from './session-row.js';
import { dialogWords } from './bin-words.js';
import { t } from './words.js';

const MOST = 200;

const restore = async ({ id }: Named): Promise<void> => {
  await daemon.call('archiveSession', { id, body: { archived: false } });
  notify(dialogWords('restored'));
};

const erase = async ({ id, name }: Named): Promise<void> => {
  if (!(await confirmed({ title: dialogWords('erase_title'), text: dialogWords('erase_text', { name }), action: dialogWords('erase'), isDangerous: true }))) return;
  await daemon.call('deleteSession', { id, all_versions: true, erase: true });
  notify(dialogWords('erased'));
};

export const BinList = ({ agentId, mayWrite }: { agentId: string | undefined; mayWrite: boolean }) => {
  const asked = { deleted: 'only', limit: MOST, ...(agentId === undefined ? {} : { agent_id: agentId }) } as const;
  const found = useLoaded(`deleted sessions ${agentId}`, (signal) => daemon.call('listSessions', asked, { signal }), ['session', 'agent']);
  return (
    <Shown of={found}>
      {({ sessions }) =>
        sessions.length === 0 ? (
          <Empty icon="trash-2" title={dialogWords('none_deleted')} />
        ) : (
          <ul class="sessions" aria-label={t('bin')}>
            {sessions.map((session) => {
              const named = namedOf(session);
              return (
                <li key={session.session_id} class="session binned">
                  <bdi class="session-name cut">{named.name}</bdi>
                  <span class="muted small-text">
                    {ago(session.deleted_at ?? session.created_at)} · {dialogWords('kept_until', { date: dateTime(session.restorable_until ?? '') })}
                  </span>
                  {mayWrite && (
                    <span class="row wrap">
                      <Button small icon="rotate-ccw" onPress={() => restore(named)}>
                        {dialogWords('restore')}
                      </Button>
                      <Button small kind="quiet" onPress={() => erase(named)}>
                        {dialogWords('erase')}
                      </Button>
                    </span>
                  )}
                </li>
              );
            })}
          </ul>
        )
      }
    </Shown>
  );
};
