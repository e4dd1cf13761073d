/**
 * What a person edits, and what it began from.
 *
 * D1  What is typed stays: over reloads of what it began from, and while they look at something else of the page.
 *     Whoever logs in after somebody else finds nothing of theirs.
 * D2  What was changed elsewhere meanwhile is told, and nothing is sent over it before they have said what becomes of both.
 */
import { effect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { caller } from './caller.js';

/** Plain data, as the daemon sends it. `version` is what the daemon names that state by: a revision, a rev. */
export interface Versioned<T> {
  readonly value: T;
  readonly version: string | number | null;
}

export interface Draft<T> {
  readonly value: T;
  /** What it began from, and the version to send with it. */
  readonly base: T;
  readonly version: string | number | null;
  readonly isDirty: boolean;
  /** What stands there now, where that is neither what it began from nor what was typed. */
  readonly theirs: T | undefined;
  change(value: T): void;
  /** Goes on from what stands there now. Of a record, the fields that were not touched are taken over. */
  goOn(): void;
  /** Forgets what was typed. */
  drop(): void;
  /** It stands there now. */
  saved(version: Versioned<T>['version']): void;
}

interface State<T> {
  readonly value: T;
  readonly base: Versioned<T>;
  readonly theirs?: Versioned<T> | undefined;
}

const MAX_KEPT = 50;
/** By key; `unknown`, since each key has its own kind of value. */
const kept = new Map<string, unknown>();

let owner: string | undefined;
effect(() => {
  const now = caller.value?.isKnown ? `${caller.value.role} ${caller.value.name}` : undefined;
  if (now !== undefined && owner !== undefined && now !== owner) kept.clear();
  owner = now ?? owner;
});

addEventListener('beforeunload', (event) => {
  if (kept.size > 0) event.preventDefault();
});

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const freshOf = <T>(now: Versioned<T>): State<T> => ({ value: now.value, base: now });

const keep = <T>(key: string, state: State<T>): State<T> => {
  kept.delete(key);
  if (!isSame(state.value, state.base.value)) kept.set(key, state);
  if (kept.size > MAX_KEPT) for (const [oldest] of [...kept].slice(0, kept.size - MAX_KEPT)) kept.delete(oldest);
  return state;
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const onTop = <T>(base: T, mine: T, theirs: T): T => {
  if (!isRecord(base) || !isRecord(mine) || !isRecord(theirs)) return mine;
  const touched = Object.entries(mine).filter(([field, value]) => !isSame(value, base[field]));
  // The same fields with values of the same kinds.
  return { ...theirs, ...Object.fromEntries(touched) } as T;
};

const met = <T>(state: State<T>, now: Versioned<T>): State<T> => {
  if (now.version === state.base.version) return { ...state, theirs: undefined };
  if (isSame(state.value, state.base.value) || isSame(state.value, now.value)) return freshOf(now);
  if (isSame(state.base.value, now.value)) return { value: state.value, base: now };
  return { ...state, theirs: now };
};

/** `key` names what is edited; where another one is edited, the component needs another `key` too. */
export const useDraft = <T>(key: string, now: Versioned<T>): Draft<T> => {
  // What was kept under this key was put there by this hook.
  const [state, setState] = useState(() => (kept.get(key) as State<T> | undefined) ?? freshOf(now));
  const set = (next: (before: State<T>) => State<T>): void => setState((before) => keep(key, next(before)));
  useEffect(() => set((before) => met(before, now)), [now.version]);
  return {
    value: state.value,
    base: state.base.value,
    version: state.base.version,
    isDirty: !isSame(state.value, state.base.value),
    theirs: state.theirs?.value,
    change: (value) => set((before) => ({ ...before, value })),
    goOn: () => set((before) => (before.theirs ? { value: onTop(before.base.value, before.value, before.theirs.value), base: before.theirs } : before)),
    drop: () => set((before) => freshOf(before.theirs ?? before.base)),
    saved: (version) => set((before) => freshOf({ value: before.value, version })),
  };
};
