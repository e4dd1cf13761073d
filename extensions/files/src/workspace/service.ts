/**
 * What a person sees of an agent's workspace, and puts there.
 *
 * F1  A name never leads out of the workspace, however it is written.
 * F2  Bytes are given back as they are: text as text, anything else in base64, or raw.
 * F3  A workspace that nobody wrote to yet is empty, not an error.
 * F4  A file is written whole or not at all. Of two who change the same version, one is told that it has changed.
 * F5  Nobody writes into git's own folder: who may write files was not granted the programs that a configuration there names.
 */
import { createTurns, decodeText, type Dir, type DirEntry, fileRev, type TextEncodingName } from '@svc/api';
import { belongsToGit, MAX_IDENTITY_BYTES, saysWhoTheAgentIs } from '@svc/ext-agents/contract';
import { fileErrors } from '../errors.js';
import { workspacePath, writablePath } from './names.js';

export const MAX_FILES = 1_000;
const MAX_SHOWN_BYTES = 4 * 1_024 * 1_024;
export const MAX_WRITE_BYTES = 1_024 * 1_024;

export interface WorkspaceFile {
  /** Path from the workspace, with slashes. */
  readonly name: string;
  readonly exists: true;
  readonly size_bytes: number;
  readonly kind: 'workspace' | 'identity';
  readonly modified_at: string;
  /** Names this version of the file; the ETag of its bytes without the quotes. */
  readonly rev: string;
}

export interface FileContent {
  readonly name: string;
  readonly content: string;
  readonly encoding: TextEncodingName | 'base64';
  readonly size_bytes: number;
  readonly modified_at: string;
  readonly rev: string;
}

/** Throws unless the file is what whoever changes it believes it to be; undefined: there is none. */
export type Expects = (path: string, rev: string | undefined) => void;

export interface Written {
  readonly status: 'ok';
  readonly name: string;
  readonly size_bytes: number;
  readonly rev: string;
  readonly created: boolean;
}

export interface FilesService {
  /** `truncated`: there are more than are listed. */
  list(agentId: string): Promise<{ files: WorkspaceFile[]; truncated: boolean }>;
  /** Throws `files_outside_workspace`, `files_not_found`, `files_not_a_file`, `files_too_large`. */
  read(agentId: string, name: string): Promise<FileContent>;
  /** Where the bytes of a file are: its folder and its path there. Throws what `read` throws, but for its size. */
  locate(agentId: string, name: string): Promise<{ dir: Dir; path: string }>;
  /** Where no file is, of any size. Throws `files_already_there`, `files_bad_name`, `files_git_folder`. */
  create(agentId: string, name: string, data: { readonly bytes: AsyncIterable<Uint8Array>; readonly sizeBytes: number }): Promise<Written>;
  /** Throws `files_bad_name`, `files_git_folder`, `files_too_large_to_write`, and what `expects` throws. */
  write(agentId: string, name: string, data: Uint8Array, expects: Expects): Promise<Written>;
  /** With `copies`, the file is copied before, and the copy is in the answer. Throws `files_changed` where somebody wrote to it meanwhile. */
  remove<C>(agentId: string, name: string, expects: Expects, copies?: Copies<C>): Promise<{ status: 'ok'; name: string; copy: C | undefined }>;
}

/** What becomes of a file that is deleted. */
export interface Copies<C> {
  take(file: { readonly path: string; readonly bytes: AsyncIterable<Uint8Array> }): Promise<C>;
  drop(copy: C): Promise<void>;
}

/** `changed`: told of each workspace that was written to. */
export const createFilesService = (workspaces: Dir, changed: (agentId: string) => void = () => undefined): FilesService => {
  const inTurn = createTurns();
  return {
    list: (agentId) => list(workspaces, agentId),
    read: (agentId, name) => read(workspaces, agentId, name),
    locate: async (agentId, name) => {
      const path = workspacePath(name);
      await present(workspaces, agentId, path);
      return { dir: workspaces.dir(agentId), path };
    },
    create: async (agentId, name, data) => {
      const path = writablePath(name);
      if (belongsToGit(path)) throw fileErrors.git_folder(path);
      return inTurn(`${agentId}/${path}`, () => create(workspaces, agentId, path, data)).finally(() => changed(agentId));
    },
    write: async (agentId, name, data, expects) => {
      const path = writablePath(name);
      if (belongsToGit(path)) throw fileErrors.git_folder(path);
      const limit = kindOf(path) === 'identity' ? MAX_IDENTITY_BYTES : MAX_WRITE_BYTES;
      if (data.byteLength > limit) throw fileErrors.too_large_to_write(path, data.byteLength, limit);
      return inTurn(`${agentId}/${path}`, () => write(workspaces, agentId, path, data, expects)).finally(() => changed(agentId));
    },
    remove: async (agentId, name, expects, copies) => {
      const path = workspacePath(name);
      return inTurn(`${agentId}/${path}`, async () => remove(workspaces.dir(agentId), await present(workspaces, agentId, path), { path, expects, copies })).finally(() => changed(agentId));
    },
  };
};

