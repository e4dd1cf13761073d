/** Conversations: `#/chat/<agent>/<session>`; without a session the agent's current one, without an agent the last one talked with. */
import './chat/chat.css';
import {
  address,
  addressOf,
  daemon,
  definePanel,
  Empty,
  Failure,
  go,
  Icon,
  IconButton,
  keep,
  kept,
  Loading,
  Menu,
  may,
  type PanelProps,
  type ShortcutGroup,
  useEffect,
  useLoaded,
  useShortcuts,
  useState,
  useViewTitle,
  withCtrl,
} from '@svc/kit';
import { type Agent, LAST_AGENT, prepareAgent, useAgents } from './chat/agents.js';
import { wanted } from './chat/beside.js';
import { opened } from './chat/conversation.js';
import { ConversationView, NewConversation } from './chat/conversation-view.js';
import { ActionDialog, actionsOn, type DialogKind } from './chat/session-actions.js';
import { SessionList } from './chat/session-list.js';
import { NoAgents } from './chat/welcome.js';
import { isWide } from './chat/wide.js';
import { t } from './chat/words.js';

const NEW = 'new';
const NEWEST = 20;

const openings = new Map<string, Promise<void>>();

/** Goes to the session of the agent that is meant where none is named, unless somebody went elsewhere meanwhile. */
const openCurrent = (agentId: string): Promise<void> => {
  const open = async (): Promise<void> => {
    const { sessions } = await daemon.call('listAgentSessions', { id: agentId, limit: NEWEST });
    const { panel: id, path, query } = address.peek();
    const [named = agentId, session] = path;
    if ((id !== '' && id !== 'chat') || named !== agentId || session !== undefined) return;
    const canonical = sessions.find(({ is_canonical }) => is_canonical) ?? sessions[0];
    const current = sessions.find(({ conversation_id, is_chosen }) => is_chosen && conversation_id !== null && conversation_id === canonical?.conversation_id) ?? canonical;
    go('chat', [agentId, current && current.message_count > 0 ? current.session_id : NEW], { query, replace: true });
  };
  const opening = openings.get(agentId) ?? open().finally(() => openings.delete(agentId));
  openings.set(agentId, opening);
  return opening;
};

const CurrentSession = ({ agent }: { agent: Agent }) => {
  const opened = useLoaded(`current ${agent.id}`, () => openCurrent(agent.id));
  return opened.error === undefined ? <Loading /> : <Failure error={opened.error} onRetry={opened.reload} />;
};

const Opened = ({ agent, sessionId }: { agent: Agent; sessionId: string | undefined }) => {
  const isSetUp = address.value.query['setup'] !== undefined;
  if (sessionId === undefined) return <CurrentSession agent={agent} />;
  return sessionId === NEW ? <NewConversation agent={agent} isSetUp={isSetUp} /> : <ConversationView key={sessionId} agent={agent} sessionId={sessionId} isSetUp={isSetUp} />;
};

/** Remembers that the list beside the conversation is hidden. */
const LIST_HIDDEN = 'svc.chat.list-hidden';
const SHORTCUTS: ShortcutGroup = {
  title: () => t('conversations'),
  shortcuts: [
    {
      keys: 'Ctrl Shift O',
      label: () => t('new'),
      fits: withCtrl('o', true),
      run: () => {
        const [agent] = address.peek().path;
        if (agent !== undefined) go('chat', [agent, NEW]);
      },
    },
    { keys: 'Enter', label: () => t('send') },
    { keys: 'Shift Enter', label: () => t('key_line') },
    { keys: '/', label: () => t('commands') },
    { keys: '↑ ↓', label: () => t('key_rows') },
    { keys: '→', label: () => t('key_actions') },
  ],
};

/** What is done with the open conversation. */
const Here = ({ agentId, sessionId }: { agentId: string; sessionId: string | undefined }) => {
  const [dialog, setDialog] = useState<DialogKind>();
  const known = opened.value;
  if (known?.title === undefined || known.sessionId !== sessionId) return null;
  const named = { id: known.sessionId, agentId, name: known.title, label: known.label, isArchived: known.isArchived, tags: known.tags };
  return (
    <>
      <Menu label={t('actions_here')} items={actionsOn(named, may('sessions.write'), setDialog)} />
      {dialog && <ActionDialog kind={dialog} of={named} onClose={() => setDialog(undefined)} />}
    </>
  );
};

const Chat = ({ path }: PanelProps) => {
  const [named, sessionId] = path;
  const [isListOpen, setListOpen] = useState(false);
  const [isHidden, setHidden] = useState(() => kept(LIST_HIDDEN) !== null);
  const isBeside = wanted.value !== undefined;
  // What is open beside the conversation takes the room of the list.
  const hasList = isWide.value && !isBeside;
  useShortcuts(SHORTCUTS);
  const { agents, agent, isWaiting, error, reload } = useAgents(named);
  const title = opened.value?.sessionId === sessionId ? opened.value?.title : undefined;
  useViewTitle(title ?? agent?.name);
  useEffect(() => setListOpen(false), [named, sessionId]);
  useEffect(() => {
    if (named !== undefined) keep(LAST_AGENT, named);
  }, [named]);
  if (isWaiting || (!agent && error !== undefined))
    return (
      <div class="panel-body">
        <h1 class="off-screen">{t('conversations')}</h1>
        {error === undefined ? <Loading /> : <Failure error={error} onRetry={reload} />}
      </div>
    );
  if (agents.length === 0) return <NoAgents mayMake={may('agents.write')} />;
  return (
    <div class={`chat${isListOpen ? ' list-open' : ''}${isHidden ? ' list-hidden' : ''}${isBeside ? ' has-beside' : ''}`}>
      <aside class="chat-list" aria-label={t('conversations')}>
        <SessionList agents={agents} agentId={agent?.id} currentId={sessionId} maySend={may('runs.send')} mayWrite={may('sessions.write')} onAgent={(id) => go('chat', [id])} />
      </aside>
      {isListOpen && <div class="nav-veil" onClick={() => setListOpen(false)} />}
      <section class="chat-main" aria-label={agent ? t('welcome_to', { name: agent.name }) : t('conversations')}>
        <header class="chat-head">
          <IconButton
            icon="panel-left"
            label={t(hasList && !isHidden ? 'hide_list' : 'show_list')}
            aria-expanded={hasList ? !isHidden : isListOpen}
            onPress={() => {
              if (!hasList) return setListOpen(!isListOpen);
              keep(LIST_HIDDEN, isHidden ? null : 'yes');
              setHidden(!isHidden);
            }}
          />
          <div class="grow chat-title">
            <h1 class="cut">
              <bdi>{title ?? agent?.name ?? t('new_agent')}</bdi>
            </h1>
            {title !== undefined && (
              <p class="muted small-text cut">
                <bdi>{agent?.name}</bdi>
              </p>
            )}
          </div>
          {agent && named !== undefined && <Here agentId={agent.id} sessionId={sessionId} />}
          {agent && (
            <a class="button quiet" href={addressOf('chat', [agent.id, NEW])}>
              <Icon name="message-square-plus" />
              <span class="wide-only">{t('new')}</span>
              <span class="off-screen narrow-only">{t('new')}</span>
            </a>
          )}
        </header>
        {agent ? <Opened agent={agent} sessionId={sessionId} /> : <Empty icon="bot" title={t('new_agent')} />}
      </section>
    </div>
  );
};

const prepare = async ([named, sessionId]: readonly string[]): Promise<void> => {
  const agent = await prepareAgent(named);
  if (agent && sessionId === undefined) await openCurrent(agent.id);
};

export const panel = definePanel({ view: Chat, prepare });
