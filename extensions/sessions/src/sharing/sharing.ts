/**
 * Conversations that can be read by a link.
 *
 * A1  A link shows the conversation as it was when the link was made or last updated; what is written later is not shown.
 * A2  A token holds 256 random bits and is told once: what is stored is its hash.
 * A3  A link ends at once when it is revoked or over, with its conversation, its agent and its person, and while [session]
 *     share_links is false. A lower share_max_days holds for links that exist.
 * A4  Only the person whose conversation it is makes a link to it.
 */
import { createHash } from 'node:crypto';
import type { Actor, Clock, Ids, Write } from '@svc/api';
import type { SessionConfig } from '../config.js';
import { sessionsErrors } from '../errors.js';
import type { ListedSession } from '../listing.js';
import { newestEntries } from '../routes/newest-entries.js';
import type { SessionStore } from '../store.js';
import type { ShareRow } from '../tables.js';
import type { ShareStore } from './share-store.js';
import type { SharedConversation } from './share-page.js';
import { sharedMessages, sharedTitle } from './shared-view.js';

export interface SharingDeps {
  readonly store: Pick<SessionStore, 'find' | 'entries'>;
  readonly shares: ShareStore;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid' | 'bytes'>;
  settings(): Pick<SessionConfig, 'share_links' | 'share_max_days'>;
}

/** null: without an expiry; undefined: the usual one. */
export type Days = number | null | undefined;

export interface Sharing {
  /** Throws `share_links_off`, `share_not_own`, `share_too_long`, `too_many_shares`, `nothing_to_share`. */
  create(actor: Actor, session: ListedSession, days: Days): Promise<{ readonly row: ShareRow; readonly token: string; readonly writes: readonly Write[] }>;
  /** To the conversation as it is now. Days that are undefined leave the expiry as it is. */
  update(actor: Actor, row: ShareRow, days: Days): Promise<{ readonly row: ShareRow; readonly writes: readonly Write[] }>;
  /** Undefined for every token that shows nothing, whatever the reason. */
  read(token: string): Promise<{ readonly key: string; readonly conversation: SharedConversation } | undefined>;
  /** When the link ends, by its own expiry and the setting; null means never. */
  endOf(row: ShareRow): string | null;
  /** Days of a link whose person says nothing. */
  usualDays(): number;
}

const TOKEN_BYTES = 32;
const USUAL_DAYS = 30;
const DAY_MS = 86_400_000;
const MAX_SHARES = 200;
/** Of one page; the oldest messages of a longer conversation are left out. */
const MAX_SHOWN_CHARS = 500_000;

export const createSharing = (deps: SharingDeps): Sharing => {
  const { clock, ids, settings, shares } = deps;
  const usualDays = (): number => Math.min(USUAL_DAYS, settings().share_max_days || USUAL_DAYS);
  const endOf = (row: ShareRow): string | null => endsAt(row, settings().share_max_days);
  return {
    usualDays,
    endOf,
    create: async (actor, session, days) => {
      assertMayShare(deps, actor, session.ownerId);
      const now = clock.iso();
      const over = shares.removeOver(session.ownerId, now);
      const [through, count] = await Promise.all([throughOf(deps, actor, session.id), shares.countOf(session.ownerId)]);
      if (count >= MAX_SHARES) throw sessionsErrors.too_many_shares(MAX_SHARES);
      const token = Buffer.from(ids.bytes(TOKEN_BYTES)).toString('base64url');
      const row: ShareRow = {
        id: ids.uuid(),
        owner_id: session.ownerId,
        agent_id: session.agentId,
        session_id: session.id,
        token_hash: hashOf(token),
        title: sharedTitle(session),
        through_seq: through,
        created_at: now,
        as_of: now,
        valid_from: now,
        expires_at: expiryOf(deps, days === undefined ? usualDays() : days),
      };
      return { row, token, writes: [over, shares.insert(row)] };
    },
    update: async (actor, before, days) => {
      assertMayShare(deps, actor, before.owner_id);
      const now = clock.iso();
      const through = await throughOf(deps, actor, before.session_id);
      const expiry = days === undefined ? {} : { valid_from: now, expires_at: expiryOf(deps, days) };
      const row = { ...before, through_seq: through, as_of: now, ...expiry };
      return { row, writes: [shares.update(row)] };
    },
    read: async (token) => {
      if (!settings().share_links) return undefined;
      const row = await shares.byHash(hashOf(token));
      const end = row && endOf(row);
      if (!row || (typeof end === 'string' && end <= clock.iso())) return undefined;
      return { key: snapshotOf(row), conversation: await shownOf(deps, row) };
    },
  };
};

const assertMayShare = ({ settings }: SharingDeps, actor: Actor, ownerId: string): void => {
  if (!settings().share_links) throw sessionsErrors.share_links_off();
  if (ownerId !== actor.ownerId) throw sessionsErrors.share_not_own();
};

const throughOf = async ({ store }: SharingDeps, actor: Actor, sessionId: string): Promise<number> => {
  const seq = (await store.find(actor, sessionId))?.seq ?? 0;
  if (seq === 0) throw sessionsErrors.nothing_to_share();
  return seq;
};

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

const expiryOf = ({ clock, settings }: SharingDeps, days: number | null): string | null => {
  const max = settings().share_max_days;
  if (max > 0 && (days === null || days > max)) throw sessionsErrors.share_too_long(max);
  return days === null ? null : new Date(clock.now() + days * DAY_MS).toISOString();
};

const endsAt = ({ valid_from: from, expires_at: asked }: ShareRow, maxDays: number): string | null => {
  if (maxDays === 0) return asked;
  const latest = new Date(Date.parse(from) + maxDays * DAY_MS).toISOString();
  return asked === null || latest < asked ? latest : asked;
};

/** Another one where the link was updated. */
const snapshotOf = ({ id, as_of: asOf, through_seq: through }: ShareRow): string => `${id} ${asOf} ${through}`;

const shownOf = async ({ store }: SharingDeps, { as_of: asOf, session_id: sessionId, through_seq: through, title }: ShareRow): Promise<SharedConversation> => {
  const { entries, isWhole } = await newestEntries(store, sessionId, through);
  const all = sharedMessages(entries, through);
  const messages = newestWithin(all);
  return { title, asOf, messages, isWhole: isWhole && messages.length === all.length };
};

const newestWithin = <T extends { readonly text: string }>(all: readonly T[]): readonly T[] => {
  let chars = 0;
  const first = all.findLastIndex(({ text }) => {
    chars += text.length;
    return chars > MAX_SHOWN_CHARS;
  });
  return all.slice(Math.min(first + 1, all.length - 1));
};
