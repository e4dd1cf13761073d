/** What the steps of one import share. */
import type { Actor, Clock, Db, Dir, Events, OptionalHandle } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { MemoryService } from '@svc/ext-memory/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { SchedulesService } from '@svc/ext-schedules/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { SkillsService } from '@svc/ext-skills/contract';
import type { ItemKind, ItemRow } from '../contract.js';
import type { Source } from '../sources/model.js';
import type { ImportStore, Outcome } from '../store.js';

export interface ImportServices {
  readonly agents: Pick<AgentsService, 'spawn' | 'find' | 'list'>;
  readonly sessions: Pick<SessionsService, 'restore' | 'newestOf'>;
  readonly memory: OptionalHandle<MemoryService>;
  readonly skills: OptionalHandle<SkillsService>;
  readonly schedules: OptionalHandle<SchedulesService>;
  readonly providers: OptionalHandle<ProvidersService>;
}

export interface ImportOptions {
  readonly agents?: readonly string[];
  readonly import_agents?: boolean;
  readonly import_sessions?: boolean;
  readonly import_memory?: boolean;
  readonly import_skills?: boolean;
  readonly import_crons?: boolean;
  readonly import_secrets?: boolean;
}

/** An agent of the source that is here now, or would be. */
export interface Target {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

export interface Import extends ImportServices {
  readonly id: string;
  readonly actor: Actor;
  readonly source: Source;
  readonly options: ImportOptions;
  readonly isDry: boolean;
  readonly isRunning: boolean;
  readonly store: ImportStore;
  readonly clock: Clock;
  readonly db: Pick<Db, 'commit'>;
  readonly events: Events;
  readonly workspaces: () => Dir;
  readonly targets: Map<string, Target>;
  warn(message: string): void;
  /** Throws when somebody else drives the import now, or the daemon stops. */
  alive(): void;
}

export const NOT_CHOSEN = 'it was not chosen';
export const KNOWN = 'it was imported before';

export const chosen = ({ options }: Import, name: string): boolean => options.agents === undefined || options.agents.includes(name);

export const itemOf = ({ actor, source }: Import, kind: ItemKind, key: string, set: Partial<ItemRow>): ItemRow => ({
  owner_id: actor.ownerId,
  source: source.type,
  kind,
  key,
  agent_id: null,
  target: '',
  messages: 0,
  digest: '',
  ...set,
});

/** Outcomes and what else belongs to them, in one commit. A dry run writes outcomes alone. */
export const settle = async ({ actor, id, db, store, isDry }: Import, outcomes: readonly Outcome[], items: readonly ItemRow[] = []): Promise<void> => {
  const writes = [...store.outcomes(actor.ownerId, id, outcomes), ...(isDry ? [] : store.putItems(items))];
  if (writes.length > 0) await db.commit(writes);
};
