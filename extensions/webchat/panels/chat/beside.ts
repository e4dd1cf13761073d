/** What is open beside the conversation, if anything. */
import { signal } from '@svc/kit';

/** A block as it was when somebody asked for it. */
export interface Wanted {
  readonly language: string;
  readonly text: string;
  /** Where the focus was. */
  readonly from: Element | null;
}

export const wanted = signal<Wanted | undefined>(undefined);

export const openBeside = (language: string, text: string): void => {
  wanted.value = { language, text, from: document.activeElement };
};

/** The focus goes back to where it was, or to the conversation where that is gone. */
export const closeBeside = (): void => {
  const from = wanted.peek()?.from;
  wanted.value = undefined;
  requestAnimationFrame(() => {
    const target = from?.isConnected ? from : document.querySelector('.turns');
    if (target instanceof HTMLElement) target.focus({ preventScroll: target !== from });
  });
};
