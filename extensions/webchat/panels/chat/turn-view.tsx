/** One turn: what was asked, what was done about it, and what came of it. */
import { Button, CopyButton, count, dateTime, Fold, Icon, IconButton, type JSX, memo, money, useState } from '@svc/kit';
import { AnswerText } from './answer-text.js';
import { Attachments } from './attachment.js';
import { GOING_ON } from './conversation.js';
import type { LiveRun, Part } from './live-run.js';
import { Thoughts } from './thoughts.js';
import { ToolCallLine } from './tool-call.js';
import { textOf, type Turn } from './turns.js';
import { t } from './words.js';

export interface TurnActions {
  readonly agentId: string;
  readonly agentName: string;
  readonly maySend: boolean;
  readonly mayGrant: boolean;
  /** Goes on from before this turn, with the same question. */
  readonly onRetry: (turn: Turn) => unknown;
  readonly onEdit: (turn: Turn) => void;
  readonly onBranch: (turn: Turn) => unknown;
}

const MAX_QUESTION_CHARS = 4_000;

const Question = ({ turn, actions }: { turn: Turn; actions: TurnActions }) => {
  const [isWhole, setWhole] = useState(false);
  const { question } = turn;
  if (!question) return null;
  const isLong = question.text.length > MAX_QUESTION_CHARS && !isWhole;
  return (
    <div class="asked">
      <h2 class="off-screen">{t('you')}</h2>
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
      {question.seq !== undefined && (
        <div class="turn-tools">
          {question.at && <time dateTime={question.at}>{dateTime(question.at)}</time>}
          <CopyButton text={question.text} />
          {actions.maySend && !turn.live && <IconButton small icon="pencil" label={t('edit')} onPress={() => actions.onEdit(turn)} />}
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

const Failed = ({ error, hint, onRetry }: { error: string; hint?: string | undefined; onRetry: (() => unknown) | undefined }) => (
  <div class="failure" role="alert">
    <Icon name="circle-alert" />
    <div class="grow">
      <p>
        <strong>{t('failed')}</strong> {error}
      </p>
      {hint && <p class="muted">{hint}</p>}
    </div>
    {onRetry && (
      <Button small icon="rotate-ccw" onPress={onRetry}>
        {t('retry')}
      </Button>
    )}
  </div>
);

const noteOf = ({ live, run }: Turn): string | undefined => {
  const finish = live?.result?.finish;
  if (finish === 'length') return t('cut');
  if (finish === 'content_filter') return t('filtered');
  if (finish === 'cancelled' || (!live && run?.status === 'cancelled')) return t('stopped');
  return !live && run?.status === 'waiting' ? t('waiting') : undefined;
};

/** What came of it, where it was not simply an answer. */
const Outcome = ({ turn, actions }: { turn: Turn; actions: TurnActions }) => {
  const { live, run } = turn;
  const onRetry = actions.maySend && turn.question?.seq !== undefined ? () => actions.onRetry(turn) : undefined;
  if (live?.failure) return <Failed error={live.failure.error} hint={live.failure.hint} onRetry={onRetry} />;
  if (!live && run?.status === 'failed') return <Failed error={run.error?.message ?? ''} hint={run.error?.hint} onRetry={onRetry} />;
  const note = noteOf(turn);
  return note === undefined ? null : (
    <p class="muted row">
      <Icon name="info" size={16} />
      {note}
    </p>
  );
};

const Foot = ({ turn, actions }: { turn: Turn; actions: TurnActions }) => {
  const { run, live } = turn;
  const text = textOf(turn.parts);
  if ((live && live.phase !== 'over') || (!live && run && GOING_ON.includes(run.status))) return null;
  const figures = live?.result ? { ...live.result, model: `${live.result.provider}/${live.result.model}` } : run && run.model !== null ? { ...run, model: run.model } : undefined;
  return (
    <div class="turn-tools">
      {text !== '' && <CopyButton text={text} label={t('copy_answer')} />}
      {actions.maySend && turn.question?.seq !== undefined && run && !live && <IconButton small icon="rotate-ccw" label={t('retry')} onPress={() => actions.onRetry(turn)} />}
      {actions.maySend && turn.lastSeq !== undefined && !live && <IconButton small icon="git-branch" label={t('branch')} onPress={() => actions.onBranch(turn)} />}
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
          <Outcome turn={turn} actions={actions} />
          <Foot turn={turn} actions={actions} />
        </div>
      )}
    </article>
  );
});
