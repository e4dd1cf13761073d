/**
 * Files of workspaces that people delete, and bring back.
 *
 * B1  The bytes are stored, and a row says so, before the file is taken away; it comes back before the row goes. A crash in between leaves both.
 * B2  It counts as an upload of its owner, and is erased with its time, its agent and its owner, as uploads are.
 * B3  It comes back only where no file is.
 */
import { type Actor, isSvcError } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { fileErrors } from '../errors.js';
import type { UploadRow } from '../tables.js';
import type { UploadStore, Whose } from '../uploads/service.js';
import type { Copies, FilesService, Written } from './service.js';

export interface FileBinDeps {
  readonly uploads: Pick<UploadStore, 'receiveDeleted' | 'keepDeleted' | 'deleted' | 'bytesOf' | 'remove'>;
  readonly agents: Pick<AgentsService, 'keptUntil'>;
  readonly files: Pick<FilesService, 'create'>;
}

export interface FileBin {
  /** What `FilesService.remove` asks before a file goes; undefined where there is no bin. */
  copies(actor: Actor, whose: Whose): Promise<Copies<UploadRow> | undefined>;
  /** Throws `upload_not_found`, `files_already_there`, and what a path throws that is written to. */
  restore(actor: Actor, agentId: string, name: string, fileId: string): Promise<Written>;
}

export const createFileBin = (deps: FileBinDeps): FileBin => ({
  copies: async (actor, whose) => {
    const keepUntil = await deps.agents.keptUntil();
    if (keepUntil === null) return undefined;
    return { take: (file) => take(deps, whose, file, keepUntil), drop: async ({ id }) => void (await deps.uploads.remove(actor, id)) };
  },
  restore: (actor, agentId, name, fileId) => restore(deps, actor, { agentId, name, fileId }),
});

const take = async ({ uploads }: FileBinDeps, whose: Whose, { path, bytes }: Parameters<Copies<UploadRow>['take']>[0], keepUntil: string): Promise<UploadRow> => {
  try {
    return await uploads.keepDeleted(whose, path, await uploads.receiveDeleted({ name: path, declared: undefined, bytes }), keepUntil);
  } catch (error) {
    if (!isSvcError(error) || !['upload_quota_exceeded', 'upload_too_large'].includes(error.code)) throw error;
    throw fileErrors.bin_full(path).with({ cause: error });
  }
};

const restore = async ({ uploads, files }: FileBinDeps, actor: Actor, { agentId, name, fileId }: { agentId: string; name: string; fileId: string }): Promise<Written> => {
  const row = await uploads.deleted(actor, fileId, agentId);
  const { dir, path } = await uploads.bytesOf(row);
  const written = await files.create(agentId, name, { bytes: dir.readStream(path), sizeBytes: row.size_bytes });
  await uploads.remove(actor, row.id);
  return written;
};
