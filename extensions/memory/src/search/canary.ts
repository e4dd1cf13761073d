/**
 * Entries that are looked for by their own text, hourly: what is stored must be found.
 *
 * C1  It asks as the owner of the entries would, over the same search, and counts as no use of them.
 * C2  What it keeps are numbers: no text, and nobody's name.
 */
import type { Actors, Db, Logger } from '@svc/api';
import type { EntryRow } from '../contract.js';
import type { Memories } from '../memory.js';
import { termsAsked } from './terms.js';

export interface CanaryDeps {
  readonly db: Db;
  readonly actors: Pick<Actors, 'only'>;
  readonly memories: Pick<Memories, 'search'>;
  readonly log: Logger;
}

export interface Canary {
  look(): Promise<void>;
  /** Of the last time; undefined before the first. */
  readonly standing: { readonly asked: number; readonly found: number } | undefined;
}

const ASKED = 10;
const FIRST = 10;
const MAX_CHARS = 300;

export const createCanary = ({ db, actors, memories, log }: CanaryDeps): Canary => {
  let standing: Canary['standing'];
  return {
    get standing() {
      return standing;
    },
    look: async () => {
      const newest = [{ column: 'created_at', descending: true }, { column: 'place' }];
      const newestRows = await db.system('newest entries, to look for').select<EntryRow>({ from: 'entries', where: { archived: 0, superseded_by: null }, order: newest, limit: ASKED });
      // Words that stand in every text find nothing.
      const rows = newestRows.filter(({ content }) => termsAsked(content.slice(0, MAX_CHARS)).length > 0);
      let found = 0;
      for (const row of rows) {
        const query = { q: row.content.slice(0, MAX_CHARS), limit: FIRST, ...(row.agent_id === '' ? {} : { agentId: row.agent_id }) };
        const answer = await memories.search(actors.only('memory', row.owner_id), query, false).catch((cause: unknown) => {
          log.warn('an entry of memory could not be looked for', { cause });
          return { found: [] };
        });
        // Others may say the very same.
        if (answer.found.some((one) => one.row.id === row.id || one.row.content === row.content)) found += 1;
      }
      standing = { asked: rows.length, found };
    },
  };
};
