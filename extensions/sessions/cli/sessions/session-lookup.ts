/** Which session a person means: by id, by the beginning of its id, or by its label. */
import { type DaemonClient, Failure } from '@svc/cli/area';
import { didYouMean, isUuid } from '@svc/api';
import type { OutputOf } from '@svc/client';

export type SessionRow = OutputOf<'listSessions'>['sessions'][number];

const MIN_PREFIX = 4;
const PAGE = 500;
/** Sessions that are looked through for a label or the beginning of an id, the newest first. */
const MAX_LOOKED_AT = 5_000;
const SHOWN = 5;

/** Page by page, the newest first; leaving early asks for no more. */
export async function* eachSession(daemon: DaemonClient, of: { readonly agent_id?: string; readonly tag?: string; readonly deleted?: 'only' }, page = PAGE): AsyncGenerator<SessionRow> {
  for (let offset = 0; ; ) {
    const { sessions, total } = await daemon.call('listSessions', { ...of, limit: Math.min(page, PAGE), offset });
    yield* sessions;
    offset += sessions.length;
    if (sessions.length === 0 || offset >= total) return;
  }
}

/** Its id. Throws a failure that names the nearest, or those that fit as well. */
export const findSessions = async (daemon: DaemonClient, wanted: readonly string[], of: { readonly deleted?: 'only' } = {}): Promise<string[]> => {
  const rows: SessionRow[] = [];
  if (wanted.some((one) => !isUuid(one)))
    for await (const row of eachSession(daemon, of)) {
      rows.push(row);
      if (rows.length >= MAX_LOOKED_AT) break;
    }
  return [...new Set(wanted.map((one) => (isUuid(one) ? one.toLowerCase() : sessionNamed(rows, one).id)))];
};

const sessionNamed = (rows: readonly SessionRow[], wanted: string): SessionRow => {
  const byId = wanted.length >= MIN_PREFIX ? rows.filter(({ id }) => id.startsWith(wanted.toLowerCase())) : [];
  const labelled = rows.filter(({ is_labelled, label }) => is_labelled && label === wanted);
  // A label that was given comes before the words that a session began with.
  const found = [byId, labelled, rows.filter(({ label }) => label === wanted)].find((some) => some.length > 0) ?? [];
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  if (first !== undefined) {
    const some = found.slice(0, SHOWN).map(({ id, agent_name, label }) => `${id} (${[agent_name ?? 'agent is gone', ...(label === null ? [] : [label])].join(', ')})`);
    throw new Failure(`"${wanted}" is ${found.length} sessions.`, {
      code: 'cli_session_ambiguous',
      why: `it fits ${some.join('; ')}${found.length > SHOWN ? '; …' : ''}`,
      fix: 'use the whole id',
    });
  }
  const labels = rows.flatMap(({ label }) => (label === null ? [] : [label]));
  throw new Failure(`There is no session "${wanted}".${didYouMean(wanted, labels)}`, {
    code: 'cli_no_such_session',
    why: rows.length === 0 ? 'there are no sessions yet' : rows.length >= MAX_LOOKED_AT ? `the newest ${MAX_LOOKED_AT} were checked; use the whole id for an older one` : undefined,
    fix: 'svc sessions list',
  });
};
