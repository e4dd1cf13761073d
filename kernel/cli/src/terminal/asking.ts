/** Questions to a person. The prompt library is loaded only when one is really asked. */
import type { Cli } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';
import { readStdin } from './stdin.js';
import { printable, shown } from './terminal.js';

const interrupted = (): Failure => new Failure('Nothing was changed.', { code: 'cli_interrupted', exit: EXIT.interrupted });

/** True when the person agrees, or --yes already did. Refuses to guess where nobody can answer. */
export const confirm = async (cli: Cli, question: string): Promise<boolean> => {
  if (cli.yes) return true;
  if (!cli.out.canAsk || cli.json) throw usageFailure(`${question} No terminal to answer the question.`, 'repeat the command with --yes');
  const prompts = await import('@clack/prompts');
  const answer = await prompts.confirm({ message: printable(question), initialValue: false });
  if (prompts.isCancel(answer)) throw interrupted();
  return answer;
};

/** A secret that is never shown and never an argument. */
export const askSecret = async (cli: Cli, question: string): Promise<string> => {
  if (!cli.out.canAsk) throw usageFailure('The key is asked for at a terminal.', 'pipe it in instead: … --stdin < keyfile');
  const prompts = await import('@clack/prompts');
  const answer = await prompts.password({ message: printable(question), mask: '•', validate: (value) => ((value ?? '').trim() === '' ? 'It is empty.' : undefined) });
  if (prompts.isCancel(answer)) throw interrupted();
  return answer.trim();
};

/** A secret from a pipe, without the blanks around it. */
export const pipedSecret = async (): Promise<string> => {
  if (process.stdin.isTTY === true) throw new Failure('--stdin needs a pipe.', { code: 'cli_usage', exit: EXIT.usage, fix: 'leave --stdin out: you will be asked' });
  return (await readStdin()).trim();
};

/** Beyond so many a list is searched by typing. */
const MANY_OPTIONS = 12;

export const choose = async <T>(question: string, options: ReadonlyArray<{ value: T; label: string; hint?: string }>): Promise<T> => {
  const prompts = await import('@clack/prompts');
  // By their places: a value may be undefined, which is also what the library gives for a text that fits none of them.
  const asked = {
    message: printable(question),
    options: options.map(({ label, hint }, place) => ({ value: String(place), label: shown(label, true), ...(hint === undefined ? {} : { hint: shown(hint, true) }) })),
    initialValue: '0',
  };
  for (;;) {
    const answer = options.length > MANY_OPTIONS ? await prompts.autocomplete({ ...asked, placeholder: 'type to search', maxItems: MANY_OPTIONS }) : await prompts.select(asked);
    if (prompts.isCancel(answer)) throw interrupted();
    const chosen = typeof answer === 'string' ? options[Number(answer)] : undefined;
    if (chosen) return chosen.value;
    prompts.log.warn('No matches. Choose one from the list, or press Ctrl-C.');
  }
};

/** One line of text; `usual` is what Enter alone gives. */
export const askText = async (question: string, usual: string, problemOf: (text: string) => string | undefined): Promise<string> => {
  const prompts = await import('@clack/prompts');
  const answer = await prompts.text({ message: printable(question), placeholder: usual, defaultValue: usual, validate: (value) => problemOf((value ?? '').trim() || usual) });
  if (prompts.isCancel(answer)) throw interrupted();
  return answer.trim();
};

/** Before what cannot be taken back: asked at a terminal, taken as meant in a script. */
export const agreesAtTerminal = async (cli: Cli, question: string): Promise<boolean> => {
  if (!cli.out.canAsk || cli.json || (await confirm(cli, question))) return true;
  cli.out.line('Nothing was changed.');
  return false;
};
