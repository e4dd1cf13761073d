/** The folder of each agent, as its file tools see it. */
import { posix } from 'node:path';
import { decodeText, type Dir, encodeText, encodingOf, type ToolCall } from '@svc/api';
import { belongsToGit, saysWhoTheAgentIs } from '@svc/ext-agents/contract';
import { toolErrors } from '../errors.js';

/** What a file tool works on at most. */
export const MAX_TEXT_BYTES = 4 * 1024 * 1024;

const FIRST_FILE = '.first-use';

export interface Workspaces {
  of(call: Pick<ToolCall, 'agentId'>): Dir;
  /** The folder, made when nobody has written to it yet: what a process needs to start in it. */
  made(call: Pick<ToolCall, 'agentId'>): Promise<Dir>;
}

export const createWorkspaces = (root: Dir): Workspaces => ({
  of: ({ agentId }) => root.dir(agentId),
  made: async ({ agentId }) => {
    const dir = root.dir(agentId);
    if (await root.stat(agentId)) return dir;
    // A folder handle makes folders only on the way to a file.
    await dir.write(FIRST_FILE, '');
    await dir.remove(FIRST_FILE);
    return dir;
  },
});

/** The path below the workspace that a model meant. Throws `tools_path_denied`. The folder handle refuses links that lead out. */
export const pathIn = (dir: Pick<Dir, 'path'>, path: string): string => {
  // Models like to write the whole path once they have seen it.
  const inside = path === dir.path || path.startsWith(`${dir.path}/`) ? path.slice(dir.path.length + 1) : path;
  const parts = inside.split(/[/\\]/);
  if (inside.includes('\0') || parts.includes('..') || posix.isAbsolute(inside) || inside.startsWith('\\') || /^[a-z]:/i.test(inside)) throw toolErrors.path_denied(path);
  return posix.normalize(inside === '' ? '.' : inside);
};

/** As `pathIn`, for a file that a tool makes, changes or takes away: not those that say who the agent is. Throws `tools_identity_file` and `tools_git_folder` too. It is validated by its name: write it with `noLinks`. */
export const writablePath = (dir: Pick<Dir, 'path'>, path: string): string => {
  const inside = pathIn(dir, path);
  if (inside === '.' || inside.endsWith('/')) throw toolErrors.path_denied(path);
  // What a page or a document talked an agent into would otherwise be its instructions from then on.
  if (saysWhoTheAgentIs(inside)) throw toolErrors.identity_file(inside);
  if (belongsToGit(inside)) throw toolErrors.git_folder(inside);
  return inside;
};

/** The text of a file, or undefined when there is none. Throws `tools_file_too_large`, `tools_not_text`. */
export const readText = async (dir: Dir, path: string): Promise<string | undefined> => {
  const found = await dir.stat(path);
  if (!found) return undefined;
  if (found.kind !== 'file') throw toolErrors.not_text(path);
  if (found.sizeBytes > MAX_TEXT_BYTES) throw toolErrors.file_too_large(path, found.sizeBytes, MAX_TEXT_BYTES);
  const data = await dir.read(path, { maxBytes: MAX_TEXT_BYTES });
  const decoded = decodeText(data);
  if (!decoded) throw toolErrors.not_text(path);
  return decoded.text;
};

/** In the encoding that the file has; a new one is UTF-8. */
export const writeText = async (dir: Dir, path: string, text: string): Promise<void> => {
  const found = await dir.stat(path);
  const mark = found?.kind === 'file' && found.sizeBytes >= 2 ? await firstBytes(dir, path) : new Uint8Array();
  const encoding = encodingOf(mark);
  await dir.write(path, encoding === 'utf-8' ? text : encodeText(text, encoding), { noLinks: true });
};

const firstBytes = async (dir: Dir, path: string): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of dir.readStream(path, { end: 2 })) pieces.push(piece);
  return Buffer.concat(pieces);
};
