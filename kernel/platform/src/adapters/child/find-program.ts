import { access, constants, stat } from 'node:fs/promises';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { execErrors } from '../errors.js';

/** The file that will run, found on the PATH the child will have: the start signal's shell would report a missing one only by a number. */
export const findProgram = async (command: string, cwd: string, path: string): Promise<string> => {
  if (command === '') throw execErrors.bad_command('it is empty');
  const isPath = command.includes('/') || (process.platform === 'win32' && command.includes('\\'));
  const candidates = isPath
    ? [isAbsolute(command) ? command : resolve(cwd, command)]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, command));
  const suffixes = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  for (const candidate of candidates.flatMap((file) => suffixes.map((suffix) => file + suffix))) {
    const isFile = (await stat(candidate).catch(() => undefined))?.isFile() ?? false;
    if (
      isFile &&
      (await access(candidate, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return candidate;
  }
  throw execErrors.not_found(basename(command));
};
