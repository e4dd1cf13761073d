import { type AnyTool, defineTool, Type } from '@svc/api';
import { toolErrors } from '../errors.js';
import { diffPreview, stateBefore } from './previews.js';
import { pathIn, readText, type Workspaces, writablePath } from './workspace.js';

const MAX_LISTED = 1_000;
const MAX_WRITE_CHARS = 4_000_000;

export const fileTools = (workspaces: Workspaces): AnyTool[] => [readTool(workspaces), writeTool(workspaces), listTool(workspaces)];

const Path = (description: string) => Type.String({ minLength: 1, maxLength: 1_000, description });

const readTool = (workspaces: Workspaces): AnyTool =>
  defineTool({
    name: 'file_read',
    description: 'Reads a text file of your workspace. For a long file, read a part: offset is the first line (from 1), limit the number of lines.',
    params: Type.Object({ path: Path('Path from the workspace'), offset: Type.Optional(Type.Integer({ minimum: 1 })), limit: Type.Optional(Type.Integer({ minimum: 1 })) }),
    risk: 'read',
    openWorld: false,
    capabilities: ['file_system'],
    needs: ({ path }) => [{ capability: 'file_system', target: path }],
    replay: 'safe',
    parallel: true,
    run: async ({ path, offset, limit }, call) => {
      const dir = workspaces.of(call);
      const text = await readText(dir, pathIn(dir, path));
      if (text === undefined) throw toolErrors.no_file(path);
      return offset === undefined && limit === undefined ? text : partOf(text, offset ?? 1, limit);
    },
  });

const partOf = (text: string, offset: number, limit: number | undefined): string => {
  const lines = text.split('\n');
  const part = lines.slice(offset - 1, limit === undefined ? undefined : offset - 1 + limit);
  return part.length === 0 ? `[the file has ${lines.length} lines; none from ${offset} on]` : `${part.join('\n')}\n[lines ${offset} to ${offset + part.length - 1} of ${lines.length}]`;
};

const writeTool = (workspaces: Workspaces): AnyTool =>
  defineTool({
    name: 'file_write',
    description: 'Writes a text file of your workspace, replacing it as a whole; missing folders are made. To change a part, use apply_patch.',
    params: Type.Object({ path: Path('Path from the workspace'), content: Type.String({ maxLength: MAX_WRITE_CHARS }) }),
    risk: 'write',
    openWorld: false,
    capabilities: ['file_system'],
    needs: ({ path }) => [{ capability: 'file_system', target: path }],
    writes: ({ path }) => [path],
    // The same content again is the same file.
    replay: 'safe',
    parallel: false,
    preview: async ({ path, content }, call) => {
      const dir = workspaces.of(call);
      const target = writablePath(dir, path);
      return diffPreview([{ path: target, ...(await stateBefore(dir, target)), after: content }]);
    },
    run: async ({ path, content }, call) => {
      const dir = workspaces.of(call);
      const target = writablePath(dir, path);
      await dir.write(target, content, { noLinks: true });
      return `Wrote ${new TextEncoder().encode(content).length} bytes to ${target}.`;
    },
  });

const listTool = (workspaces: Workspaces): AnyTool =>
  defineTool({
    name: 'file_list',
    description: 'Lists a folder of your workspace: one entry a line, folders with a slash at the end, files with their size.',
    params: Type.Object({ path: Type.Optional(Path('Folder; by default, the whole workspace')), recursive: Type.Optional(Type.Boolean()) }),
    risk: 'read',
    openWorld: false,
    capabilities: ['file_system'],
    needs: ({ path }) => [{ capability: 'file_system', target: path ?? '.' }],
    replay: 'safe',
    parallel: true,
    run: async ({ path = '.', recursive = false }, call) => {
      const dir = workspaces.of(call);
      const folder = pathIn(dir, path);
      const found = await dir.stat(folder);
      // Nobody has written to a fresh workspace yet: its folder is made on first use.
      if (!found) return /^(?:\.\/*)+$/.test(folder) ? '[empty]' : Promise.reject(toolErrors.no_file(path));
      if (found.kind !== 'dir') throw toolErrors.not_a_folder(path);
      const entries = await dir.list(folder, { recursive, limit: MAX_LISTED });
      const lines = entries.map(({ name, kind, sizeBytes }) => (kind === 'dir' ? `${name}/` : `${name} (${sizeBytes} bytes)`)).sort();
      if (entries.length === MAX_LISTED) lines.push(`[only the first ${MAX_LISTED} are shown; list a folder below]`);
      return lines.length === 0 ? '[empty]' : lines.join('\n');
    },
  });
