/** One turn: what was asked, what was done about it, and what came of it. */
import { addressOf, Button, CopyButton, count, dateTime, duration, Fold, Icon, IconButton, type JSX, LinkButton, may, memo, money, TextArea, useRef, useState } from '@svc/kit';
import { AnswerText } from './answer-text.js';
import type { Edits } from './drafts.js';
import { Rating } from './rating.js';
import { Recalled } from './recalled.js';
import { Attachments } from './attachment.js';
import { fixOf, hintOnPage } from './fixes.js';
import { GOING_ON } from './live-run.js';
import type { LiveRun, Part } from './live-run.js';
import { Thoughts } from './thoughts.js';
import { ToolCallLine } from './tool-call.js';
import { textOf, type Turn } from './turns.js';
import { VersionSwitch } from './version-switch.js';
import { WaitingRequest } from './waiting-request.js';
import { t } from './words.js';

export interface TurnActions {
  readonly agentId: string;
  readonly agentName: string;
  readonly maySend: boolean;
  readonly mayGrant: boolean;
  /** Goes on from before this turn, with the same question. */
  readonly onRetry: (turn: Turn) => unknown;
  /** Goes on from before this turn, with another question. */
  readonly onEdit: (turn: Turn, text: string) => unknown;
  readonly onBranch: (turn: Turn) => unknown;
  readonly onVersion: (sessionId: string) => unknown;
  /** Says something in this conversation, as if it was typed. */
  readonly onSay: (text: string) => unknown;
  readonly onRated: (run: NonNullable<Turn['run']>) => Promise<void>;
  /** Of messages that are edited in their place. */
  readonly edits: Edits;
}

const MAX_QUESTION_CHARS = 4_000;

/** In the place of the message: Enter sends, Escape leaves it as it was. */
interface RewritingProps {
  readonly before: string;
  /** What was typed before the page was loaded again. */
  readonly kept: string | undefined;
  readonly onText: (text: string) => void;
  readonly onSay: (text: string) => unknown;
  readonly onClose: () => void;
}

const Rewriting = ({ before, kept, onText, onSay, onClose }: RewritingProps) => {
  const [text, setText] = useState(kept ?? before);
  const type = (typed: string): void => {
    setText(typed);
    onText(typed);
  };
  const form = useRef<HTMLFormElement>(null);
  const canSend = text.trim() !== '';
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'Escape') onClose();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    form.current?.querySelector<HTMLButtonElement>('.primary')?.click();
  };
  return (
    <form class="rewriting" ref={form} aria-label={t('edit_title')} onKeyDown={onKeyDown} onSubmit={(event) => event.preventDefault()}>
      <TextArea label={t('message')} bare value={text} onValue={type} rows={Math.min(12, 1 + text.split('\n').length)} autofocus={kept === undefined} />
      <div class="row wrap">
        <span class="grow muted small-text">{t('edit_text')}</span>
        <Button small onPress={onClose}>
          {t('cancel')}
        </Button>
        <Button small kind="primary" disabled={!canSend} onPress={() => onSay(text)}>
          {t('send')}
        </Button>
      </div>
    </form>
  );
};

const Question = ({ turn, actions }: { turn: Turn; actions: TurnActions }) => {
  const [isWhole, setWhole] = useState(false);
  const { question, parting } = turn;
  const seq = question?.seq;
  const keep = (text: string | undefined): void => {
    if (seq !== undefined) actions.edits.keep(seq, text);
  };
  const [kept, setKept] = useState(() => (seq === undefined || !actions.maySend ? undefined : actions.edits.of(seq)));
  const [isEdited, setEdited] = useState(kept !== undefined);
  const edit = useRef<HTMLSpanElement>(null);
  if (!question) return null;
  const close = (): void => {
    keep(undefined);
    setKept(undefined);
    setEdited(false);
    requestAnimationFrame(() => edit.current?.querySelector('button')?.focus());
  };
  const say = async (text: string): Promise<void> => {
    await actions.onEdit(turn, text);
    keep(undefined);
  };
  if (isEdited) return <Rewriting before={question.text} kept={kept} onText={keep} onSay={say} onClose={close} />;
  const isLong = question.text.length > MAX_QUESTION_CHARS && !isWhole;
  return (
    <div class="asked">
      <h2 class="off-screen">{t('you')}</h2>
      {question.via && (
        <span class="muted small-text">
          {t('via', { channel: question.via.channel })} <bdi>{question.via.sender}</bdi>
        </span>
      )}
      <Attachments images={question.images} files={question.attachments} />
      {question.text !== '' && (
        <div class="bubble" dir="auto">
          {isLong ? `${question.text.slice(0, MAX_QUESTION_CHARS)}…` : question.text}
          {isLong && (
            <Button small kind="quiet" onPress={() => setWhole(true)}>
              {t('show_all')}
            </Button>
          )}
        </div>
      )}
      {question.recalled && <Recalled texts={question.recalled} />}
      {question.seq !== undefined && (
        <div class="turn-tools">
          {question.at && <time dateTime={question.at}>{dateTime(question.at)}</time>}
          <CopyButton text={question.text} />
          {actions.maySend && !turn.live && (
            <span ref={edit}>
              <IconButton small icon="pencil" label={t('edit')} onPress={() => setEdited(true)} />
            </span>
          )}
          {parting && <VersionSwitch parting={parting} onChoose={actions.onVersion} />}
        </div>
      )}
    </div>
  );
};

