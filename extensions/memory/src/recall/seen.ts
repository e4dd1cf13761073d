/** What conversations already hold of memory, so that a fact stands in each once. Made of the log again after a restart. */
import type { Actor } from '@svc/api';
import type { Entry, SessionsService } from '@svc/ext-sessions/contract';

export interface Seen {
  /** Texts that were recalled into this conversation, by the id of their entry. */
  of(actor: Actor, sessionId: string): Promise<Map<string, string>>;
  forget(): void;
}

const MAX_SESSIONS = 1_000;
const PAGE = 500;
const MAX_PAGES = 20;

export const createSeen = (sessions: Pick<SessionsService, 'entries'>): Seen => {
  const known = new Map<string, Map<string, string>>();
  return {
    of: async (actor, sessionId) => {
      const seen = known.get(sessionId) ?? (await read(sessions, actor, sessionId));
      known.delete(sessionId);
      known.set(sessionId, seen);
      const [oldest] = known.keys();
      if (known.size > MAX_SESSIONS && oldest !== undefined) known.delete(oldest);
      return seen;
    },
    forget: () => known.clear(),
  };
};

const read = async (sessions: Pick<SessionsService, 'entries'>, actor: Actor, sessionId: string): Promise<Map<string, string>> => {
  const seen = new Map<string, string>();
  for (let page = 0, after = 0; page < MAX_PAGES; page += 1) {
    const entries: readonly Entry[] = await sessions.entries(actor, sessionId, { after, limit: PAGE }).catch(() => []);
    for (const { kind, recalled, content = '' } of entries) if (kind === 'recall' && recalled?.by === 'memory') seen.set(recalled.id, content);
    const last = entries.at(-1);
    if (!last || entries.length < PAGE) return seen;
    after = last.seq;
  }
  return seen;
};
