/** One conversation: its turns, and where the next message is written. */
import { addressOf, Button, daemon, Dialog, Empty, Failure, failed, go, LinkButton, Loading, may, SvcError, TextArea, useChanges, useEffect, useMemo, useRef, useState } from '@svc/kit';
import { bringMarkdown } from './answer-text.js';
import { type Beside, carryTo } from './besides.js';
import { answeredAlone } from './commands.js';
import { Composer } from './composer.js';
import { openConversation, type Conversation } from './conversation.js';
import { keepDraft } from './drafts.js';
import { whenQuiet } from './later.js';
import type { Attached, Question } from './live-run.js';
import { ModelSwitch } from './model-switch.js';
import type { Agent } from './agents.js';
import { TurnList } from './turn-list.js';
import type { TurnActions } from './turn-view.js';
import { keptTurns, type Turn, withBesides, withLive } from './turns.js';
import { Welcome } from './welcome.js';
import { t } from './words.js';

/** What shall be said as soon as the conversation it is meant for is open. */
const toSay = new Map<string, Question>();

const attachedTo = (turn: Turn): readonly Attached[] => [
  ...(turn.question?.attachments ?? []),
  ...(turn.question?.images ?? []).flatMap(({ file_id, filename, media_type }) => (file_id === undefined ? [] : [{ file_id, filename: filename ?? '', content_type: media_type, size: 0 }])),
];

/** A conversation of its own that begins as this one did, up to a message or before it. */
const branchOff = async (sessionId: string, where: { before_seq: number } | { after_seq: number }): Promise<string> => {
  const { session_id } = await daemon.call('branchSession', { id: sessionId, body: where });
  return session_id;
};

const EditDialog = ({ turn, onClose, onSay }: { turn: Turn; onClose: () => void; onSay: (text: string) => Promise<void> }) => {
  const [text, setText] = useState(turn.question?.text ?? '');
  return (
    <Dialog
      wide
      title={t('edit_title')}
      onClose={onClose}
      actions={
        <Button kind="primary" icon="send" disabled={text.trim() === ''} onPress={() => onSay(text)}>
          {t('send')}
        </Button>
      }
    >
      <p class="muted">{t('edit_text')}</p>
      <TextArea label={t('message')} bare value={text} onValue={setText} rows={8} autofocus />
    </Dialog>
  );
};

const useConversation = (agentId: string, sessionId: string): Conversation => {
  const conversation = useMemo(() => openConversation(agentId, sessionId, (moved) => go('chat', [agentId, moved], { replace: true })), [agentId, sessionId]);
  useEffect(() => {
    void bringMarkdown();
    void conversation.refresh();
    return conversation.close;
  }, [conversation]);
  useChanges(['run', 'session'], (change) => {
    if (change === undefined || change.session_id === sessionId || change.id === sessionId) void conversation.refresh();
  });
  return conversation;
};

