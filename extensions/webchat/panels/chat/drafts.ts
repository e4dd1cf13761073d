/** What was typed and not sent yet, by conversation: kept in this browser, so that a reload or a crash of the tab loses nothing. */
const PREFIX = 'svc.draft.';
/** A browser keeps some megabytes for all of the page. */
const MAX_KEPT_CHARS = 200_000;

export const draftOf = (conversation: string): string => localStorage.getItem(PREFIX + conversation) ?? '';

/** False where it could not be kept: too long, or the browser's storage is full. */
export const keepDraft = (conversation: string, text: string): boolean => {
  try {
    if (text === '') localStorage.removeItem(PREFIX + conversation);
    else if (text.length > MAX_KEPT_CHARS) return false;
    else localStorage.setItem(PREFIX + conversation, text);
    return true;
  } catch {
    return false; // full, or switched off
  }
};

const PINS = 'svc.pins';

/** Ids of the conversations that were pinned in this browser. */
export const pinnedIds = (): readonly string[] => {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PINS) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
};

const MAX_PINS = 200;

export const keepPins = (ids: readonly string[]): void => localStorage.setItem(PINS, JSON.stringify(ids.slice(0, MAX_PINS)));
