/** One conversation: its turns, and where the next message is written. */
import { addressOf, daemon, Empty, Failure, failed, go, isOutageSaid, LinkButton, Loading, may, SvcError, useChanges, useEffect, useMemo, useRef, useState } from '@svc/kit';
import { bringMarkdown } from './answer-text.js';
import { type Beside, carryTo } from './besides.js';
import { answeredAlone } from './commands.js';
import { Composer } from './composer.js';
import { openConversation, type Conversation } from './conversation.js';
import { editsOf, keepDraft } from './drafts.js';
import { whenQuiet } from './later.js';
import type { Attached, Question } from './live-run.js';
import { ModelSwitch } from './model-switch.js';
import type { Agent, ModelChoice } from './agents.js';
import { BesideLayout } from './beside-layout.js';
import { TurnList } from './turn-list.js';
import type { TurnActions } from './turn-view.js';
import { keptTurns, type Turn, withBesides, withLive, withPartings } from './turns.js';
import { partingsOf } from './versions.js';
import { Welcome } from './welcome.js';
import { t } from './words.js';

/** What shall be said as soon as the conversation it is meant for is open. */
const toSay = new Map<string, Question>();

const attachedTo = (turn: Turn): readonly Attached[] => [
  ...(turn.question?.attachments ?? []),
  ...(turn.question?.images ?? []).flatMap(({ file_id, filename, media_type }) => (file_id === undefined ? [] : [{ file_id, filename: filename ?? '', content_type: media_type, size: 0 }])),
];

/** Another version, which begins as this one did, up to a message or before it, and has its name. */
const branchOff = async (sessionId: string, where: { before_seq: number } | { after_seq: number }, label: string | null): Promise<string> => {
  const { session_id } = await daemon.call('branchSession', { id: sessionId, body: { ...where, label } });
  return session_id;
};

/** It stands for the conversation from now on, also where somebody comes back to it; without the permission, it is only shown. */
const chooseVersion = async (agentId: string, id: string): Promise<void> => {
  go('chat', [agentId, id]);
  if (may('sessions.write')) await daemon.call('chooseSession', { id });
};

const useConversation = (agentId: string, sessionId: string): Conversation => {
  const conversation = useMemo(() => openConversation(agentId, sessionId, (moved) => go('chat', [agentId, moved], { replace: true })), [agentId, sessionId]);
  useEffect(() => {
    void bringMarkdown();
    void conversation.refresh();
    return conversation.close;
  }, [conversation]);
  useChanges(['run', 'session'], (change) => {
    if (change?.state === 'rated' && change.session_id !== undefined) conversation.rated(change.session_id).catch(failed);
    else if (change === undefined || change.session_id === sessionId || change.id === sessionId) void conversation.refresh();
  });
  return conversation;
};

export const ConversationView = ({ agent, sessionId, isSetUp }: { agent: Agent; sessionId: string; isSetUp: boolean }) => {
  const conversation = useConversation(agent.id, sessionId);
  const maySend = may('runs.send');
  const { value: history } = conversation.history;
  const { value: runs } = conversation.runs;
  const { value: lives } = conversation.lives;
  const { value: besides } = conversation.besides;
  const { value: copiedRuns } = conversation.copiedRuns;
  const kept = useMemo(() => withBesides(keptTurns(history, [...copiedRuns, ...runs]), besides), [history, runs, copiedRuns, besides]);
  const partings = useMemo(() => partingsOf(history?.versions, sessionId), [history?.versions, sessionId]);
  const turns = useMemo(() => withPartings(withLive(kept, lives), partings), [kept, lives, partings]);

  const sayIn = (session: string, question: Question): void => {
    toSay.set(session, question);
    go('chat', [agent.id, session]);
  };
  const sayOtherwise = async (turn: Turn, text = turn.question?.text ?? ''): Promise<void> => {
    if (turn.question?.seq === undefined) return;
    sayIn(await branchOff(sessionId, { before_seq: turn.question.seq }, history?.label ?? null), { text, attachments: attachedTo(turn) });
  };
  const branch = async ({ lastSeq }: Turn): Promise<void> => {
    if (lastSeq !== undefined) go('chat', [agent.id, await branchOff(sessionId, { after_seq: lastSeq }, history?.label ?? null)]);
  };
  const acts = useRef({ sayOtherwise, branch });
  acts.current = { sayOtherwise, branch };
  const actions = useMemo<TurnActions>(
    () => ({
      agentId: agent.id,
      agentName: agent.name,
      maySend,
      mayGrant: may('agents.write'),
      onRetry: (turn) => acts.current.sayOtherwise(turn),
      onEdit: (turn, text) => acts.current.sayOtherwise(turn, text),
      onBranch: (turn) => acts.current.branch(turn),
      onVersion: (id) => chooseVersion(agent.id, id),
      onSay: (text) => conversation.send({ text, attachments: [] }).catch(failed),
      onRated: ({ session_id }) => conversation.rated(session_id),
      edits: editsOf(sessionId),
    }),
    [agent.id, agent.name, maySend, sessionId, conversation],
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
    <BesideLayout turns={turns}>
      {error !== undefined && !isOutageSaid(error) && <Failure error={error} onRetry={() => void conversation.refresh()} />}
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
        tools={
          <ModelSwitch
            agent={agent}
            own={history?.model ?? undefined}
            mayWrite={may('agents.write')}
            onConversation={async (model) => {
              await daemon.call('setSessionModel', { id: sessionId, body: { model: model ?? null } });
              await conversation.refresh();
            }}
          />
        }
        onSend={conversation.send}
        onStop={conversation.stop}
      />
    </BesideLayout>
  );
};

/** Nothing of what no conversation keeps is tried again, edited or branched from. */
const NOTHING = (): void => undefined;
const NO_EDITS = { of: () => undefined, keep: NOTHING };

/** Before anything was said: the conversation is made when the first message is sent. */
export const NewConversation = ({ agent, isSetUp }: { agent: Agent; isSetUp: boolean }) => {
  const maySend = may('runs.send');
  useEffect(() => void whenQuiet().then(bringMarkdown), []);
  const [besides, setBesides] = useState<readonly Beside[]>([]);
  const [model, setModel] = useState<ModelChoice>();
  const begin = async (question: Question): Promise<void> => {
    const alone = await answeredAlone(agent.id, question);
    if (alone) return setBesides((now) => [...now, alone]);
    const { session_id } = await daemon.call('createSession', { id: agent.id, body: { activate: true } });
    if (model) await daemon.call('setSessionModel', { id: session_id, body: { model } });
    toSay.set(session_id, question);
    carryTo(session_id, besides);
    go('chat', [agent.id, session_id], { replace: true });
  };
  const turns = useMemo(() => withBesides([], besides), [besides]);
  const actions = useMemo<TurnActions>(
    () => ({
      agentId: agent.id,
      agentName: agent.name,
      maySend,
      mayGrant: false,
      onRetry: NOTHING,
      onEdit: NOTHING,
      onBranch: NOTHING,
      onVersion: NOTHING,
      onSay: NOTHING,
      onRated: async () => undefined,
      edits: NO_EDITS,
    }),
    [agent.id, agent.name, maySend],
  );
  return (
    <BesideLayout turns={turns}>
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
        tools={<ModelSwitch agent={agent} own={model} mayWrite={may('agents.write')} onConversation={async (chosen) => setModel(chosen)} />}
        onSend={begin}
        onStop={async () => undefined}
      />
    </BesideLayout>
  );
};
