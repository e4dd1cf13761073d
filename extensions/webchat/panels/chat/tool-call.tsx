/** A call of a tool as one line: what it touched, how it went, how long it took. Unfolds to what went in and what came out. */
import { addressOf, Badge, DiffView, duration, failed, Fold, Icon, type IconName, LinkButton, useCode, useState } from '@svc/kit';
import type { ToolCall } from './live-run.js';
import { t } from './words.js';

const MAX_SHOWN_CHARS = 20_000;

const ICONS: ReadonlyArray<readonly [RegExp, IconName]> = [
  [/write|edit|patch|append/, 'file-diff'],
  [/^file|read|list/, 'file'],
  [/search|find|grep/, 'search'],
  [/web|http|fetch/, 'globe'],
  [/shell|exec|process|run/, 'terminal'],
  [/agent/, 'bot'],
  [/image|picture|media/, 'image'],
  [/time|clock|sleep/, 'clock'],
];

const iconOf = (name: string): IconName => ICONS.find(([pattern]) => pattern.test(name))?.[1] ?? 'wrench';

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const textIn = (input: unknown, names: readonly string[]): string | undefined => {
  if (!isRecord(input)) return undefined;
  const found = names.map((name) => input[name]).find((value) => typeof value === 'string' || typeof value === 'number');
  return found === undefined ? undefined : String(found);
};

/** What of its input says best what it is about. */
const touched = (input: unknown): string | undefined => textIn(input, ['path', 'file', 'url', 'query', 'pattern', 'command', 'program', 'agent', 'name', 'id']);

/** `file_write` as people read it. */
const titleOf = (name: string): string => {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
};

/** What an edit took away and put in its place. */
const editOf = (input: unknown): { before: string; after: string } | undefined => {
  const before = textIn(input, ['old_text', 'old_string', 'old', 'search']);
  const after = textIn(input, ['new_text', 'new_string', 'new', 'replace']);
  return before === undefined || after === undefined ? undefined : { before, after };
};

/** Tools before which a checkpoint is taken. */
const CHANGES_FILES = /^(file_write|apply_patch|shell_exec|process_start)$/;

const Undo = (props: { callId: string; agentId: string }) => {
  const { code } = useCode(() => import('./undo-call.js'), failed);
  return code ? <code.UndoCall {...props} /> : null;
};

export const ToolCallLine = ({ call, agentId, canGrant }: { call: ToolCall; agentId: string; canGrant: boolean }) => {
  const edit = editOf(call.input);
  const isRunning = call.result === undefined;
  const about = touched(call.input);
  const [wasOpened, setOpened] = useState(false);
  return (
    <Fold
      onToggle={(isOpen) => isOpen && setOpened(true)}
      summary={
        <span class="tool-line">
          <Icon name={isRunning ? 'loader-circle' : call.isError ? 'circle-x' : iconOf(call.name)} size={16} spins={isRunning} />
          <span class="tool-name">{titleOf(call.name)}</span>
          {about && (
            <code class="cut">
              <bdi>{about}</bdi>
            </code>
          )}
          {isRunning && <span class="off-screen">{t('tool_running')}</span>}
          {call.isError && <Badge tone="bad">{t('tool_failed')}</Badge>}
          {call.began !== undefined && call.ended !== undefined && <span class="muted numbers">{duration(call.ended - call.began)}</span>}
        </span>
      }
    >
      <div class="tool-details">
        {(call.missing ?? []).map(({ capability, target }) => (
          <p key={`${capability} ${target}`} class="row wrap">
            <span>{t('missing', { capability: target === undefined ? capability : `${capability} ${target}` })}</span>
            {canGrant && (
              <LinkButton small icon="shield-check" href={addressOf('agents', [agentId], { view: 'settings' })}>
                {t('grant')}
              </LinkButton>
            )}
          </p>
        ))}
        {edit ? (
          <>
            <h4>{t('changed')}</h4>
            <DiffView before={edit.before} after={edit.after} label={t('changed')} />
          </>
        ) : (
          <>
            <h4>{t('input')}</h4>
            <pre tabIndex={0}>{shown(call.input ?? {})}</pre>
          </>
        )}
        {call.result !== undefined && (
          <>
            <h4>{t('result')}</h4>
            <pre tabIndex={0} class={call.isError ? 'bad' : undefined}>
              {shown(call.result)}
            </pre>
          </>
        )}
        {wasOpened && !isRunning && CHANGES_FILES.test(call.name) && <Undo callId={call.id} agentId={agentId} />}
      </div>
    </Fold>
  );
};
