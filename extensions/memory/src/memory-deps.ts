/** What every part of memory works with. */
import type { Actor, Actors, Clock, Db, Events, Ids, Logger, Reader } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { MemoryConfig, ProactiveConfig } from './config.js';
import { type Level, type MemoryChange, MemoryChanged } from './contract.js';

export interface MemoryDeps {
  readonly db: Db;
  readonly events: Pick<Events, 'event'>;
  readonly actors: Pick<Actors, 'only' | 'of' | 'system'>;
  readonly agents: Pick<AgentsService, 'get' | 'briefs' | 'list'>;
  readonly clock: Pick<Clock, 'now' | 'iso' | 'mono' | 'sleep'>;
  readonly ids: Pick<Ids, 'uuid' | 'random'>;
  readonly log: Logger;
  memory(): MemoryConfig;
  proactive(): ProactiveConfig;
}

/** Reads the rows of one person, also where that person may see everybody's: memory is for its owner alone. */
export const own = ({ db, actors }: Pick<MemoryDeps, 'db' | 'actors'>, actor: Pick<Actor, 'ownerId'>): Reader => db.as(actors.only('memory', actor.ownerId));

export const changed = (deps: Pick<MemoryDeps, 'events'>, change: MemoryChange) => deps.events.event(MemoryChanged, change);

/** Which entries are meant. `agentId`: of this agent, with those of all agents where `shared` is set. */
export interface Scope {
  readonly agentId?: string;
  readonly shared?: boolean;
  readonly level?: Level;
  readonly category?: string;
  readonly userId?: string;
  readonly archived?: boolean;
}
