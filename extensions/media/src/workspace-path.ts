/** Paths that a model names, in the folder of its agent. */
import { posix } from 'node:path';
import type { Dir } from '@svc/api';
import { belongsToGit, saysWhoTheAgentIs } from '@svc/ext-agents/contract';
import { mediaErrors } from './errors.js';

/** Throws `media_path_denied`. The folder handle refuses links that lead out. */
export const workspacePath = (dir: Pick<Dir, 'path'>, path: string, use: 'read' | 'write' = 'read'): string => {
  const inside = path.startsWith(`${dir.path}/`) ? path.slice(dir.path.length + 1) : path;
  if (inside.includes('\0') || inside.split(/[/\\]/).includes('..') || posix.isAbsolute(inside) || inside.startsWith('\\') || /^[a-z]:/i.test(inside)) throw mediaErrors.path_denied(path);
  const normal = posix.normalize(inside);
  if (use === 'write' && (normal === '.' || normal.endsWith('/') || saysWhoTheAgentIs(normal) || belongsToGit(normal))) throw mediaErrors.path_denied(path);
  return normal;
};

export const textPath = (path: string): string => `${path.replace(/\.[A-Za-z0-9]+$/, '')}.txt`;
