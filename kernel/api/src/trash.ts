/** The bin: what was deleted waits there, out of everybody's sight, and can come back until its time is over. */
import type { Actor } from './actor.js';

export type TrashKind = 'agent' | 'session';

export interface TrashItem {
  readonly kind: TrashKind;
  readonly id: string;
  readonly ownerId: string;
  /** The agent that it belongs to; null for an agent. */
  readonly agentId: string | null;
  /** What the area that put it there needs to show it and to bring it back. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly deletedAt: string;
  /** When it is erased; an ISO time. */
  readonly keepUntil: string;
}

/**
 * A deletion that can be undone. The rows of an agent or a session leave the tables of all areas, so that nothing lists, finds, counts or
 * reads them, and no backup holds them. `ctx.purge` erases them there too. Needs the grant `purge`.
 */
export interface Trash {
  /** May be called again for what is there, or was interrupted on its way. Stop what writes these rows before. */
  put(item: TrashItem): Promise<void>;
  /** Resolves with false if there is no such item, or its time is over. */
  restore(kind: TrashKind, id: string): Promise<boolean>;
  /** What the actor may see, the newest first. */
  list(
    actor: Actor,
    kind: TrashKind,
    query: { readonly limit: number; readonly offset?: number; readonly agentId?: string },
  ): Promise<{ readonly items: readonly TrashItem[]; readonly total: number }>;
  find(actor: Actor, kind: TrashKind, id: string): Promise<TrashItem | undefined>;
  /** Whether a row of this own table with this value is in the bin: what it refers to elsewhere (bytes, a secret) has to stay. Needs no grant. */
  holds(table: string, column: string, value: string): Promise<boolean>;
}
