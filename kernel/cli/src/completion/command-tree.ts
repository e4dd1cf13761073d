/** What there is to complete: every command with its subcommands and options, read from the commands themselves. */
import type { Completion } from '@svc/installer/commands';
import type { Command } from 'commander';

export interface OptionWord {
  /** `--name`, or `-n` where there is no long one. */
  readonly word: string;
  readonly short: string | undefined;
  readonly description: string;
  readonly takesValue: boolean;
  /** The source that offers its value: `agents`. */
  readonly source: string | undefined;
}

/** What is offered after a command, or after a command and its subcommand. */
export interface CommandNode {
  /** `agent` or `agent kill`; empty for `svc` itself. */
  readonly path: string;
  readonly description: string;
  readonly words: ReadonlyArray<{ readonly name: string; readonly description: string }>;
  readonly options: readonly OptionWord[];
  /** The source that offers the first argument. */
  readonly source: string | undefined;
  /** Every argument is offered by it, not the first alone. */
  readonly isRepeated: boolean;
}

export interface CommandTree {
  readonly nodes: readonly CommandNode[];
  readonly globals: readonly OptionWord[];
}

type SourceOf = (field: string | undefined) => string | undefined;

export const commandTree = (program: Command, sources: readonly Completion[]): CommandTree => {
  const sourceOf: SourceOf = (field) => sources.find(({ fields }) => field !== undefined && fields.includes(field))?.name;
  const globals = [...program.options.map((option) => optionOf(option, sourceOf)), { word: '--help', short: '-h', description: 'print help', takesValue: false, source: undefined }];
  const tops = program.commands.map((command) => ({ name: command.name(), description: command.summary() }));
  const root: CommandNode = { path: '', description: '', words: [...tops, { name: 'help', description: 'help for a command' }], options: [], source: undefined, isRepeated: false };
  return { nodes: [root, ...program.commands.flatMap((command) => nodesOf(command, '', sourceOf))], globals };
};

const optionOf = ({ description, long, required, short }: Command['options'][number], sourceOf: SourceOf): OptionWord => ({
  word: long ?? short ?? '',
  short: long === undefined ? undefined : short,
  description,
  takesValue: required,
  source: required ? sourceOf(long?.replace(/^--/, '')) : undefined,
});

const nodesOf = (command: Command, above: string, sourceOf: SourceOf): CommandNode[] => {
  const path = above === '' ? command.name() : `${above} ${command.name()}`;
  const [first] = command.registeredArguments;
  const own: CommandNode = {
    path,
    description: command.description(),
    words: [...command.commands.map((one) => ({ name: one.name(), description: one.description() })), ...shellsOf(path)],
    options: command.options.map((option) => optionOf(option, sourceOf)),
    source: sourceOf(first?.name()),
    isRepeated: first?.variadic === true,
  };
  return [own, ...command.commands.flatMap((one) => nodesOf(one, path, sourceOf))];
};

const shellsOf = (path: string): Array<{ name: string; description: string }> =>
  path === 'completion' ? ['bash', 'zsh', 'fish', 'powershell'].map((name) => ({ name, description: `for ${name}` })) : [];
