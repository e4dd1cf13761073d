/** Folders, out of a list of paths; and what of a file a page can show. */
import type { OutputOf } from '@svc/kit';

export type Listing = OutputOf<'listAgentFiles'>;
export type WorkspaceFile = Listing['files'][number];

export interface Entry {
  /** Without the folders before it. */
  readonly name: string;
  readonly path: readonly string[];
  readonly isFolder: boolean;
  readonly sizeBytes: number;
  /** Of a folder: the newest in it. */
  readonly modifiedAt: string;
  /** Files, in a folder and below it. */
  readonly files: number;
  readonly isIdentity: boolean;
}

const isBelow = (file: readonly string[], folder: readonly string[]): boolean => file.length > folder.length && folder.every((part, index) => file[index] === part);

/** What stands in a folder, folders first. */
export const entriesOf = (files: readonly WorkspaceFile[], folder: readonly string[]): Entry[] => {
  const found = new Map<string, Entry>();
  for (const file of files) {
    const path = file.name.split('/');
    if (!isBelow(path, folder)) continue;
    const name = path[folder.length] ?? '';
    const isFolder = path.length > folder.length + 1;
    const before = found.get(name);
    found.set(name, {
      name,
      path: [...folder, name],
      isFolder,
      sizeBytes: (before?.sizeBytes ?? 0) + file.size_bytes,
      modifiedAt: before && before.modifiedAt > file.modified_at ? before.modifiedAt : file.modified_at,
      files: (before?.files ?? 0) + 1,
      isIdentity: file.kind === 'identity',
    });
  }
  return [...found.values()].sort((one, other) => Number(other.isFolder) - Number(one.isFolder) || one.name.localeCompare(other.name, undefined, { numeric: true }));
};

export const isFolder = (files: readonly WorkspaceFile[], path: readonly string[]): boolean => path.length === 0 || files.some((file) => isBelow(file.name.split('/'), path));

/** The nearest folder above a path that is there without it. */
export const folderWithout = (files: readonly WorkspaceFile[], path: readonly string[]): readonly string[] => {
  const others = files.filter(({ name }) => name !== path.join('/'));
  for (let length = path.length - 1; length > 0; length--) if (isFolder(others, path.slice(0, length))) return path.slice(0, length);
  return [];
};

/** `text` where nothing is known yet: its bytes decide. */
export type Kind = 'picture' | 'sound' | 'pdf' | 'text';

const KINDS: ReadonlyArray<readonly [Kind, RegExp]> = [
  ['picture', /\.(png|jpe?g|gif|webp)$/i],
  ['sound', /\.(mp3|wav|ogg|oga|m4a|flac|webm|opus)$/i],
  ['pdf', /\.pdf$/i],
];

export const kindOf = (name: string): Kind => KINDS.find(([, ending]) => ending.test(name))?.[0] ?? 'text';

/** Text that people wrote as such: lines are wrapped. */
export const isProse = (name: string): boolean => /\.(md|markdown|txt|rst|adoc|org)$/i.test(name) || !name.includes('.');

/** As a fence of Markdown names it: by its ending. */
export const languageOf = (name: string): string | undefined => (/(?:^|\/)Makefile$/.test(name) ? 'makefile' : /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase());

/** Limits of the daemon: of what it gives as text, and of what it writes. */
export const MAX_SHOWN_BYTES = 4 * 1_024 * 1_024;
export const MAX_WRITE_BYTES = 1_024 * 1_024;
export const MAX_IDENTITY_BYTES = 32_768;

export const bytesHref = (agentId: string, path: readonly string[]): string => `/api/agents/${encodeURIComponent(agentId)}/files/${encodeURIComponent(path.join('/'))}?raw=1`;
