/** When people were last seen who call with keys of the settings: written once a minute, and nobody waits for it. */
import type { Actor, Clock, Db, Logger } from '@svc/api';
import type { PersonRow } from './people-rows.js';

export interface SeenDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly log: Logger;
  /** Those who have a row. */
  readonly rows: () => readonly PersonRow[];
}

const MAX_SEEN = 10_000;
const nameOf = (id: string): string => id.replace(/^user:/, '');

/** Of somebody whom the settings name. */
export const rowOf = (id: string, now: string): PersonRow => ({
  ...{ id, owner_id: id, name: nameOf(id), email: null, source: 'settings', role: null, set_role: null, disabled: 0 },
  ...{ created_at: now, seen_at: null },
});

export const createSeen = ({ clock, db, log, rows }: SeenDeps) => {
  const seen = new Map<string, number>();
  return {
    saw: ({ id }: Actor): void => {
      if (seen.size < MAX_SEEN) seen.set(id, clock.now());
    },
    write: async (): Promise<void> => {
      if (seen.size === 0) return;
      const news = [...seen];
      seen.clear();
      const known = new Set(rows().map(({ id }) => id));
      const first = news.filter(([id]) => !known.has(id)).map(([id]) => rowOf(id, clock.iso()));
      const times = news.map(([id, ms]) => ({ id, seen_at: new Date(ms).toISOString() }));
      try {
        await db.commit([...(first.length === 0 ? [] : [db.insert('people', first, { ifAbsent: true })]), db.update('people', ['id'], times)]);
      } catch (cause) {
        log.warn('when people were last seen could not be written down', { people: news.length, cause });
      }
    },
  };
};
export type Seen = ReturnType<typeof createSeen>;
