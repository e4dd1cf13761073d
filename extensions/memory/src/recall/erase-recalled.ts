/** What was recalled into conversations goes with its entry. */
import type { Actor, Actors, Db } from '@svc/api';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { EdgeRow, EntryRow, RecallRow } from '../contract.js';

export interface ErasingDeps {
  readonly db: Db;
  readonly actors: Pick<Actors, 'only'>;
  readonly sessions: Pick<SessionsService, 'eraseRecalled'>;
}

/** What names an edge of the graph among recalled texts. */
export const relationId = (edgeId: string): string => `relation:${edgeId}`;

/** Answers the conversations. */
export const eraseRecalled = async ({ db, actors, sessions }: ErasingDeps, { ownerId }: Pick<Actor, 'ownerId'>, rows: ReadonlyArray<Pick<EntryRow, 'place' | 'id'>>): Promise<string[]> => {
  const actor = actors.only('memory', ownerId);
  const ids = new Map(rows.map(({ place, id }) => [Number(place), id]));
  const recalls = await db.as(actor).select<RecallRow>({ from: 'recalls', where: { place: [...ids.keys()] } });
  const bySession = new Map<string, string[]>();
  for (const { session_id: session, place } of recalls) bySession.set(session, [...(bySession.get(session) ?? []), ids.get(Number(place)) ?? '']);
  if (bySession.size === 0) return [];
  // What an entry says may have been recalled as a relation.
  const edges = await db.as(actor).select<EdgeRow>({ from: 'edges', where: { source: [...ids.values()] } });
  const relations = new Map<string, string[]>();
  for (const { id, source } of edges) relations.set(source, [...(relations.get(source) ?? []), relationId(id)]);
  for (const [session, some] of bySession)
    await sessions.eraseRecalled(actor, session, { by: 'memory', ids: some.flatMap((id) => [id, ...(relations.get(id) ?? [])]) }).catch((error: { code?: string }) => {
      // A conversation that went took it along.
      if (error.code !== 'session_not_found') throw error;
    });
  return [...bySession.keys()];
};
