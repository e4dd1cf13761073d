/** What asks before anything goes on. The browser's own dialog: the focus stays in it, Escape closes it, and it comes back to where it was. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { kitWords } from '../kit-words.js';
import { Button, IconButton } from './button.js';

const FOCUSABLE = ':is(a[href], button, input, select, textarea, [tabindex])';
const FIRST = '.dialog-body :is(input, select, textarea):not([disabled], [type=hidden]), .dialog-actions button:not([disabled])';

export const Dialog = ({ title, onClose, children, actions, wide = false }: { title: string; onClose: () => void; children: ComponentChildren; actions?: ComponentChildren; wide?: boolean }) => {
  const own = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = own.current;
    dialog?.showModal();
    // Long text alone is scrolled with keys, too.
    const body = dialog?.querySelector<HTMLElement>('.dialog-body');
    if (body && !body.querySelector(FOCUSABLE)) body.tabIndex = 0;
    // Where the browser would begin with the button that closes it: the first field, else the first thing to do.
    if (document.activeElement?.closest('.dialog-head')) dialog?.querySelector<HTMLElement>(FIRST)?.focus();
    return () => {
      // While it is open nothing around it can have the focus.
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={own} class={wide ? 'dialog wide' : 'dialog'} aria-labelledby={id} onClose={({ currentTarget }) => currentTarget.isConnected && onClose()} onCancel={onClose}>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <IconButton icon="x" label={kitWords('close')} onPress={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
      {actions && <footer class="dialog-actions">{actions}</footer>}
    </dialog>
  );
};

interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  readonly action: string;
  readonly isDangerous?: boolean;
}

const asked = signal<(Question & { readonly answer: (yes: boolean) => void }) | undefined>(undefined);

/** Asks, and resolves with whether the person said yes. */
export const confirmed = (question: Question): Promise<boolean> =>
  new Promise((resolve) => {
    asked.peek()?.answer(false);
    const answer = (yes: boolean): void => {
      asked.value = undefined;
      resolve(yes);
    };
    asked.value = { ...question, answer };
  });

/** Where questions appear; the page has one. */
export const Questions = () => {
  const question = asked.value;
  if (!question) return null;
  const { title, text, action, isDangerous, answer } = question;
  return (
    <Dialog
      title={title}
      onClose={() => answer(false)}
      actions={
        <>
          <Button onPress={() => answer(false)}>{kitWords('cancel')}</Button>
          <Button kind={isDangerous ? 'danger' : 'primary'} onPress={() => answer(true)}>
            {action}
          </Button>
        </>
      }
    >
      {typeof text === 'string' ? <p>{text}</p> : text}
    </Dialog>
  );
};
