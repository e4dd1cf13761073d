/** `svc completion`: scripts for the shell, made from the commands as they are. */
import type { Completion } from '@svc/installer/commands';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { usageFailure } from '../failure.js';

const HOW: Readonly<Record<string, string>> = {
  bash: 'source <(svc completion bash)   in ~/.bashrc',
  zsh: 'source <(svc completion zsh)   in ~/.zshrc, below compinit',
  powershell: 'svc completion powershell | Out-String | Invoke-Expression   in $PROFILE',
  fish: 'svc completion fish > ~/.config/fish/completions/svc.fish',
};

export const define = (program: Command, action: Action, whole: () => Promise<Command>): void => {
  program
    .command('completion')
    .description('Print a completion script for commands, options and agent names. For bash: source <(svc completion bash)')
    .argument('<shell>', 'bash, zsh, fish or powershell')
    .action(action((cli, shell: string) => completion(cli, shell, whole)));
};

const completion = async (cli: Cli, shell: string, whole: () => Promise<Command>): Outcome => {
  const { SCRIPTS } = await import('../completion/scripts.js');
  const { areaCompletions } = await import('../areas/area-offers.js');
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  const sources = await areaCompletions(cli.settings, cli.distDir, script === undefined ? shell : undefined);
  const source = sources.find(({ name }) => name === shell);
  if (script === undefined) {
    if (source === undefined) throw usageFailure(`There is no completion for "${shell}"; use bash, zsh, fish or powershell.`, 'svc completion bash');
    return offer(cli, source);
  }
  const { commandTree } = await import('../completion/command-tree.js');
  const text = script(commandTree(await whole(), sources));
  if (cli.json) cli.out.json({ shell, script: text });
  else cli.out.write(text);
  if (cli.out.isTty && !cli.json) cli.out.note(cli.out.dim(`To use it: ${HOW[shell]}`));
  return EXIT.ok;
};

/** What the scripts ask while a person waits: words or nothing, and no error. */
const offer = async (cli: Cli, source: Completion): Outcome => {
  const { offeredWords } = await import('../completion/offered-words.js');
  const words = await offeredWords(cli, source);
  if (cli.json) cli.out.json({ [source.name]: words });
  else for (const word of words) cli.out.line(word);
  return EXIT.ok;
};
