/**
 * Folders of skills in the sandbox of commands.
 *
 * N1  A command that names the folder of a skill sees that folder, for reading alone, where its agent has the skill; no other one.
 */
import type { AgentManifest } from '@svc/ext-agents/contract';
import type { Assigned } from '../assigned.js';
import type { Library } from '../library.js';

export const foldersNamed = (library: Pick<Library, 'pathOf'>, assigned: Pick<Assigned, 'of'>, manifest: Pick<AgentManifest, 'skills' | 'skills_disabled'>, command: string): string[] => {
  // Nearly all commands name none.
  if (!command.includes('/skills/')) return [];
  return assigned
    .of(manifest)
    .map((entry) => library.pathOf(entry))
    .filter((path) => path !== '' && names(command, path));
};

const names = (command: string, path: string): boolean => {
  const at = command.indexOf(path);
  return at >= 0 && !/[A-Za-z0-9_.@-]/.test(command[at + path.length] ?? '');
};
