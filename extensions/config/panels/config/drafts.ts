/**
 * What was typed and not saved. It outlives a change of the panel, and what the daemon says meanwhile never goes over it.
 */
import { type Signal, signal } from '@svc/kit';
import { isSame, type Read, readTyped, type Schema, type Typed } from '@svc/kit/collection';

export interface Draft {
  readonly path: string;
  readonly typed: Typed;
  /** The value when the change was begun; undefined where there was none. */
  readonly base: unknown;
  /** What the daemon said when it refused it. */
  readonly refusal?: string;
}

export const drafts: Signal<ReadonlyMap<string, Draft>> = signal<ReadonlyMap<string, Draft>>(new Map());

const change = (fn: (map: Map<string, Draft>) => void): void => {
  const next = new Map(drafts.peek());
  fn(next);
  drafts.value = next;
};

/** Typing back what there was is no change. */
export const type = (schema: Schema, path: string, typed: Typed, value: unknown): void =>
  change((map) => {
    const base = map.has(path) ? map.get(path)?.base : value;
    const read = readTyped(schema, typed);
    if (typed !== null && 'value' in read && isSame(read.value, base)) map.delete(path);
    else map.set(path, { path, typed, base });
  });

export const drop = (...paths: readonly string[]): void =>
  change((map) => {
    for (const path of paths) map.delete(path);
  });

export const dropAll = (): void => {
  drafts.value = new Map();
};

/** What is typed stands above what somebody else made of it meanwhile. */
export const rebase = (path: string, base: unknown): void =>
  change((map) => {
    const draft = map.get(path);
    if (draft) map.set(path, { ...draft, base });
  });

export const refuse = (path: string, refusal: string): void =>
  change((map) => {
    const draft = map.get(path);
    if (draft) map.set(path, { ...draft, refusal });
  });

export const readDraft = (schema: Schema, draft: Draft): Read => readTyped(schema, draft.typed);
