/** Where a message is written. What was typed outlives the tab, the connection and the daemon; only sending it takes it away. */
import { bytes, type ComponentChildren, daemon, failed, Icon, IconButton, notify, type OutputOf, type RefObject, settled, useEffect, useId, useLayoutEffect, useRef, useState } from '@svc/kit';
import { AttachedSign } from './attachment.js';
import { draftOf, keepDraft } from './drafts.js';
import { nowOneCanType } from './later.js';
import type { Question } from './live-run.js';
import { type Uploads, useUploads } from './uploads.js';
import { t } from './words.js';

interface ComposerProps {
  /** Under which what is typed is kept. */
  readonly draftKey: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly isRunning: boolean;
  readonly maySend: boolean;
  readonly tools?: ComponentChildren;
  /** Rejects where the daemon did not take it. */
  readonly onSend: (question: Question) => Promise<void>;
  readonly onStop: () => Promise<void>;
}

/** More than this is a document, not a message. */
const LONG_PASTE_CHARS = 20_000;
const KEEP_AFTER_MS = 250;
const MAX_COMMANDS = 8;

type Command = OutputOf<'listCommands'>['commands'][number];

/** Slash commands that fit what was typed; loaded when the first slash is. */
const useCommands = (agentId: string, text: string): readonly Command[] => {
  const [commands, setCommands] = useState<readonly Command[]>();
  const typed = /^\/(\S*)$/.exec(text)?.[1];
  useEffect(() => {
    if (typed === undefined || commands !== undefined) return;
    setCommands([]);
    daemon.call('listCommands', { agent_id: agentId }).then((answer) => setCommands(answer.commands.filter(({ source }) => source !== 'client')), failed);
  }, [typed]);
  return typed === undefined ? [] : (commands ?? []).filter(({ cmd }) => cmd.slice(1).startsWith(typed)).slice(0, MAX_COMMANDS);
};

/** What is typed, kept in this browser a moment after it was typed, and at once when the page goes. */
const useDraft = (key: string): [string, (change: string | ((now: string) => string)) => void] => {
  const [text, setText] = useState(() => draftOf(key));
  const latest = useRef(text);
  latest.current = text;
  const wasReported = useRef(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (keepDraft(key, text) || wasReported.current) return;
      wasReported.current = true;
      notify(t('not_kept'));
    }, KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, key]);
  useEffect(() => {
    const keep = (): void => void keepDraft(key, latest.current);
    addEventListener('pagehide', keep);
    return () => {
      keep();
      removeEventListener('pagehide', keep);
    };
  }, [key]);
  return [text, setText];
};

const Suggestions = ({ id, commands, chosen, onChoose }: { id: string; commands: readonly Command[]; chosen: number; onChoose: (command: Command) => void }) =>
  commands.length === 0 ? null : (
    <div class="suggestions" role="listbox" id={`${id}-commands`} aria-label={t('commands')}>
      {commands.map((command, index) => (
        <div
          key={command.cmd}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          class="palette-row"
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(command)}
        >
          <code>{command.cmd}</code>
          <span class="muted cut">{command.desc}</span>
        </div>
      ))}
    </div>
  );

const Attaching = ({ uploads }: { uploads: Uploads }) =>
  uploads.ready.length + uploads.coming.length === 0 ? null : (
    <ul class="attached" aria-label={t('attach')}>
      {uploads.ready.map((file) => {
        const { file_id, filename, size } = file;
        return (
          <li key={file_id} class="attached-file">
            <AttachedSign file={file} />
            <bdi class="cut">{filename}</bdi>
            <span class="muted small-text">{bytes(size)}</span>
            <IconButton small icon="x" label={t('remove', { name: filename })} onPress={() => uploads.remove(file_id)} />
          </li>
        );
      })}
      {uploads.coming.map((name, index) => (
        <li key={`${name} ${index}`} class="attached-file" role="status">
          <Icon name="loader-circle" size={16} spins />
          <bdi class="cut">{t('uploading', { name })}</bdi>
        </li>
      ))}
    </ul>
  );

/** As high as what is typed needs, as far as its style lets it. */
const useGrowing = (area: RefObject<HTMLTextAreaElement | null>, text: string): void =>
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = 'auto';
    // One row, without asking the browser to lay out everything for that.
    if (text === '') return;
    element.style.height = `${element.scrollHeight + 2}px`;
  }, [text]);

/** Whether one was typing in the field that has just gone. */
let wasFocused = false;

/** A message may begin another conversation: who typed it goes on typing there. */
const useKeptFocus = (area: RefObject<HTMLTextAreaElement | null>): void =>
  useLayoutEffect(() => {
    const element = area.current;
    // Whoever opens a conversation writes in it. On a touch screen the keyboard would cover what they came to read.
    const isFree = document.activeElement === null || document.activeElement === document.body || document.activeElement.id === 'content';
    if (wasFocused || (isFree && matchMedia('(hover: hover)').matches)) element?.focus({ preventScroll: true });
    wasFocused = false;
    return () => {
      wasFocused = element !== null && document.activeElement === element;
    };
  }, []);

