/** What there is to complete: every command with its subcommands and options, read from the commands themselves. */
import type { Command } from 'commander';

export interface OptionWord {
  /** `--name`, or `-n` where there is no long one. */
  readonly word: string;
  readonly short: string | undefined;
  readonly description: string;
  readonly takesValue: boolean;
}

/** What is offered after a command, or after a command and its subcommand. */
export interface CommandNode {
  /** `agent` or `agent kill`; empty for `svc` itself. */
  readonly path: string;
  readonly description: string;
  readonly words: ReadonlyArray<{ readonly name: string; readonly description: string }>;
  readonly options: readonly OptionWord[];
  /** What the first argument is, where something is known of it. */
  readonly argument: 'agent' | 'file' | 'none';
  /** Every argument is of that kind, not the first alone. */
  readonly isRepeated: boolean;
}

export interface CommandTree {
  readonly nodes: readonly CommandNode[];
  readonly globals: readonly OptionWord[];
}

export const commandTree = (program: Command): CommandTree => {
  const globals = [...program.options.map(optionOf), { word: '--help', short: '-h', description: 'print help', takesValue: false }];
  const tops = program.commands.map((command) => ({ name: command.name(), description: command.summary() }));
  const root: CommandNode = { path: '', description: '', words: [...tops, { name: 'help', description: 'help for a command' }], options: [], argument: 'none', isRepeated: false };
  return { nodes: [root, ...program.commands.flatMap((command) => nodesOf(command, ''))], globals };
};

const optionOf = ({ description, long, required, short }: Command['options'][number]): OptionWord => ({
  word: long ?? short ?? '',
  short: long === undefined ? undefined : short,
  description,
  takesValue: required,
});

const nodesOf = (command: Command, above: string): CommandNode[] => {
  const path = above === '' ? command.name() : `${above} ${command.name()}`;
  const [first] = command.registeredArguments;
  const own: CommandNode = {
    path,
    description: command.description(),
    words: [...command.commands.map((one) => ({ name: one.name(), description: one.description() })), ...shellsOf(path)],
    options: command.options.map(optionOf),
    argument: kindOf(first?.name()),
    isRepeated: first?.variadic === true,
  };
  return [own, ...command.commands.flatMap((one) => nodesOf(one, path))];
};

const shellsOf = (path: string): Array<{ name: string; description: string }> => (path === 'completion' ? ['bash', 'zsh', 'fish'].map((name) => ({ name, description: `for ${name}` })) : []);

const kindOf = (name: string | undefined): CommandNode['argument'] => {
  if (name === 'agent' || name === 'agents') return 'agent';
  return name === 'manifest' ? 'file' : 'none';
};
