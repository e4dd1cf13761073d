/**
 * Who may write to agents from a channel.
 *
 * S1  Where `dm_policy` is `allowed_only`, a sender who is not known gets one answer with a code. Who runs the channel allows them with it.
 * S2  A code can be used once, within a day; it is taken in one statement.
 * S4  Who was given a code and is not allowed two days later is forgotten: whoever writes under many names leaves no rows behind.
 * S3  A sender who is not linked is nobody of svc: what they write is text from outside, and no command that changes anything.
 */
import { type Actor, type Clock, type Db, type Events, type Ids, isUuid, type Write } from '@svc/api';
import { type Account, listField } from './account.js';
import type { Incoming } from './adapters/adapter.js';
import { ChannelChanged, type SenderRow } from './contract.js';
import { channelErrors } from './errors.js';
import { uuidV5 } from './ids.js';

export interface Senders {
  list(actor: Actor): Promise<SenderRow[]>;
  /** `code` where they were not asked for one yet. */
  admission(account: Account, message: Pick<Incoming, 'chat' | 'sender' | 'senderName'>): Promise<{ readonly isAllowed: boolean; readonly code?: string }>;
  allow(code: string): Promise<SenderRow>;
  remove(actor: Actor, id: string): Promise<SenderRow>;
  /** Removes those whose codes have run out for a day. */
  forgotten(): readonly Write[];
}

const CODE_CHARS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const CODE_LENGTH = 8;
const DAY_MS = 86_400_000;
const WAITS_MS = 2 * DAY_MS;
const MAX_SENDERS = 10_000;
const MAX_NAME = 200;

export const senderId = (channel: string, sender: string): string => uuidV5('sender', channel, sender);
export const newCode = (ids: Pick<Ids, 'bytes'>): string => [...ids.bytes(CODE_LENGTH)].map((byte) => CODE_CHARS[byte % CODE_CHARS.length]).join('');
/** Codes that were given before have run out. */
export const codesSince = ({ now }: Pick<Clock, 'now'>): string => new Date(now() - DAY_MS).toISOString();

export const createSenders = ({ db, clock, ids, events }: { readonly db: Db; readonly clock: Pick<Clock, 'iso' | 'now'>; readonly ids: Pick<Ids, 'bytes'>; readonly events: Events }): Senders => {
  const changed = (name: string) => events.event(ChannelChanged, { name, change: 'senders' });
  const since = (): string => codesSince(clock);
  return {
    list: (actor) => db.as(actor).select<SenderRow>({ from: 'senders', order: [{ column: 'created_at', descending: true }], limit: MAX_SENDERS }),
    admission: async (account, { chat, sender, senderName }) => {
      if (listField(account, 'allowed_users').includes(sender)) return { isAllowed: true };
      const id = senderId(account.name, sender);
      const known = await db.system('a sender').first<SenderRow>({ from: 'senders', where: { id } });
      if (known?.state === 'allowed') return { isAllowed: true };
      if (known && known.created_at > since()) return { isAllowed: false };
      const code = newCode(ids);
      const now = clock.iso();
      const row: SenderRow = {
        ...{ id, owner_id: account.ownerId, channel: account.name, sender, name: (senderName ?? '').slice(0, MAX_NAME), state: 'waiting' },
        ...{ code, created_at: now, allowed_at: null, code_at: now, code_chat: chat, person_id: null, person_role: null, linked_at: null },
      };
      await db.commit([db.upsert('senders', ['id'], [row]), changed(account.name)]);
      return { isAllowed: false, code };
    },
    allow: async (given) => {
      const code = given.trim().toUpperCase();
      const found = await db.system('a code').first<SenderRow>({ from: 'senders', where: { code, state: 'waiting', created_at: { gt: since() } } });
      if (!found) throw channelErrors.no_code();
      const now = clock.iso();
      const table = db.table('senders');
      await db.commit([
        db.sql(`UPDATE ${table} SET state = 'allowed', code = NULL, allowed_at = ? WHERE id = ? AND code = ? AND state = 'waiting'`, [now, found.id, code], { expect: 1 }),
        changed(found.channel),
      ]);
      return { ...found, state: 'allowed', code: null, allowed_at: now };
    },
    remove: async (actor, id) => {
      const row = isUuid(id) ? await db.as(actor).first<SenderRow>({ from: 'senders', where: { id: id.toLowerCase() } }) : undefined;
      if (!row) throw channelErrors.sender_not_found(id);
      await db.commit([db.remove('senders', { id: row.id }, { expect: 'any' }), changed(row.channel)]);
      return row;
    },
    forgotten: () => {
      const before = { lt: new Date(clock.now() - WAITS_MS).toISOString() };
      const waiting = { state: 'waiting', person_id: null, created_at: before };
      // A code for /link is given later than the first one.
      return [db.remove('senders', { ...waiting, code_at: before }, { expect: 'any' }), db.remove('senders', { ...waiting, code_at: null }, { expect: 'any' })];
    },
  };
};
