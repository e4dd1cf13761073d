/**
 * The bytes of uploads, each kept once, and the rows that say so.
 *
 * U1  A folder is named in `orphans` before anything is written to it and until an upload names it, and again before it goes:
 *     whatever a crash leaves is found there.
 * U2  The same bytes are kept once. They go with the last upload that has them, never while one has, also one that went into the bin with its agent.
 * U3  An upload is a row after its bytes are on the disk, and their hash and type are known.
 */
import { type Clock, type Db, type Dir, type Ids, type Logger, type Trash, type Write, isSvcError } from '@svc/api';
import { uploadErrors } from '../errors.js';
import type { BlobRow, UploadRow } from '../tables.js';
import { type Examined, type Incoming, examine } from './examination.js';

/** In each folder; beside it may stand what an interrupted write left. */
const FILE = 'bytes';
/** The slowest body that the server takes ends long before. */
const ARRIVAL_MS = 2 * 86_400_000;
const MAX_RACES = 5;
/** Charged for each upload beside its bytes: rows are not free. */
const ROW_BYTES = 4_096;

export interface BlobDeps {
  readonly db: Db;
  readonly root: Dir;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Logger;
  readonly trash: Pick<Trash, 'holds'>;
}

/** Bytes that came in, in a folder that no upload names yet. */
export interface Received extends Examined {
  readonly folder: string;
}

export interface Blobs {
  /** Writes a file as it comes. Throws what `examine` throws, and leaves nothing then. */
  receive(incoming: Incoming, maxBytes: number, look?: typeof examine): Promise<Received>;
  /** Makes it an upload. Throws `upload_quota_exceeded`, and leaves nothing then. */
  keep(received: Received, upload: Omit<UploadRow, 'sha256' | 'size_bytes' | 'content_type'>, maxOwnerBytes: number): Promise<UploadRow>;
  drop(received: Received): Promise<void>;
  /** Writes that note that the bytes may have lost their last upload, to be committed with what takes it; then `letGo`. */
  noted(sha256: string): Promise<readonly Write[]>;
  /** Takes the bytes away if no upload has them. */
  letGo(sha256: string): Promise<void>;
  /** Bytes that no upload has, as far as rows say: an erasure takes uploads away without a word. */
  letGoUnnamed(): Promise<void>;
  /** What a crash has left. Looks at so many folders at most. */
  sweep(limit: number): Promise<void>;
  /** Where the bytes are, below the root; undefined when they are gone. */
  place(sha256: string): Promise<string | undefined>;
  /** What the uploads of an owner take, as it is charged. */
  used(ownerId: string): Promise<number>;
}

export const createBlobs = (deps: BlobDeps): Blobs => {
  const sql = statementsOf(deps.db);
  return {
    receive: (incoming, maxBytes, look = examine) => receive(deps, incoming, maxBytes, look),
    keep: (received, upload, maxOwnerBytes) => keep(deps, sql, received, upload, maxOwnerBytes),
    drop: ({ folder }) => removeFolder(deps, folder),
    noted: async (sha256) => {
      const blob = await blobOf(deps, sha256);
      return blob ? [orphaned(deps, blob.folder, 0)] : [];
    },
    letGo: async (sha256) => {
      const blob = await blobOf(deps, sha256);
      if (blob) await release(deps, blob);
    },
    letGoUnnamed: async () => {
      // In their order, so that those that stay are asked of once.
      for (let after = ''; ; ) {
        const blobs = await sql.unnamed(after);
        for (const blob of blobs) await release(deps, blob);
        after = blobs.at(-1)?.sha256 ?? '';
        if (after === '') return;
      }
    },
    sweep: (limit) => sweep(deps, limit),
    place: async (sha256) => {
      const blob = await blobOf(deps, sha256);
      return blob && pathOf(blob.folder);
    },
    used: (ownerId) => sql.used(ownerId),
  };
};

type Statements = ReturnType<typeof statementsOf>;

/** Why rows are read with no actor when bytes are let go. */
const SWEEP = 'bytes to let go';

const statementsOf = (db: Db) => {
  const uploads = db.table('uploads');
  const blobs = db.table('blobs');
  const charged = `SELECT COALESCE(SUM(size_bytes + ${ROW_BYTES}), 0) AS bytes FROM ${uploads} WHERE owner_id = ?`;
  return {
    used: async (ownerId: string): Promise<number> => (await db.system('quota of one owner, also where the caller sees all').readOne<{ bytes: number }>(charged, [ownerId]))?.bytes ?? 0,
    /** Two at the same moment cannot both take the last room. */
    insertWithin: (row: UploadRow, maxBytes: number): Write =>
      db.sql(
        `INSERT INTO ${uploads}(id, owner_id, agent_id, filename, content_type, size_bytes, sha256, created_at, path, keep_until)
         SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE (SELECT COALESCE(SUM(size_bytes + ${ROW_BYTES}), 0) FROM ${uploads} WHERE owner_id = ?) <= ?`,
        [row.id, row.owner_id, row.agent_id, row.filename, row.content_type, row.size_bytes, row.sha256, row.created_at, row.path, row.keep_until, row.owner_id, maxBytes - row.size_bytes - ROW_BYTES],
        { expect: 1 },
      ),
    unnamed: (after: string): Promise<BlobRow[]> =>
      db
        .system('bytes without an upload')
        .read<BlobRow>(
          `SELECT sha256, folder, size_bytes, last_upload FROM ${blobs} WHERE sha256 > ? AND NOT EXISTS (SELECT 1 FROM ${uploads} WHERE ${uploads}.sha256 = ${blobs}.sha256) ORDER BY sha256 LIMIT 100`,
          [after],
        ),
  };
};

