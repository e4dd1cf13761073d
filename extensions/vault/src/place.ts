/**
 * Where the sealed vault is: a file of this home, or a row that all daemons on a database share.
 *
 * P1  A row holds the same bytes as the file: sealed with SVC_VAULT_KEY, which is in no database. Without that key there is no row.
 * P2  A change counts only if nobody changed the vault since it was read. The others hear of it with its commit.
 * P3  What a home had in its file is moved into the row once; a secret of the row wins.
 */
import { type Db, defineTable, type Dir, type Events, isSvcError, type RowOf } from '@svc/api';
import { VaultChanged } from './contract.js';

export const VAULT_FILE = 'vault.enc';
const ID = 'vault';
const OWNER_ONLY = 0o600;
const MAX_FILE_BYTES = 128 * 1024 * 1024;

export const Sealed = defineTable('sealed', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, revision: { kind: 'integer', notNull: true }, bytes: { kind: 'text', notNull: true } },
});

export interface SealedVault {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

export interface VaultPlace {
  readonly isShared: boolean;
  read(): Promise<SealedVault | undefined>;
  /** In the place of what was read; false where somebody was faster. */
  write(bytes: Uint8Array, seen: SealedVault | undefined): Promise<boolean>;
  /** Empties the place; under which name the old one is kept. */
  setAside(stamp: string): Promise<string[]>;
}

export const filePlace = (data: Dir): VaultPlace => ({
  isShared: false,
  read: async () => ((await data.stat(VAULT_FILE)) ? { bytes: await data.read(VAULT_FILE, { maxBytes: MAX_FILE_BYTES }), revision: 0 } : undefined),
  write: async (bytes) => {
    await data.write(VAULT_FILE, bytes, { mode: OWNER_ONLY });
    return true;
  },
  setAside: async (stamp) => ((await data.stat(VAULT_FILE)) ? [await moveAside(data, VAULT_FILE, `${VAULT_FILE}.${stamp}`)] : []),
});

/** Written whole before the old one goes: a crash in between leaves two, never none. */
export const moveAside = async (data: Dir, from: string, to: string): Promise<string> => {
  await data.write(to, await data.read(from, { maxBytes: MAX_FILE_BYTES }), { mode: OWNER_ONLY });
  await data.remove(from);
  return to;
};

export const rowPlace = (db: Db, events: Pick<Events, 'event'>, data: Dir): VaultPlace => {
  const read = async (): Promise<SealedVault | undefined> => {
    const row = await db.system('secrets that all daemons on this database use').first<RowOf<typeof Sealed>>({ from: Sealed.name, where: { id: ID } });
    return row && { bytes: Buffer.from(row.bytes), revision: row.revision };
  };
  return {
    isShared: true,
    read,
    write: async (bytes, seen) => {
      // Of two that take the same row away, one finds none.
      const taken = seen ? [db.remove(Sealed.name, { id: ID, revision: seen.revision }, { expect: 1 })] : [];
      const row = { id: ID, revision: (seen?.revision ?? 0) + 1, bytes: Buffer.from(bytes).toString() };
      try {
        await db.commit([...taken, db.insert(Sealed.name, [row]), events.event(VaultChanged, {})]);
        return true;
      } catch (error) {
        if (isSvcError(error) && error.code === 'storage_conflict') return false;
        throw error;
      }
    },
    setAside: async (stamp) => {
      const sealed = await read();
      if (!sealed) return [];
      const name = `${VAULT_FILE}.${stamp}`;
      await data.write(name, sealed.bytes, { mode: OWNER_ONLY });
      await db.commit([db.remove(Sealed.name, { id: ID }), events.event(VaultChanged, {})]);
      return [name];
    },
  };
};
