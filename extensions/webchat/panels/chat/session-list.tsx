/** The conversations of one agent or of all: found, renamed, pinned, deleted. */
import {
  addressOf,
  ago,
  Badge,
  Button,
  confirmed,
  daemon,
  Dialog,
  Empty,
  go,
  IconButton,
  type Loaded,
  Menu,
  notify,
  type OutputOf,
  SearchField,
  Select,
  Shown,
  TextField,
  useEffect,
  useLoaded,
  useState,
} from '@svc/kit';
import type { Agent } from './agents.js';
import { keepPins, pinnedIds } from './drafts.js';
import { useStatus } from './model-status.js';
import { openConversationId } from './conversation.js';
import { t } from './words.js';

export type Session = OutputOf<'listSessions'>['sessions'][number];

const PAGE = 50;
const SEARCH_AFTER_MS = 250;
const MIN_SEARCHED = 2;

const nameOf = (session: Session): string => session.label ?? t('untitled');

interface SessionListProps {
  readonly agents: readonly Agent[];
  /** Undefined: of all agents. */
  readonly agentId: string | undefined;
  readonly currentId: string | undefined;
  readonly maySend: boolean;
  readonly mayWrite: boolean;
  readonly onAgent: (id: string) => void;
}

const Renaming = ({ session, onClose }: { session: Session; onClose: () => void }) => {
  const [label, setLabel] = useState(session.label ?? '');
  const save = async (): Promise<void> => {
    await daemon.call('updateSessionLabel', { id: session.session_id, body: { label: label.trim() === '' ? null : label.trim(), all_versions: true } });
    onClose();
  };
  return (
    <Dialog
      title={t('rename')}
      onClose={onClose}
      actions={
        <Button kind="primary" onPress={save}>
          {t('save')}
        </Button>
      }
    >
      <TextField
        label={t('name')}
        value={label}
        onValue={setLabel}
        maxLength={100}
        autofocus
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.isComposing) void save();
        }}
      />
    </Dialog>
  );
};

const Row = ({
  session,
  isCurrent,
  isPinned,
  showAgent,
  mayWrite,
  onPin,
  onRename,
}: {
  session: Session;
  isCurrent: boolean;
  isPinned: boolean;
  showAgent: boolean;
  mayWrite: boolean;
  onPin: () => void;
  onRename: () => void;
}) => {
  const remove = async (): Promise<void> => {
    if (!(await confirmed({ title: t('delete_title'), text: t('delete_text', { name: nameOf(session) }), action: t('delete'), isDangerous: true }))) return;
    await daemon.call('deleteSession', { id: session.session_id, all_versions: true });
    notify(t('deleted'));
    if (isCurrent) go('chat', [session.agent_id, 'new'], { replace: true });
  };
  return (
    <li class={isCurrent ? 'session current' : 'session'}>
      <a href={addressOf('chat', [session.agent_id, session.session_id])} aria-current={isCurrent ? 'page' : undefined}>
        <span class="session-name">
          {session.active && <span class="pulse" role="img" aria-label={t('running')} />}
          <bdi class="cut">{nameOf(session)}</bdi>
        </span>
        <span class="muted small-text cut">
          {showAgent && session.agent_name !== null && <bdi>{session.agent_name} · </bdi>}
          {ago(session.last_message_at ?? session.created_at)}
        </span>
      </a>
      <Menu
        label={t('actions_of', { name: nameOf(session) })}
        items={[
          { id: 'pin', label: isPinned ? t('unpin') : t('pin'), icon: isPinned ? 'pin-off' : 'pin', onChoose: onPin },
          { id: 'rename', label: t('rename'), icon: 'pencil', disabled: !mayWrite, onChoose: onRename },
          { id: 'delete', label: t('delete'), icon: 'trash-2', isDangerous: true, disabled: !mayWrite, onChoose: remove },
        ]}
      />
    </li>
  );
};