const useField = (area: RefObject<HTMLTextAreaElement | null>, text: string): void => {
  useGrowing(area, text);
  useKeptFocus(area);
  useEffect(nowOneCanType, []);
};

/** The button goes with the answer: who pressed it goes on where they type. */
const stopped = (area: RefObject<HTMLTextAreaElement | null>, onStop: () => Promise<void>): Promise<void> => {
  if (matchMedia('(hover: hover)').matches) area.current?.focus();
  return onStop();
};

/** Asks for `send` as soon as all that is on its way is there; where one of them fails, not at all. */
const useWhenUploaded = ({ ready, coming }: Uploads, send: () => void): (() => void) => {
  const [awaited, setAwaited] = useState<number>();
  useEffect(() => {
    if (awaited === undefined || coming.length > 0) return;
    setAwaited(undefined);
    if (ready.length >= awaited) send();
  }, [awaited, coming.length]);
  return () => setAwaited(ready.length + coming.length);
};

export const Composer = ({ draftKey, agentId, agentName, isRunning, maySend, tools, onSend, onStop }: ComposerProps) => {
  const [text, setText] = useDraft(draftKey);
  const [isOver, setOver] = useState(false);
  const [chosen, setChosen] = useState(0);
  const uploads = useUploads(agentId);
  const area = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const id = useId();
  const commands = useCommands(agentId, text);

  useField(area, text);

  const isEmpty = text.trim() === '' && uploads.ready.length === 0;
  const canSend = maySend && (!isEmpty || uploads.coming.length > 0);
  const send = async (): Promise<void> => {
    if (!canSend) return;
    if (uploads.coming.length > 0) return whenUploaded();
    const question: Question = { text, attachments: uploads.ready };
    setText('');
    keepDraft(draftKey, '');
    uploads.clear();
    const about = `send ${draftKey}`;
    settled(about);
    try {
      await onSend(question);
    } catch (error) {
      // It was not taken: here it is again, before what was typed since.
      setText((now) => (now === '' ? question.text : `${question.text}\n\n${now}`));
      uploads.restore(question.attachments);
      failed(error, about);
    }
  };
  const whenUploaded = useWhenUploaded(uploads, () => void send());
  const complete = (command: Command): void => {
    setText(`${command.cmd} `);
    setChosen(0);
    area.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (commands.length > 0 && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      setChosen((now) => (now + (event.key === 'ArrowDown' ? 1 : -1) + commands.length) % commands.length);
      return;
    }
    const command = commands[Math.min(chosen, commands.length - 1)];
    if (command && (event.key === 'Tab' || (event.key === 'Enter' && text !== command.cmd))) {
      event.preventDefault();
      complete(command);
      return;
    }
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    void send();
  };
  const onPaste = (event: ClipboardEvent): void => {
    const pasted = [...(event.clipboardData?.files ?? [])];
    if (pasted.length > 0) {
      event.preventDefault();
      uploads.add(pasted);
      return;
    }
    const words = event.clipboardData?.getData('text/plain') ?? '';
    if (words.length <= LONG_PASTE_CHARS) return;
    event.preventDefault();
    notify(t('pasted_as_file'));
    uploads.add([new File([words], 'pasted.txt', { type: 'text/plain' })]);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    uploads.add([...(event.dataTransfer?.files ?? [])]);
  };

  return (
    <form
      class={isOver ? 'composer over' : 'composer'}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <Suggestions id={id} commands={commands} chosen={chosen} onChoose={complete} />
      {isOver && <p class="drop-here">{t('drop')}</p>}
      <Attaching uploads={uploads} />
      <textarea
        ref={area}
        rows={1}
        value={text}
        dir="auto"
        disabled={!maySend}
        aria-label={t('message_to', { name: agentName })}
        aria-describedby={`${id}-keys`}
        aria-controls={commands.length > 0 ? `${id}-commands` : undefined}
        aria-activedescendant={commands.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder={maySend ? t('message_to', { name: agentName }) : t('no_send')}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div class="composer-tools">
        <input
          ref={files}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            uploads.add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
        <IconButton icon="paperclip" label={t('attach')} disabled={!maySend} onPress={() => files.current?.click()} />
        {tools}
        <span class="grow muted small-text keys" id={`${id}-keys`}>
          {t('keys')}
        </span>
        {isRunning && <IconButton icon="square" kind="danger" label={t('stop')} disabled={!maySend} onPress={() => stopped(area, onStop)} />}
        <IconButton type="submit" icon="arrow-up" kind="primary" label={t('send')} disabled={!canSend} />
      </div>
    </form>
  );
};