export const ConversationView = ({ agent, sessionId, isSetUp }: { agent: Agent; sessionId: string; isSetUp: boolean }) => {
  const conversation = useConversation(agent.id, sessionId);
  const [edited, setEdited] = useState<Turn>();
  const maySend = may('runs.send');
  const { value: history } = conversation.history;
  const { value: runs } = conversation.runs;
  const { value: lives } = conversation.lives;
  const { value: besides } = conversation.besides;
  const kept = useMemo(() => withBesides(keptTurns(history, runs), besides), [history, runs, besides]);
  const turns = useMemo(() => withLive(kept, lives), [kept, lives]);

  const sayIn = (session: string, question: Question): void => {
    toSay.set(session, question);
    go('chat', [agent.id, session]);
  };
  const retry = async (turn: Turn): Promise<void> => {
    if (turn.question?.seq === undefined) return;
    sayIn(await branchOff(sessionId, { before_seq: turn.question.seq }), { text: turn.question.text, attachments: attachedTo(turn) });
  };
  const sayOtherwise = async (text: string): Promise<void> => {
    if (edited?.question?.seq === undefined) return;
    const session = await branchOff(sessionId, { before_seq: edited.question.seq });
    const attachments = attachedTo(edited);
    setEdited(undefined);
    sayIn(session, { text, attachments });
  };
  const acts = useRef({ retry });
  acts.current = { retry };
  const actions = useMemo<TurnActions>(
    () => ({
      agentId: agent.id,
      agentName: agent.name,
      maySend,
      mayGrant: may('agents.write'),
      onRetry: (turn) => acts.current.retry(turn),
      onEdit: setEdited,
      onBranch: async (turn) => {
        if (turn.lastSeq !== undefined) go('chat', [agent.id, await branchOff(sessionId, { after_seq: turn.lastSeq })]);
      },
    }),
    [agent.id, agent.name, maySend, sessionId],
  );
  useEffect(() => {
    const question = toSay.get(sessionId);
    if (!question) return;
    toSay.delete(sessionId);
    conversation.send(question).catch((error: unknown) => {
      keepDraft(sessionId, question.text);
      failed(error);
    });
  }, [conversation]);

  const { value: error } = conversation.error;
  if (error instanceof SvcError && error.status === 404)
    return (
      <Empty icon="message-square" title={t('gone')}>
        <p>{t('gone_text')}</p>
        <LinkButton href={addressOf('chat', [agent.id, 'new'])}>{t('new')}</LinkButton>
      </Empty>
    );
  // One can write before what was said is there.
  const isComing = !history && lives.length === 0;
  if (isComing && error !== undefined) return <Failure error={error} onRetry={() => void conversation.refresh()} />;
  const isRunning = lives.some(({ phase }) => phase !== 'over');
  return (
    <>
      {error !== undefined && <Failure error={error} onRetry={() => void conversation.refresh()} />}
      {isComing ? (
        <div class="turns-frame">
          <Loading />
        </div>
      ) : (
        <TurnList turns={turns} actions={actions}>
          {(turns.length === 0 || isSetUp) && (
            <Welcome agent={agent} maySend={maySend} maySetUp={may('providers.write')} isAsked={isSetUp} onTry={(text) => conversation.send({ text, attachments: [] }).catch(failed)} />
          )}
        </TurnList>
      )}
      <Composer
        key={sessionId}
        draftKey={sessionId}
        agentId={agent.id}
        agentName={agent.name}
        isRunning={isRunning}
        maySend={maySend}
        tools={<ModelSwitch agent={agent} mayWrite={may('agents.write')} />}
        onSend={conversation.send}
        onStop={conversation.stop}
      />
      {edited && <EditDialog turn={edited} onClose={() => setEdited(undefined)} onSay={sayOtherwise} />}
    </>
  );
};

/** Nothing of what no conversation keeps is tried again, edited or branched from. */
const NOTHING = (): void => undefined;

/** Before anything was said: the conversation is made when the first message is sent. */
export const NewConversation = ({ agent, isSetUp }: { agent: Agent; isSetUp: boolean }) => {
  const maySend = may('runs.send');
  useEffect(() => void whenQuiet().then(bringMarkdown), []);
  const [besides, setBesides] = useState<readonly Beside[]>([]);
  const begin = async (question: Question): Promise<void> => {
    const alone = await answeredAlone(agent.id, question);
    if (alone) return setBesides((now) => [...now, alone]);
    const { session_id } = await daemon.call('createSession', { id: agent.id, body: { activate: true } });
    toSay.set(session_id, question);
    carryTo(session_id, besides);
    go('chat', [agent.id, session_id], { replace: true });
  };
  const turns = useMemo(() => withBesides([], besides), [besides]);
  const actions = useMemo<TurnActions>(
    () => ({ agentId: agent.id, agentName: agent.name, maySend, mayGrant: false, onRetry: NOTHING, onEdit: NOTHING, onBranch: NOTHING }),
    [agent.id, agent.name, maySend],
  );
  return (
    <>
      <TurnList turns={turns} actions={actions}>
        {(turns.length === 0 || isSetUp) && (
          <Welcome agent={agent} maySend={maySend} maySetUp={may('providers.write')} isAsked={isSetUp} onTry={(text) => void begin({ text, attachments: [] }).catch(failed)} />
        )}
      </TurnList>
      <Composer
        key={`new ${agent.id}`}
        draftKey={`new ${agent.id}`}
        agentId={agent.id}
        agentName={agent.name}
        isRunning={false}
        maySend={maySend}
        tools={<ModelSwitch agent={agent} mayWrite={may('agents.write')} />}
        onSend={begin}
        onStop={async () => undefined}
      />
    </>
  );
};
