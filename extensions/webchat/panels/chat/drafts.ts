/** What was typed and not sent yet, by conversation: kept in this browser, so that a reload or a crash of the tab loses nothing. */
import { keep, kept } from '@svc/kit';

const PREFIX = 'svc.draft.';
/** A browser keeps some megabytes for all of the page. */
const MAX_KEPT_CHARS = 200_000;

export const draftOf = (conversation: string): string => kept(PREFIX + conversation) ?? '';

/** False where it could not be kept: too long, or the browser's storage is full. */
export const keepDraft = (conversation: string, text: string): boolean => text.length <= MAX_KEPT_CHARS && keep(PREFIX + conversation, text === '' ? null : text);

const EDIT = 'svc.edit.';

/** What was typed in place of one message of a conversation, by the number of its entry. */
export interface Edits {
  of(seq: number): string | undefined;
  /** Undefined: it was sent, or left as it was. */
  keep(seq: number, text: string | undefined): void;
}

export const editsOf = (conversation: string): Edits => ({
  of: (seq) => kept(`${EDIT}${conversation}.${seq}`) ?? undefined,
  keep: (seq, text) => {
    if (text === undefined || text.length <= MAX_KEPT_CHARS) keep(`${EDIT}${conversation}.${seq}`, text ?? null);
  },
});

const PINS = 'svc.pins';

/** Ids of the conversations that were pinned in this browser. */
export const pinnedIds = (): readonly string[] => {
  try {
    const known: unknown = JSON.parse(kept(PINS) ?? '[]');
    return Array.isArray(known) ? known.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
};

const MAX_PINS = 200;

/** False where they could not be kept. */
export const keepPins = (ids: readonly string[]): boolean => keep(PINS, JSON.stringify(ids.slice(0, MAX_PINS)));
