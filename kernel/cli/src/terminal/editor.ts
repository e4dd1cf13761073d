/** A person's own editor on a file. */
import { spawn } from 'node:child_process';
import { textThatIsSet } from '@svc/api';
import type { Cli } from '../cli.js';
import { Failure } from '../failure.js';

/** Comes back when the editor is closed. `command` is what was typed, for the fix. */
export const runEditor = async ({ settings }: Cli, file: string, command: string): Promise<void> => {
  const editor = textThatIsSet(settings.env.VISUAL) ?? textThatIsSet(settings.env.EDITOR) ?? 'vi';
  // It may have arguments, as in `code --wait`: the shell reads it as the person wrote it, and the file is not part of that text.
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env: settings.env });
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Failure(`The editor "${editor}" ended with ${code ?? 'a signal'}.`, { code: 'cli_editor_failed', why: 'nothing was changed', fix: `EDITOR=<your editor> ${command}` });
};
