/**
 * Senders who are people of svc.
 *
 * U1  A sender acts as a person where `channel_bindings` of `[[users]]` names them for that channel, or where the person took the code that svc gave the
 *     sender. Where senders name themselves, as on MQTT and by mail, nobody is linked.
 * U2  A code can be used once, within a day, by one person, who shows who they are by their own login. It makes the sender that person and nobody else, so
 *     whoever steals it becomes nobody; svc says in the chat whom the sender acts as.
 * U3  The role is that of the person now: at most that of the login which took the code, and never more than admin. Whoever is disabled or gone is a guest
 *     again with the next message.
 * U4  `/unlink` ends it from either side.
 */
import type { Actor, Clock, Db, Events, Ids, OptionalHandle } from '@svc/api';
import type { AuthService } from '@svc/ext-auth/contract';
import type { Account } from './account.js';
import type { Adapter } from './adapters/adapter.js';
import { ChannelChanged, type SenderRow } from './contract.js';
import { channelErrors } from './errors.js';
import { codesSince, newCode, senderId } from './senders.js';

export interface Links {
  /** Whom this sender acts as; undefined for a guest. */
  personOf(account: Account, adapter: Adapter, sender: string): Promise<Actor | undefined>;
  /** A code for `/link`, of a sender in a private chat. Undefined where senders cannot be linked. */
  codeFor(account: Account, adapter: Adapter, from: { readonly chat: string; readonly sender: string; readonly senderName?: string }): Promise<string | undefined>;
  /** Throws `channels_no_code`, `channels_no_person`. */
  take(actor: Actor, code: string): Promise<SenderRow>;
  /** False where it was not linked by a code. */
  end(account: Account, sender: string): Promise<boolean>;
  /** Those of one person; answers how many. */
  endAll(actor: Actor): Promise<number>;
}

export interface LinkDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'bytes'>;
  readonly events: Events;
  readonly auth: OptionalHandle<AuthService>;
}

/** What `receive` stores of a longer id is its beginning, which may be that of somebody else. */
const MAX_ID = 199;
const MAX_NAME = 200;

/** As people know them. */
export const nameOfPerson = (id: string): string => id.replace(/^user:/, '');

const isLinkable = ({ namesSenders }: Adapter, sender: string): boolean => namesSenders && sender.length <= MAX_ID;

const UNLINKED = { person_id: null, person_role: null, linked_at: null } as const;

export const createLinks = ({ db, clock, ids, events, auth }: LinkDeps): Links => {
  const rowOf = (account: Pick<Account, 'name'>, sender: string): Promise<SenderRow | undefined> =>
    db.system('a sender').first<SenderRow>({ from: 'senders', where: { id: senderId(account.name, sender) } });
  const changed = (name: string) => events.event(ChannelChanged, { name, change: 'senders' });
  const unlink = async (rows: readonly SenderRow[]): Promise<void> => {
    if (rows.length > 0)
      await db.commit([
        db.update(
          'senders',
          ['id'],
          rows.map(({ id }) => ({ id, ...UNLINKED })),
        ),
        ...rows.map(({ channel }) => changed(channel)),
      ]);
  };
  return {
    personOf: async (account, adapter, sender) => {
      const known = auth.value;
      if (!known || !isLinkable(adapter, sender)) return undefined;
      const named = await known.sender({ channel: account.name, sender });
      if (named) return named;
      const row = await rowOf(account, sender);
      return row && row.person_id !== null && isRole(row.person_role) ? known.personAs({ personId: row.person_id, role: row.person_role }) : undefined;
    },
    codeFor: async (account, adapter, { chat, sender, senderName }) => {
      if (!auth.value || !isLinkable(adapter, sender)) return undefined;
      const now = clock.iso();
      const known = await rowOf(account, sender);
      const fresh: SenderRow = known ?? {
        ...{ id: senderId(account.name, sender), owner_id: account.ownerId, channel: account.name, sender, name: (senderName ?? '').slice(0, MAX_NAME), state: 'waiting' },
        ...{ code: null, created_at: now, allowed_at: null, code_at: null, code_chat: null, ...UNLINKED },
      };
      const isLive = fresh.code !== null && fresh.code_at !== null && fresh.code_at > codesSince(clock) && fresh.code_chat === chat;
      if (isLive) return fresh.code ?? undefined;
      const code = newCode(ids);
      await db.commit([db.upsert('senders', ['id'], [{ ...fresh, code, code_at: now, code_chat: chat }]), changed(account.name)]);
      return code;
    },
    take: async (actor, given) => {
      const code = given.trim().toUpperCase();
      const found = await db.system('a code').first<SenderRow>({ from: 'senders', where: { code, code_at: { gt: codesSince(clock) } } });
      if (!found) throw channelErrors.no_code();
      const person = await auth.value?.personBehind(actor);
      if (person === undefined) throw channelErrors.no_person();
      const now = clock.iso();
      const role = actor.role === 'owner' ? 'admin' : actor.role;
      const link = db.sql(
        `UPDATE ${db.table('senders')} SET person_id = ?, person_role = ?, linked_at = ?, code = NULL, code_at = NULL WHERE id = ? AND code = ?`,
        [person, role, now, found.id, code],
        { expect: 1 },
      );
      await db.commit([link, changed(found.channel)]);
      return { ...found, person_id: person, person_role: role, linked_at: now, code: null, code_at: null };
    },
    end: async (account, sender) => {
      const row = await rowOf(account, sender);
      if (!row || row.person_id === null) return false;
      await unlink([row]);
      return true;
    },
    endAll: async (actor) => {
      const person = await auth.value?.personBehind(actor);
      if (person === undefined) throw channelErrors.no_person();
      const rows = await db.system('links of a person').select<SenderRow>({ from: 'senders', where: { person_id: person }, limit: 1_000 });
      await unlink(rows);
      return rows.length;
    },
  };
};

const ROLES = ['admin', 'user', 'viewer'] as const;
const isRole = (value: string | null): value is (typeof ROLES)[number] => ROLES.some((role) => role === value);
