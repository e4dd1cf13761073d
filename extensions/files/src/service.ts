/**
 * What a person sees of an agent's workspace.
 *
 * F1  A name never leads out of the workspace, however it is written.
 * F2  Bytes are given back as they are: text as text, anything else in base64.
 * F3  A workspace that nobody wrote to yet is empty, not an error.
 */
import { posix } from 'node:path';
import type { Dir } from '@svc/api';
import { fileErrors } from './errors.js';

export const MAX_FILES = 1_000;
const MAX_SHOWN_BYTES = 4 * 1024 * 1024;

/** Files that say who an agent is, in `.identity/` or at the top. */
const IDENTITY_NAMES = new Set(['SOUL.md', 'IDENTITY.md', 'USER.md', 'TOOLS.md', 'MEMORY.md', 'AGENTS.md', 'BOOTSTRAP.md', 'HEARTBEAT.md']);

export interface WorkspaceFile {
  /** Path from the workspace, with slashes. */
  readonly name: string;
  readonly exists: true;
  readonly size_bytes: number;
  readonly kind: 'workspace' | 'identity';
  readonly modified_at: string;
}

export interface FileContent {
  readonly name: string;
  readonly content: string;
  readonly encoding: 'utf-8' | 'base64';
  readonly size_bytes: number;
}

export interface FilesService {
  list(agentId: string): Promise<WorkspaceFile[]>;
  /** Throws `files_outside_workspace`, `files_not_found`, `files_too_large`. */
  read(agentId: string, name: string): Promise<FileContent>;
}

export const createFilesService = (workspaces: Dir): FilesService => ({
  list: (agentId) => list(workspaces, agentId),
  read: (agentId, name) => read(workspaces, agentId, name),
});

const list = async (workspaces: Dir, agentId: string): Promise<WorkspaceFile[]> => {
  if (!(await workspaces.stat(agentId))) return [];
  const entries = await workspaces.dir(agentId).list('.', { recursive: true, limit: MAX_FILES });
  return entries
    .filter((entry) => entry.kind === 'file')
    .map(({ name, sizeBytes, modifiedAt }) => ({ name, exists: true as const, size_bytes: sizeBytes, kind: kindOf(name), modified_at: modifiedAt }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};

const kindOf = (name: string): WorkspaceFile['kind'] => (name.startsWith('.identity/') || IDENTITY_NAMES.has(name) ? 'identity' : 'workspace');

const read = async (workspaces: Dir, agentId: string, name: string): Promise<FileContent> => {
  const path = workspacePath(name);
  const dir = workspaces.dir(agentId);
  const found = (await workspaces.stat(agentId)) ? await dir.stat(path) : undefined;
  if (found?.kind !== 'file') throw fileErrors.not_found(path);
  if (found.sizeBytes > MAX_SHOWN_BYTES) throw fileErrors.too_large(found.sizeBytes, MAX_SHOWN_BYTES);
  const data = await dir.read(path, { maxBytes: MAX_SHOWN_BYTES });
  return { name: path, ...asText(data), size_bytes: data.byteLength };
};

/** The router has decoded `%2F` and `%2E` by now, so this is what the disk would see. The folder handle checks links again. */
export const workspacePath = (name: string): string => {
  const parts = name.split(/[/\\]/);
  if (name === '' || name.includes('\0') || parts.includes('..') || posix.isAbsolute(name) || name.startsWith('\\') || /^[a-z]:/i.test(name)) throw fileErrors.outside_workspace(name);
  return posix.normalize(name);
};

const asText = (data: Uint8Array): Pick<FileContent, 'content' | 'encoding'> => {
  if (!data.includes(0)) {
    try {
      return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data), encoding: 'utf-8' };
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      // Not UTF-8: shown as the bytes it is.
    }
  }
  return { content: Buffer.from(data).toString('base64'), encoding: 'base64' };
};
