/** What was recalled into conversations goes with its entry. */
import type { Actor, Actors, Db } from '@svc/api';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { EntryRow, RecallRow } from '../contract.js';

export interface ErasingDeps {
  readonly db: Db;
  readonly actors: Pick<Actors, 'only'>;
  readonly sessions: Pick<SessionsService, 'eraseRecalled'>;
}

/** Answers the conversations. */
export const eraseRecalled = async ({ db, actors, sessions }: ErasingDeps, { ownerId }: Pick<Actor, 'ownerId'>, rows: ReadonlyArray<Pick<EntryRow, 'place' | 'id'>>): Promise<string[]> => {
  const actor = actors.only('memory', ownerId);
  const ids = new Map(rows.map(({ place, id }) => [Number(place), id]));
  const recalls = await db.as(actor).select<RecallRow>({ from: 'recalls', where: { place: [...ids.keys()] } });
  const bySession = new Map<string, string[]>();
  for (const { session_id: session, place } of recalls) bySession.set(session, [...(bySession.get(session) ?? []), ids.get(Number(place)) ?? '']);
  for (const [session, some] of bySession)
    await sessions.eraseRecalled(actor, session, { by: 'memory', ids: some }).catch((error: { code?: string }) => {
      // A conversation that went took it along.
      if (error.code !== 'session_not_found') throw error;
    });
  return [...bySession.keys()];
};
