import { type Actor, type Clock, type Db, routeGroup } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { Branching } from '../branching/branching.js';
import type { VersionStore } from '../branching/version-store.js';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Cleaned } from '../closing/cleanup.js';
import type { Bin } from '../closing/bin.js';
import type { Closing } from '../closing/closing.js';
import type { ClosingStore } from '../closing/closing-store.js';
import type { Listing } from '../listing.js';
import type { SearchStore } from '../search/search-store.js';
import type { SessionsService } from '../contract.js';
import type { SessionConfig } from '../config.js';
import type { ChangeEvents } from '../service.js';
import type { DrawnPages } from '../sharing/drawn-pages.js';
import type { ShareStore } from '../sharing/share-store.js';
import type { Sharing } from '../sharing/sharing.js';
import type { Titler } from '../titling/titling.js';
import type { SessionStore } from '../store.js';

export interface SessionRouteDeps {
  readonly sessions: SessionsService;
  readonly agents: AgentsService;
  readonly store: SessionStore;
  readonly listing: Listing;
  readonly catalogue: Catalogue;
  readonly search: SearchStore;
  readonly titler: Titler;
  /** Throws where no provider has it. */
  resolveModel(model: { readonly provider: string; readonly model: string }): Promise<void>;
  readonly branch: Branching;
  readonly versions: VersionStore;
  readonly closing: Closing;
  readonly bin: Bin;
  readonly closingStore: ClosingStore;
  readonly shares: ShareStore;
  readonly sharing: Sharing;
  readonly drawnPages: DrawnPages;
  readonly clock: Pick<Clock, 'iso'>;
  settings(): SessionConfig;
  cleanUp(actor: Actor): Promise<Cleaned>;
  readonly changeEvents: ChangeEvents;
  commit: Db['commit'];
}

export const route = routeGroup({ area: 'sessions' });

/** Batches of entries that a list has read first, 600. */
export const BATCHES_FIRST = 3;