/** One file in each of 256 folders at most grows long. */
const newFolder = (ids: Ids): string => {
  const name = ids.hex(16);
  return `${name.slice(0, 2)}/${name}`;
};

const pathOf = (folder: string): string => `${folder}/${FILE}`;

const blobOf = ({ db }: BlobDeps, sha256: string): Promise<BlobRow | undefined> => db.system('where bytes are').first<BlobRow>({ from: 'blobs', where: { sha256 } });

const orphaned = ({ db, clock }: BlobDeps, folder: string, afterMs: number): Write => db.upsert('strays', ['folder'], [{ folder, due_at: new Date(clock.now() + afterMs).toISOString() }]);

const receive = async (deps: BlobDeps, incoming: Incoming, maxBytes: number, look: typeof examine): Promise<Received> => {
  const folder = newFolder(deps.ids);
  await deps.db.commit([orphaned(deps, folder, ARRIVAL_MS)]);
  try {
    const { pieces, result } = look(incoming, maxBytes);
    await deps.root.writeStream(pathOf(folder), pieces, { maxBytes, mode: 0o600 });
    return { folder, ...result() };
  } catch (error) {
    await removeQuietly(deps, folder);
    throw error;
  }
};

const keep = async (deps: BlobDeps, sql: Statements, received: Received, upload: Parameters<Blobs['keep']>[1], maxOwnerBytes: number): Promise<UploadRow> => {
  const { folder, sha256, sizeBytes, contentType } = received;
  const row: UploadRow = { ...upload, sha256, size_bytes: sizeBytes, content_type: contentType };
  for (let races = 0; ; races++) {
    const known = await usable(deps, sha256);
    try {
      await deps.db.commit([sql.insertWithin(row, maxOwnerBytes), ...naming(deps, known, received, row)]);
    } catch (error) {
      if (!isConflict(error)) throw error;
      if ((await sql.used(row.owner_id)) + sizeBytes + ROW_BYTES > maxOwnerBytes) {
        await removeQuietly(deps, folder);
        throw uploadErrors.quota_exceeded(maxOwnerBytes);
      }
      // Another came first with the same bytes, or took them away; or the sweep believed that nobody would come back.
      if (races === MAX_RACES) throw uploadErrors.interrupted().with({ cause: error });
      continue;
    }
    if (known?.isThere) await removeQuietly(deps, folder);
    return row;
  }
};

/** The blob with these bytes, and whether its file is where it should be: somebody may have tidied up. */
const usable = async (deps: BlobDeps, sha256: string): Promise<(BlobRow & { readonly isThere: boolean }) | undefined> => {
  const blob = await blobOf(deps, sha256);
  return blob && { ...blob, isThere: (await deps.root.stat(pathOf(blob.folder)))?.sizeBytes === blob.size_bytes };
};

/** Writes that make the bytes the upload's: those that are kept already, else those that came. */
const naming = ({ db }: BlobDeps, known: (BlobRow & { readonly isThere: boolean }) | undefined, { folder, sha256, sizeBytes }: Received, { id }: UploadRow): Write[] => {
  if (known?.isThere) return [db.update('blobs', ['sha256', 'folder'], [{ sha256, folder: known.folder, last_upload: id }], { expect: 'each' })];
  const arrived = db.remove('strays', { folder }, { expect: 1 });
  return known
    ? [db.update('blobs', ['sha256'], [{ sha256, folder, last_upload: id }], { expect: 'each' }), arrived]
    : [db.insert('blobs', [{ sha256, folder, size_bytes: sizeBytes, last_upload: id }]), arrived];
};

const isConflict = (error: unknown): boolean => isSvcError(error) && error.code === 'storage_conflict';

const isNamed = async ({ db, trash }: BlobDeps, { sha256 }: BlobRow): Promise<boolean> => (await db.system(SWEEP).count('uploads', { sha256 })) > 0 || (await trash.holds('uploads', 'sha256', sha256));

/** Whoever uses the bytes meanwhile names itself in their row, and this conflicts. */
const release = async (deps: BlobDeps, blob: BlobRow): Promise<void> => {
  if (await isNamed(deps, blob)) return;
  try {
    await deps.db.commit([deps.db.remove('blobs', { sha256: blob.sha256, folder: blob.folder, last_upload: blob.last_upload }, { expect: 1 }), orphaned(deps, blob.folder, 0)]);
  } catch (error) {
    if (!isConflict(error)) throw error;
    return;
  }
  await removeFolder(deps, blob.folder);
};

/** First the files, then the row that tells of them. */
const removeFolder = async ({ root, db }: BlobDeps, folder: string): Promise<void> => {
  await root.remove(folder);
  await db.commit([db.remove('strays', { folder })]);
};

/** Somebody is being told something more important; the sweep comes by again. */
const removeQuietly = async (deps: BlobDeps, folder: string): Promise<void> => {
  try {
    await removeFolder(deps, folder);
  } catch (cause) {
    deps.log.warn('the bytes of an upload could not be removed; svc tries again later', { folder, cause });
  }
};

const sweep = async (deps: BlobDeps, limit: number): Promise<void> => {
  const due = await deps.db.system(SWEEP).select<{ folder: string; due_at: string }>({ from: 'strays', where: { due_at: { lte: deps.clock.iso() } }, order: [{ column: 'due_at' }], limit });
  for (const { folder, due_at } of due) {
    const blob = await deps.db.system(SWEEP).first<BlobRow>({ from: 'blobs', where: { folder } });
    if (!blob) await removeFolder(deps, folder);
    else if (await isNamed(deps, blob)) await deps.db.commit([deps.db.remove('strays', { folder, due_at })]);
    else await release(deps, blob);
  }
};
