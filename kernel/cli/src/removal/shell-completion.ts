/** Completion as `svc completion` says to set it up: a line of a start-up file of the shell, or a file of fish. */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface CompletionPlace {
  readonly file: string;
  /** Undefined where the whole file is it. */
  readonly line: string | undefined;
}

const START_FILES = ['.bashrc', '.bash_profile', '.zshrc', '.profile'];
const LINE = /^\s*source <\((?:npx )?svc completion (?:bash|zsh)\)\s*$/;
const FISH = '.config/fish/completions/svc.fish';

export const completionPlaces = async (userHome: string): Promise<CompletionPlace[]> => {
  const found = await Promise.all(START_FILES.map(async (name) => linesOf(path.join(userHome, name))));
  const fish = path.join(userHome, FISH);
  const text = await readFile(fish, 'utf8').catch(() => ''); // there is none
  return [...found.flat(), ...(text.includes('Made by: svc completion fish') ? [{ file: fish, line: undefined }] : [])];
};

const linesOf = async (file: string): Promise<CompletionPlace[]> => {
  const text = await readFile(file, 'utf8').catch(() => ''); // there is none
  return text
    .split('\n')
    .filter((line) => LINE.test(line))
    .map((line) => ({ file, line: line.trim() }));
};

/** The other lines stay as they are. */
export const removeCompletion = async (places: readonly CompletionPlace[]): Promise<void> => {
  for (const { file, line } of places) {
    if (line === undefined) await rm(file, { force: true });
    else {
      const [text, { mode }] = [await readFile(file, 'utf8'), await stat(file)];
      // A link to the file of a person's own repository stays a link.
      await writeFile(
        file,
        text
          .split('\n')
          .filter((one) => one.trim() !== line)
          .join('\n'),
        { mode },
      );
    }
  }
};
