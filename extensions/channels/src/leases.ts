/** Which daemon holds the connection of a channel, and how that connection is: one row for each, which all daemons see. */
import type { Clock, Db, Events, Ids } from '@svc/api';
import { ChannelChanged, type ConnectionRow } from './contract.js';

export interface Leases {
  rowOf(name: string): Promise<ConnectionRow | undefined>;
  state(name: string, to: Partial<ConnectionRow>): Promise<void>;
  /** Takes the channel or keeps it; false where another daemon holds it. */
  held(name: string): Promise<boolean>;
  release(name: string): Promise<void>;
}

const LEASE_MS = 30_000;

export const createLeases = ({ db, clock, ids, events }: { readonly db: Db; readonly clock: Pick<Clock, 'now'>; readonly ids: Pick<Ids, 'uuid'>; readonly events: Events }): Leases => {
  const me = ids.uuid();
  const table = (): string => db.table('connections');
  return {
    rowOf: (name) => db.system('a connection').first<ConnectionRow>({ from: 'connections', where: { name } }),
    state: async (name, to) => void (await db.commit([db.update('connections', ['name'], [{ name, ...to }]), events.event(ChannelChanged, { name, change: 'state' })])),
    held: async (name) => {
      const now = clock.now();
      const fresh = { name, state: 'connecting', problem: null, fix: null, answered_at: null, started_at: null, holder: null, held_until: null, place: null };
      const until = new Date(now + LEASE_MS).toISOString();
      const { changes } = await db.commit([
        db.insert('connections', [fresh], { ifAbsent: true }),
        db.sql(`UPDATE ${table()} SET holder = ?, held_until = ? WHERE name = ? AND (holder IS NULL OR holder = ? OR held_until < ?)`, [me, until, name, me, new Date(now).toISOString()]),
      ]);
      return changes[1] === 1;
    },
    release: async (name) => void (await db.commit([db.sql(`UPDATE ${table()} SET holder = NULL, held_until = NULL WHERE name = ? AND holder = ?`, [name, me])])),
  };
};
