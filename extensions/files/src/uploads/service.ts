/**
 * Uploads as people see them: rows of theirs, with bytes behind them.
 *
 * U4  Who may not see an upload does not find it. Its row goes with its agent and its owner.
 */
import { type Actor, type Db, type Dir, type Found, type ListDecl, type ListQuery, ownedRows, readList } from '@svc/api';
import { MaxUploadSetting, UploadsSection } from '../config.js';
import { uploadErrors } from '../errors.js';
import { UploadRows, type UploadRow } from '../tables.js';
import { displayName } from '../workspace/names.js';
import { type BlobDeps, type Blobs, createBlobs, type Received } from './blobs.js';
import { nameForType, plainType } from './content-type.js';
import { type Incoming, measure } from './examination.js';

const ERASED_AT_ONCE = 100;

export interface UploadsDeps extends BlobDeps {
  readonly config: { get(setting: typeof MaxUploadSetting): number; get(section: typeof UploadsSection): { readonly max_owner_bytes: number } };
}

export interface Whose {
  readonly ownerId: string;
  /** null for what belongs to no agent. It stays until its owner deletes it. */
  readonly agentId: string | null;
}

export interface UploadStore extends Pick<Blobs, 'letGoUnnamed' | 'sweep' | 'drop'> {
  /** The largest file that is taken now. */
  maxBytes(): number;
  /** Throws `upload_quota_exceeded` where nothing more has room. */
  assertRoom(ownerId: string): Promise<void>;
  /** The bytes as they come; they are nobody's until `keep`. Throws what `Blobs.receive` throws. */
  receive(incoming: Incoming): Promise<Received>;
  keep(whose: Whose, name: string, received: Received): Promise<UploadRow>;
  /** A workspace file on its way into the bin; of any type and size that has room. */
  receiveDeleted(incoming: Incoming): Promise<Received>;
  keepDeleted(whose: Whose, path: string, received: Received, keepUntil: string): Promise<UploadRow>;
  /** A deleted file of this agent that can come back. Throws `upload_not_found`. */
  deleted(actor: Actor, id: string, agentId: string): Promise<UploadRow>;
  /** Erases deleted files whose time is over. */
  eraseOverdue(actor: Actor): Promise<void>;
  /** Deleted files are none. Throws `upload_not_found`. */
  get(actor: Actor, id: string): Promise<UploadRow>;
  /** The same, undefined where there is none. */
  find(actor: Actor, id: string): Promise<UploadRow | undefined>;
  page(actor: Actor, list: ListDecl, query: ListQuery & { readonly agent_id?: string; readonly deleted?: 'no' | 'only' }): Promise<Found<UploadRow>>;
  /** Where its bytes are. Throws `upload_not_found` when they are gone. */
  bytesOf(upload: UploadRow): Promise<{ dir: Dir; path: string }>;
  remove(actor: Actor, id: string): Promise<UploadRow>;
}

export const createUploads = (deps: UploadsDeps): UploadStore => {
  const { db, config, ids, clock, root } = deps;
  const blobs = createBlobs(deps);
  const rows = ownedRows(db, UploadRows, { order: [{ column: 'created_at', descending: true }], missing: uploadErrors.not_found });
  const maxOwnerBytes = (): number => config.get(UploadsSection).max_owner_bytes;
  return {
    letGoUnnamed: blobs.letGoUnnamed,
    sweep: blobs.sweep,
    drop: blobs.drop,
    maxBytes: () => config.get(MaxUploadSetting),
    assertRoom: async (ownerId) => {
      if ((await blobs.used(ownerId)) >= maxOwnerBytes()) throw uploadErrors.quota_exceeded(maxOwnerBytes());
    },
    receive: (incoming) => blobs.receive(incoming, config.get(MaxUploadSetting)),
    keep: ({ ownerId, agentId }, name, received) => {
      const filename = displayName(name, nameForType(received.contentType));
      return blobs.keep(received, { id: ids.uuid(), owner_id: ownerId, agent_id: agentId, filename, created_at: clock.iso(), path: null, keep_until: null }, maxOwnerBytes());
    },
    receiveDeleted: (incoming) => blobs.receive(incoming, maxOwnerBytes(), measure),
    keepDeleted: ({ ownerId, agentId }, path, received, keepUntil) => {
      const filename = displayName(path, 'file');
      return blobs.keep(received, { id: ids.uuid(), owner_id: ownerId, agent_id: agentId, filename, created_at: clock.iso(), path, keep_until: keepUntil }, maxOwnerBytes());
    },
    deleted: async (actor, id, agentId) => {
      const row = await rows.get(actor, id.toLowerCase());
      if (row.path === null || row.agent_id !== agentId || (row.keep_until ?? '') <= clock.iso()) throw uploadErrors.not_found(id);
      return row;
    },
    eraseOverdue: async (actor) => {
      for (;;) {
        const overdue = await db.as(actor).select<UploadRow>({ from: UploadRows.name, where: { keep_until: { lte: clock.iso() } }, order: [{ column: 'keep_until' }], limit: ERASED_AT_ONCE });
        for (const row of overdue) await removeUpload(db, blobs, row, rows.remove);
        if (overdue.length < ERASED_AT_ONCE) return;
      }
    },
    get: async (actor, id) => {
      const row = await rows.get(actor, id.toLowerCase());
      if (row.path !== null) throw uploadErrors.not_found(id);
      return row;
    },
    find: (actor, id) => db.as(actor).first<UploadRow>({ from: UploadRows.name, where: { id: id.toLowerCase(), path: null } }),
    page: (actor, list, { agent_id: agentId, deleted, ...query }) =>
      readList(db.as(actor), list, query, {
        from: UploadRows.name,
        where: { ...(agentId === undefined ? {} : { agent_id: agentId.toLowerCase() }), ...(deleted === 'only' ? { path: { not: null }, keep_until: { gt: clock.iso() } } : { path: null }) },
        search: ['filename'],
        columns: { filename: { column: 'filename', ignoreCase: true }, size: { column: 'size_bytes' } },
      }),
    bytesOf: async ({ id, sha256 }) => {
      const path = await blobs.place(sha256);
      if (path === undefined || !(await root.stat(path))) throw uploadErrors.not_found(id);
      return { dir: root, path };
    },
    remove: async (actor, id) => removeUpload(db, blobs, await rows.get(actor, id.toLowerCase()), rows.remove),
  };
};

const removeUpload = async (db: Db, blobs: Blobs, row: UploadRow, removal: (row: UploadRow) => ReturnType<Db['remove']>): Promise<UploadRow> => {
  await db.commit([removal(row), ...(await blobs.noted(row.sha256))]);
  await blobs.letGo(row.sha256);
  return row;
};

/** What a request says of a file that it sends as its body. */
export const incomingOf = (headers: Readonly<Record<string, string | undefined>>, bytes: AsyncIterable<Uint8Array>): Incoming => ({
  name: headerText(headers['x-filename']) || nameForType(plainType(headers['content-type'])),
  declared: headers['content-type'],
  bytes,
});

/** Percent-encoded UTF-8 where it decodes; else the header's bytes, which node gives as one letter each, as UTF-8 where they are. */
const headerText = (value: string | undefined): string => {
  if (value === undefined) return '';
  try {
    if (/%[0-9a-f]{2}/i.test(value)) return decodeURIComponent(value);
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch (error) {
    if (error instanceof URIError || error instanceof TypeError) return value;
    throw error;
  }
};