/** What was found by words, across all conversations. */
const Found = ({ words }: { words: string }) => {
  const found = useLoaded(`found ${words}`, (signal) => daemon.call('searchSessions', { q: words, limit: PAGE }, { signal }));
  return (
    <Shown of={found}>
      {({ items }) =>
        items.length === 0 ? (
          <p class="muted pad">{t('search_none')}</p>
        ) : (
          <ul class="sessions" aria-label={t('search')}>
            {items.map((hit) => (
              <li key={`${hit.session_id} ${hit.seq}`} class="session">
                <a href={addressOf('chat', [hit.agent_id, hit.session_id])}>
                  <bdi class="session-name cut">{hit.label ?? t('untitled')}</bdi>
                  <span class="muted small-text snippet" dir="auto">
                    {hit.snippet}
                  </span>
                  <span class="muted small-text">{ago(hit.timestamp)}</span>
                </a>
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
};

const Sessions = ({
  of,
  limit,
  onMore,
  currentId,
  showAgent,
  mayWrite,
}: {
  of: Loaded<OutputOf<'listSessions'>>;
  limit: number;
  onMore: () => void;
  currentId: string | undefined;
  showAgent: boolean;
  mayWrite: boolean;
}) => {
  const [pins, setPins] = useState(pinnedIds);
  const [renamed, setRenamed] = useState<Session>();
  const togglePin = (id: string): void => {
    const now = pins.includes(id) ? pins.filter((one) => one !== id) : [id, ...pins];
    keepPins(now);
    setPins(now);
  };
  const row = (session: Session) => (
    <Row
      key={session.session_id}
      session={session}
      isCurrent={session.session_id === currentId || (session.conversation_id !== null && session.conversation_id === openConversationId.value)}
      isPinned={pins.includes(session.session_id)}
      showAgent={showAgent}
      mayWrite={mayWrite}
      onPin={() => togglePin(session.session_id)}
      onRename={() => setRenamed(session)}
    />
  );
  return (
    <Shown of={of}>
      {({ sessions, total }) => {
        // What nobody has spoken in yet is no conversation.
        const spoken = sessions.filter((session) => session.message_count > 0 || session.active);
        const pinned = spoken.filter(({ session_id }) => pins.includes(session_id));
        const rest = spoken.filter(({ session_id }) => !pins.includes(session_id));
        return (
          <>
            {spoken.length === 0 && <Empty icon="message-square" title={t('none_yet')} />}
            {pinned.length > 0 && (
              <>
                <h2 class="list-title">{t('pinned')}</h2>
                <ul class="sessions" aria-label={t('pinned')}>
                  {pinned.map(row)}
                </ul>
                <h2 class="list-title">{t('recent')}</h2>
              </>
            )}
            <ul class="sessions" aria-label={t('conversations')}>
              {rest.map(row)}
            </ul>
            {total > limit && (
              <Button kind="quiet" onPress={onMore}>
                {t('more')}
              </Button>
            )}
            {renamed && <Renaming session={renamed} onClose={() => setRenamed(undefined)} />}
          </>
        );
      }}
    </Shown>
  );
};

export const SessionList = ({ agents, agentId, currentId, maySend, mayWrite, onAgent }: SessionListProps) => {
  const [typed, setTyped] = useState('');
  const [words, setWords] = useState('');
  const [onlyAgent, setOnlyAgent] = useState(false);
  const [limit, setLimit] = useState(PAGE);
  useEffect(() => {
    const timer = setTimeout(() => setWords(typed.trim()), SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const filter = onlyAgent ? agentId : undefined;
  const sessions = useLoaded(`sessions ${filter} ${limit}`, (signal) => daemon.call('listSessions', { limit, versions: 'chosen', ...(filter === undefined ? {} : { agent_id: filter }) }, { signal }), [
    'session',
    'run',
    'agent',
  ]);
  const choose = (value: string): void => {
    setOnlyAgent(value !== '');
    if (value !== '') onAgent(value);
  };
  return (
    <div class="session-list">
      <div class="session-list-head">
        <div class="row">
          <div class="grow">
            <Select
              label={t('agent')}
              bare
              value={onlyAgent ? (agentId ?? '') : ''}
              onValue={choose}
              options={[{ value: '', label: t('all_agents') }, ...agents.map(({ id, name }) => ({ value: id, label: name }))]}
            />
          </div>
          <IconButton kind="primary" icon="message-square-plus" label={t('new')} disabled={agentId === undefined || !maySend} onPress={() => go('chat', [agentId ?? '', 'new'])} />
        </div>
        <SearchField value={typed} onValue={setTyped} label={t('search')} />
      </div>
      <div class="session-list-body">
        {words.length >= MIN_SEARCHED ? (
          <Found words={words} />
        ) : (
          <Sessions of={sessions} limit={limit} onMore={() => setLimit(limit + PAGE)} currentId={currentId} showAgent={!onlyAgent} mayWrite={mayWrite} />
        )}
      </div>
      <Placeholder />
    </div>
  );
};

/** Says for as long as it is so that no model answers. */
const Placeholder = () => {
  const status = useStatus();
  return status.data?.default_model_stand_in ? (
    <a class="stand-in" href={addressOf('chat', [], { setup: 'yes' })}>
      <Badge tone="warn" icon="triangle-alert">
        {t('setup')}
      </Badge>
    </a>
  ) : null;
};