const PartShown = ({ part, actions }: { part: Part; actions: TurnActions }): JSX.Element => {
  if (part.kind === 'thoughts') return <Thoughts text={part.text} isOpen={part.isOpen === true} />;
  return part.kind === 'text' ? <AnswerText text={part.text} /> : <ToolCallLine call={part.call} agentId={actions.agentId} canGrant={actions.mayGrant} />;
};

const Going = ({ live }: { live: LiveRun }) => {
  if (live.phase === 'over') return null;
  return (
    <p class={live.phase === 'lost' ? 'going lost' : 'going'} role="status">
      <span class="pulse" aria-hidden="true" />
      {t(`phase_${live.phase}`)}
      {live.detail && <span class="muted">{live.detail}</span>}
      {live.attempt !== undefined && <span class="muted">{t('attempt', { attempt: live.attempt })}</span>}
    </p>
  );
};

/** What a person decides before the run goes on: heard as it happens, or found when the conversation is opened. */
const Waits = ({ turn: { live, run } }: { turn: Turn }) => {
  const id = live ? live.approvalId : run?.status === 'waiting' ? run.waiting?.approval_id : undefined;
  return id && may('approvals.read') ? <WaitingRequest key={id} id={id} /> : null;
};

interface FailedProps {
  readonly error: string;
  readonly hint?: string | undefined;
  readonly code?: string | undefined;
  readonly onRetry: (() => unknown) | undefined;
}

const Failed = ({ error, hint, code, onRetry }: FailedProps) => {
  const fix = fixOf(code);
  const said = hintOnPage(hint);
  return (
    <div class="failure" role="alert">
      <Icon name="circle-alert" />
      <div class="grow">
        <p>
          <strong>{t('failed')}</strong> {error}
        </p>
        {said && <p class="muted">{said}</p>}
      </div>
      {fix && (
        <LinkButton small href={addressOf(fix.panel, [], fix.query)}>
          {t(fix.label)}
        </LinkButton>
      )}
      {onRetry && (
        <Button small icon="rotate-ccw" onPress={onRetry}>
          {t('retry')}
        </Button>
      )}
    </div>
  );
};

/** The run was to be asked of a model that nobody named, and none was. */
const isNamed = (model: string): boolean => !/(^|\/)(default|auto)?$/.test(model);

interface Figures {
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}

/** Who answered and what that used; undefined where no model was asked. */
const figuresOf = ({ live, run }: Turn): Figures | undefined => {
  const found = live?.result ? { ...live.result, model: `${live.result.provider}/${live.result.model}` } : run && run.model !== null ? { ...run, model: run.model } : undefined;
  return found && isNamed(found.model) ? found : undefined;
};

const isStopped = ({ live, run }: Turn): boolean => live?.result?.finish === 'cancelled' || (!live && run?.status === 'cancelled');

/** Why, where it was not by somebody's hand, and after how long. */
const whyStopped = (run: Turn['run']): string | undefined => {
  if (run?.error && run.error.code !== 'run_stopped') return run.error.message;
  return run?.ended_at ? t('stopped_after', { time: duration(Date.parse(run.ended_at) - Date.parse(run.started_at)) }) : undefined;
};

const noteOf = (turn: Turn): string | undefined => {
  const { live, run } = turn;
  const finish = live?.result?.finish;
  if (finish === 'length') return t('cut');
  if (finish === 'content_filter') return t('filtered');
  if (isStopped(turn)) return t('stopped');
  if (!live && run?.status === 'queued') return t('queued_here');
  return !live && run?.status === 'waiting' ? t('waiting') : undefined;
};

