/** What goes, shown before anybody agrees. What does not come back is agreed to by typing a word. */
import type { Cli } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';
import { askText } from '../terminal/asking.js';
import { bytesText, facts, table } from '../terminal/layout.js';
import type { HomePart } from './home-parts.js';

export const showParts = ({ out }: Cli, parts: readonly HomePart[]): void => {
  const rows = parts.map(({ bytes, path, what }) => [path, bytesText(bytes), what]);
  for (const line of table([{ title: 'DELETES' }, { title: 'SIZE' }, { title: 'WHAT', shrinks: true }], rows, out.width, (text, _column, row) => (row < 0 ? out.dim(text) : text))) out.line(line);
};

export const showKept = ({ out }: Cli, kept: ReadonlyArray<readonly [string, string]>): void => {
  for (const line of facts(kept, out.width)) out.line(line);
};

/** Throws where nobody agrees, and where nobody can be asked. */
export const agreeByTyping = async (cli: Cli, word: string, command: string): Promise<void> => {
  if (cli.yes) return;
  if (!cli.out.canAsk || cli.json) throw usageFailure('This cannot be undone, and there is no terminal to confirm it.', `${command} --yes`);
  const answer = await askText(`This cannot be undone. Type ${word} to continue`, '', (text) => (text === word || text === '' ? undefined : `Type ${word}, or press Ctrl-C.`));
  if (answer !== word) throw new Failure('Nothing was changed.', { code: 'cli_interrupted', exit: EXIT.interrupted });
};
