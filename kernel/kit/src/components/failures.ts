/** What is said in passing, whoever says it. A failure stays until it is dismissed, or what it was about succeeds or is left. */
import { signal } from '@preact/signals';
import { kitWords } from '../kit-words.js';
import { connection } from '../live.js';
import { AbortedError, ClientError, ConnectionError, SvcError } from '@svc/client';

type NoticeKind = 'done' | 'failure';

interface Notice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly text: string;
  readonly hint?: string | undefined;
  /** What failed; when that succeeds, the notice goes. */
  readonly about?: string | undefined;
  readonly at: number;
}

const DONE_MS = 5_000;
const MAX_SHOWN = 4;
const SEEN_MS = 1_000;
export const CONNECTION = 'connection';

/** While the page itself says that the daemon is away, nothing else has to say so too. */
export const isOutageSaid = (error: unknown): boolean => error instanceof ConnectionError && connection.value === 'offline';

export const saidNow = signal<readonly Notice[]>([]);
let last = 0;

export const dismiss = (id: number): void => {
  saidNow.value = saidNow.peek().filter((one) => one.id !== id);
};

/** What failed before under this name has succeeded, or is over. */
export const settled = (about: string): void => {
  if (saidNow.peek().some((one) => one.about === about)) saidNow.value = saidNow.peek().filter((one) => one.about !== about);
};

/** A notice that was seen where one was says nothing where one goes; one of just now may be why. */
export const leftPlace = (): void => {
  const seenBefore = performance.now() - SEEN_MS;
  saidNow.value = saidNow.peek().filter(({ kind, at }) => kind === 'done' || at > seenBefore);
};

const add = (notice: Omit<Notice, 'id' | 'at'>): void => {
  const id = ++last;
  // The same said twice is one notice.
  saidNow.value = [...saidNow.peek().filter(({ text }) => text !== notice.text), { ...notice, id, at: performance.now() }].slice(-MAX_SHOWN);
  if (notice.kind === 'done') setTimeout(() => dismiss(id), DONE_MS);
};

export const notify = (text: string): void => add({ kind: 'done', text });

/** Says what an error says of itself; a call that was taken back is no failure. `about` names what failed, for `settled`. */
export const failed = (error: unknown, about?: string): void => {
  if (error instanceof AbortedError) return;
  const { text, hint } = sayingOf(error);
  add({ kind: 'failure', text, hint, about: error instanceof ConnectionError ? CONNECTION : about });
};

/** Of requests, fields and headers: for who writes a client. */
const FOR_CLIENTS = /\b(?:GET|POST|PUT|PATCH|DELETE) \/|\bsession_id\b|\bheader\b|\brequest body\b|\bIdempotency-Key\b/i;
const WAITS = new Set([429, 503, 504]);

/** What a person does next, here on the page. */
const hintOf = (error: ClientError): string | undefined => {
  if (error.hint !== undefined && !FOR_CLIENTS.test(error.hint)) return error.hint;
  if (!(error instanceof SvcError)) return error.hint;
  if (error.status === 403) return kitWords('ask_owner');
  if (error.status === 404) return kitWords('gone_meanwhile');
  if (error.status === 409 || error.status === 412) return kitWords('load_and_retry');
  return WAITS.has(error.status) ? kitWords('wait_and_retry') : undefined;
};

/** What people read of an error: what happened, and what to do. */
export const sayingOf = (error: unknown): { text: string; hint?: string | undefined; requestId?: string | undefined } => {
  if (error instanceof ClientError) return { text: [error.what, error.why].filter(Boolean).join(' '), hint: hintOf(error), requestId: error instanceof SvcError ? error.requestId : undefined };
  return { text: error instanceof Error ? error.message : String(error) };
};
