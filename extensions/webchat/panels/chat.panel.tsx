/** Conversations: `#/chat/<agent>/<session>`; without a session the agent's current one, without an agent the last one talked with. */
import './chat/chat.css';
import { address, addressOf, Button, daemon, definePanel, Empty, Failure, go, Icon, keep, Loading, may, type PanelProps, useEffect, useLoaded, useState } from '@svc/kit';
import { type Agent, LAST_AGENT, prepareAgent, useAgents } from './chat/agents.js';
import { ConversationView, NewConversation } from './chat/conversation-view.js';
import { SessionList } from './chat/session-list.js';
import { NoAgents } from './chat/welcome.js';
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

const Chat = ({ path }: PanelProps) => {
  const [named, sessionId] = path;
  const [isListOpen, setListOpen] = useState(false);
  const { agents, agent, isWaiting, error, reload } = useAgents(named);
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
    <div class={isListOpen ? 'chat list-open' : 'chat'}>
      <aside class="chat-list" aria-label={t('conversations')}>
        <SessionList agents={agents} agentId={agent?.id} currentId={sessionId} maySend={may('runs.send')} mayWrite={may('sessions.write')} onAgent={(id) => go('chat', [id])} />
      </aside>
      {isListOpen && <div class="nav-veil" onClick={() => setListOpen(false)} />}
      <section class="chat-main" aria-label={agent ? t('welcome_to', { name: agent.name }) : t('conversations')}>
        <header class="chat-head">
          <span class="list-button">
            <Button kind="quiet" icon="message-square" aria-expanded={isListOpen} onPress={() => setListOpen(!isListOpen)}>
              {t('show_list')}
            </Button>
          </span>
          <h1 class="cut grow">
            <bdi>{agent?.name ?? t('new_agent')}</bdi>
          </h1>
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
