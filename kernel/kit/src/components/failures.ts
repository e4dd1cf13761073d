/** What is said in passing, whoever says it. A failure stays until it is dismissed. */
import { signal } from '@preact/signals';
import { AbortedError, ClientError, SvcError } from '@svc/client';

type NoticeKind = 'done' | 'failure';

interface Notice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly text: string;
  readonly hint?: string | undefined;
}

const DONE_MS = 5_000;
const MAX_SHOWN = 4;

export const saidNow = signal<readonly Notice[]>([]);
let last = 0;

export const dismiss = (id: number): void => {
  saidNow.value = saidNow.peek().filter((one) => one.id !== id);
};

const add = (notice: Omit<Notice, 'id'>): void => {
  const id = ++last;
  // The same said twice is one notice.
  saidNow.value = [...saidNow.peek().filter(({ text }) => text !== notice.text), { ...notice, id }].slice(-MAX_SHOWN);
  if (notice.kind === 'done') setTimeout(() => dismiss(id), DONE_MS);
};

export const notify = (text: string): void => add({ kind: 'done', text });

/** Says what an error says of itself; a call that was taken back is no failure. */
export const failed = (error: unknown): void => {
  if (error instanceof AbortedError) return;
  const { text, hint } = sayingOf(error);
  add({ kind: 'failure', text, hint });
};

/** What people read of an error: what happened, and what to do. */
export const sayingOf = (error: unknown): { text: string; hint?: string | undefined; requestId?: string | undefined } => {
  if (error instanceof ClientError) return { text: [error.what, error.why].filter(Boolean).join(' '), hint: error.hint, requestId: error instanceof SvcError ? error.requestId : undefined };
  return { text: error instanceof Error ? error.message : String(error) };
};