/** What came of it, where it was not simply an answer. */
const Outcome = ({ turn, actions }: { turn: Turn; actions: TurnActions }) => {
  const { live, run } = turn;
  const onRetry = actions.maySend && turn.question?.seq !== undefined ? () => actions.onRetry(turn) : undefined;
  if (live?.failure) return <Failed error={live.failure.error} hint={live.failure.hint} code={live.failure.code} onRetry={onRetry} />;
  if (!live && run?.status === 'failed') return <Failed error={run.error?.message ?? ''} hint={run.error?.hint} code={run.error?.code} onRetry={onRetry} />;
  const note = noteOf(turn);
  return note === undefined ? null : (
    <div class="muted row wrap ended">
      <Icon name="info" size={16} />
      <span>{note}</span>
      {isStopped(turn) && <span>{whyStopped(run)}</span>}
      {isStopped(turn) && onRetry && (
        <Button small icon="rotate-ccw" onPress={onRetry}>
          {t('retry')}
        </Button>
      )}
    </div>
  );
};

const Foot = ({ turn, actions }: { turn: Turn; actions: TurnActions }) => {
  const { run, live } = turn;
  const text = textOf(turn.parts);
  if ((live && live.phase !== 'over') || (!live && run && GOING_ON.includes(run.status))) return null;
  const figures = figuresOf(turn);
  return (
    <div class="turn-tools">
      {text !== '' && <CopyButton text={text} label={t('copy_answer')} />}
      {actions.maySend && turn.question?.seq !== undefined && run?.status === 'done' && !live && <IconButton small icon="rotate-ccw" label={t('retry')} onPress={() => actions.onRetry(turn)} />}
      {actions.maySend && turn.lastSeq !== undefined && !live && <IconButton small icon="git-branch" label={t('branch')} onPress={() => actions.onBranch(turn)} />}
      {run?.status === 'done' && !live && !turn.beside && <Rating run={run} onRated={actions.onRated} />}
      {figures && (
        <span class="figures numbers">
          <span title={t('by', { model: figures.model })}>{figures.model}</span>
          <span title={t('tokens_title')}>{t('tokens', { input: count(figures.input_tokens), output: count(figures.output_tokens) })}</span>
          <span>{money(figures.cost_usd)}</span>
        </span>
      )}
    </div>
  );
};

/** What a command asks to be agreed to: the command that agrees. */
const AGREES = /(\/reset all (\d+))$/;

/** What the daemon answers itself: as it comes, in columns, under its own name. */
const CommandTurn = ({ turn, actions }: { turn: Turn; actions: TurnActions }) => {
  const text = textOf(turn.parts);
  const agreed = turn.live ? null : AGREES.exec(text);
  return (
    <article class="turn">
      <Question turn={turn} actions={actions} />
      <div class="system-said" role="status">
        <h2 class="row">
          <Icon name="terminal" size={16} />
          {t('system')}
        </h2>
        {text !== '' && <pre tabIndex={0}>{text}</pre>}
        {agreed && actions.maySend && (
          <Button small kind="danger" icon="trash-2" onPress={() => actions.onSay(agreed[1] ?? '')}>
            {t('delete_all', { count: count(Number(agreed[2])) })}
          </Button>
        )}
        {turn.live && <Going live={turn.live} />}
        {turn.live && <Outcome turn={turn} actions={actions} />}
      </div>
    </article>
  );
};

export const TurnView = memo(({ turn, actions }: { turn: Turn; actions: TurnActions }) => {
  if (turn.note !== undefined)
    return (
      <article class="turn note">
        <p class="muted row">
          <Icon name="info" size={16} />
          {turn.note}
        </p>
      </article>
    );
  if (turn.summary !== undefined)
    return (
      <article class="turn note">
        <Fold summary={<span class="muted">{t('summary')}</span>}>
          <AnswerText text={turn.summary} />
        </Fold>
      </article>
    );
  if (turn.beside?.command !== undefined) return <CommandTurn turn={turn} actions={actions} />;
  if (!turn.question && turn.parting && turn.parts.length === 0)
    return (
      <div class="turn-tools asked-tools">
        <VersionSwitch parting={turn.parting} onChoose={actions.onVersion} />
      </div>
    );
  const isAnswered = turn.parts.length > 0 || turn.live !== undefined || turn.run !== undefined;
  return (
    <article class="turn">
      <Question turn={turn} actions={actions} />
      {isAnswered && (
        <div class="answered">
          <h2 class="off-screen">{actions.agentName}</h2>
          {turn.parts.map((part, index) => (
            <PartShown key={index} part={part} actions={actions} />
          ))}
          {turn.live && <Going live={turn.live} />}
          <Waits turn={turn} />
          {turn.beside && (
            <p class="muted row">
              <Icon name="info" size={16} />
              {t('beside')}
            </p>
          )}
          <Outcome turn={turn} actions={actions} />
          <Foot turn={turn} actions={actions} />
        </div>
      )}
    </article>
  );
});
