/** Erasing somebody: who, and how far it has come. */
import type { Plain } from './declare/plain.js';
import { Type } from './schema/schema.js';

const Id = Type.String({ minLength: 1, maxLength: 200 });

/** Exactly one of the three. */
export const PurgeSubject = Type.Object({
  ownerId: Type.Optional(Id),
  agentId: Type.Optional(Id),
  sessionId: Type.Optional(Id),
});
export type PurgeSubject = Plain<typeof PurgeSubject>;

/** The progress of a `ctx.purge`. An incomplete purge continues automatically, also after a restart. */
export interface Purged {
  readonly id: string;
  /** Every area that may hold something has let go of it. */
  readonly complete: boolean;
  /** Ids of those that have not: they are off, or failed at it. They do so before they serve anybody again. */
  readonly waiting: readonly string[];
}
