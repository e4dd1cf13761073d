/** Questions to a person. The prompt library is loaded only when one is really asked. */
import type { Cli } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';

const interrupted = (): Failure => new Failure('Nothing was changed.', { code: 'cli_interrupted', exit: EXIT.interrupted });

/** True when the person agrees, or --yes already did. Refuses to guess where nobody can answer. */
export const confirm = async (cli: Cli, question: string): Promise<boolean> => {
  if (cli.yes) return true;
  if (!cli.out.canAsk || cli.json) throw usageFailure(`${question} Nobody is here to answer.`, 'the same command with --yes');
  const prompts = await import('@clack/prompts');
  const answer = await prompts.confirm({ message: question, initialValue: false });
  if (prompts.isCancel(answer)) throw interrupted();
  return answer;
};

/** A secret that is never shown and never an argument. */
export const askSecret = async (cli: Cli, question: string): Promise<string> => {
  if (!cli.out.canAsk) throw usageFailure('The key is asked for at a terminal.', 'pipe it in instead: … --stdin < keyfile');
  const prompts = await import('@clack/prompts');
  const answer = await prompts.password({ message: question, mask: '•', validate: (value) => ((value ?? '').trim() === '' ? 'It is empty.' : undefined) });
  if (prompts.isCancel(answer)) throw interrupted();
  return answer.trim();
};

/** A secret from a pipe, without the blanks around it. */
export const pipedSecret = async (): Promise<string> => {
  if (process.stdin.isTTY === true) throw new Failure('--stdin reads a pipe, and there is none.', { code: 'cli_usage', exit: EXIT.usage, mend: 'leave --stdin out: you will be asked' });
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text.trim();
};

export const choose = async <T>(question: string, options: ReadonlyArray<{ value: T; label: string; hint?: string }>): Promise<T> => {
  const prompts = await import('@clack/prompts');
  // The library's option type is conditional on T; ours is its object form.
  const answer = await prompts.select({ message: question, options: options as never });
  if (prompts.isCancel(answer)) throw interrupted();
  return answer as T;
};