const list = async (workspaces: Dir, agentId: string): Promise<{ files: WorkspaceFile[]; truncated: boolean }> => {
  if (!(await workspaces.stat(agentId))) return { files: [], truncated: false };
  const entries = await workspaces.dir(agentId).list('.', { recursive: true, limit: MAX_FILES + 1 });
  const files = entries
    .filter((entry) => entry.kind === 'file')
    .map((entry) => ({ name: entry.name, exists: true as const, size_bytes: entry.sizeBytes, kind: kindOf(entry.name), modified_at: entry.modifiedAt, rev: fileRev(entry) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { files: files.slice(0, MAX_FILES), truncated: entries.length > MAX_FILES };
};

const kindOf = (name: string): WorkspaceFile['kind'] => (saysWhoTheAgentIs(name) ? 'identity' : 'workspace');

const found = async (workspaces: Dir, agentId: string, path: string): Promise<DirEntry | undefined> => ((await workspaces.stat(agentId)) ? workspaces.dir(agentId).stat(path) : undefined);

const present = async (workspaces: Dir, agentId: string, path: string): Promise<DirEntry> => {
  const entry = await found(workspaces, agentId, path);
  if (!entry) throw fileErrors.not_found(path);
  if (entry.kind !== 'file') throw fileErrors.not_a_file(path);
  return entry;
};

const read = async (workspaces: Dir, agentId: string, name: string): Promise<FileContent> => {
  const path = workspacePath(name);
  // Looked at before it is read: whoever changes it in between makes this rev an old one, never a new one of old text.
  const entry = await present(workspaces, agentId, path);
  if (entry.sizeBytes > MAX_SHOWN_BYTES) throw fileErrors.too_large(entry.sizeBytes, MAX_SHOWN_BYTES);
  const data = await workspaces.dir(agentId).read(path, { maxBytes: MAX_SHOWN_BYTES });
  return { name: path, ...asText(data), size_bytes: data.byteLength, modified_at: entry.modifiedAt, rev: fileRev(entry) };
};

const write = async (workspaces: Dir, agentId: string, path: string, data: Uint8Array, expects: Expects): Promise<Written> => {
  const dir = workspaces.dir(agentId);
  const before = await found(workspaces, agentId, path);
  if (before && before.kind !== 'file') throw fileErrors.not_a_file(path);
  expects(path, before && fileRev(before));
  // Its name was validated, and where a link leads was not.
  await dir.write(path, data, { noLinks: true });
  const after = await dir.stat(path);
  // Somebody else has taken it away since.
  if (!after) throw fileErrors.not_found(path);
  return { status: 'ok', name: path, size_bytes: data.byteLength, rev: fileRev(after), created: before === undefined };
};

const create = async (workspaces: Dir, agentId: string, path: string, { bytes, sizeBytes }: Parameters<FilesService['create']>[2]): Promise<Written> => {
  if (await found(workspaces, agentId, path)) throw fileErrors.already_there(path);
  const dir = workspaces.dir(agentId);
  await dir.writeStream(path, bytes, { maxBytes: sizeBytes, noLinks: true });
  const after = await dir.stat(path);
  if (!after) throw fileErrors.not_found(path);
  return { status: 'ok', name: path, size_bytes: sizeBytes, rev: fileRev(after), created: true };
};

interface Removal<C> {
  readonly path: string;
  readonly expects: Expects;
  readonly copies: Copies<C> | undefined;
}

const remove = async <C>(dir: Dir, entry: DirEntry, { path, expects, copies }: Removal<C>): Promise<{ status: 'ok'; name: string; copy: C | undefined }> => {
  const rev = fileRev(entry);
  expects(path, rev);
  const copy = await copies?.take({ path, bytes: dir.readStream(path) });
  if (copies && copy !== undefined) {
    // What was written while it was copied is not in the copy.
    const now = await dir.stat(path);
    if (!now || fileRev(now) !== rev) {
      await copies.drop(copy);
      throw now ? fileErrors.changed(path, fileRev(now)) : fileErrors.not_found(path);
    }
  }
  if (!(await dir.remove(path))) throw fileErrors.not_found(path);
  return { status: 'ok', name: path, copy };
};

/** Other bytes than text are shown as base64. */
const asText = (data: Uint8Array): Pick<FileContent, 'content' | 'encoding'> => {
  const decoded = decodeText(data);
  return decoded && !decoded.text.includes('\0') ? { content: decoded.text, encoding: decoded.encoding } : { content: Buffer.from(data).toString('base64'), encoding: 'base64' };
};
