/** One conversation in the list: a link, and its actions beside it; or a box to tick, where several are chosen. */
import { addressOf, ago, Menu, type OutputOf } from '@svc/kit';
import { opened, type Named } from './conversation.js';
import { actionsOn, type OpenDialog } from './session-actions.js';
import { t } from './words.js';

export type Session = OutputOf<'listSessions'>['sessions'][number];

export const namedOf = (session: Session): Named => ({
  id: session.session_id,
  agentId: session.agent_id,
  name: session.label ?? t('untitled'),
  label: session.is_labelled ? session.label : null,
  isArchived: session.is_archived,
  tags: session.tags,
});

interface RowProps {
  readonly session: Session;
  readonly currentId: string | undefined;
  readonly isPinned: boolean;
  readonly showAgent: boolean;
  readonly mayWrite: boolean;
  /** Undefined where none are chosen. */
  readonly isTicked: boolean | undefined;
  readonly onTick: () => void;
  readonly onPin: () => void;
  readonly onDialog: OpenDialog;
}

export const Tags = ({ tags }: { tags: readonly string[] }) =>
  tags.length === 0 ? null : (
    <span class="tags">
      <span class="off-screen">{t('tags')}: </span>
      {tags.map((tag) => (
        <bdi key={tag} class="tag">
          {tag}
        </bdi>
      ))}
    </span>
  );

export const isCurrentOf = ({ session_id, conversation_id }: Session, currentId: string | undefined): boolean =>
  session_id === currentId || (conversation_id !== null && conversation_id === opened.value?.conversationId);

export const SessionRow = ({ session, currentId, isPinned, showAgent, mayWrite, isTicked, onTick, onPin, onDialog }: RowProps) => {
  const named = namedOf(session);
  const isCurrent = isCurrentOf(session, currentId);
  const inside = (
    <>
      <span class="session-name">
        {session.active && <span class="pulse" role="img" aria-label={t('running')} />}
        <bdi class="cut">{named.name}</bdi>
      </span>
      <span class="muted small-text cut">
        {showAgent && session.agent_name !== null && <bdi>{session.agent_name} · </bdi>}
        {ago(session.last_message_at ?? session.created_at)}
      </span>
      <Tags tags={session.tags} />
    </>
  );
  if (isTicked !== undefined)
    return (
      <li class="session">
        <label class="session-tick">
          <input type="checkbox" data-row="yes" tabIndex={-1} checked={isTicked} onChange={onTick} />
          <span class="session-text">{inside}</span>
        </label>
      </li>
    );
  return (
    <li class={isCurrent ? 'session current' : 'session'}>
      <a data-row="yes" tabIndex={-1} href={addressOf('chat', [session.agent_id, session.session_id])} aria-current={isCurrent ? 'page' : undefined}>
        {inside}
      </a>
      <Menu
        label={t('actions_of', { name: named.name })}
        tabIndex={-1}
        items={[{ id: 'pin', label: isPinned ? t('unpin') : t('pin'), icon: isPinned ? 'pin-off' : 'pin', onChoose: onPin }, ...actionsOn(named, mayWrite, onDialog)]}
      />
    </li>
  );
};
