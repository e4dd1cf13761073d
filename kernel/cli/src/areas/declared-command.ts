/** A declared command as one of the command line: its arguments and flags, the call, and what it prints. */
import type { CommandInput, ResolvedCommand } from '@svc/installer/commands';
import { type Command, Option } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { usageFailure } from '../failure.js';
import { confirm } from '../terminal/asking.js';
import { printable } from '../terminal/terminal.js';
import { callArea } from './call-area.js';
import { bodyFrom } from './body-file.js';
import { choicesOf, filled, isNullable, kindOf, typedValue } from './input-values.js';
import { printAnswer } from './print-answer.js';

/** Flags of every command, and `--file`. */
const OF_ALL: readonly string[] = ['json', 'yes', 'color', 'home', 'port', 'help', 'version', 'file'];

type Values = Record<string, unknown>;

export const defineDeclared = (group: Command, command: ResolvedCommand, area: string, action: Action): void => {
  const [, verb = ''] = command.command.split(' ');
  const defined = group.command(verb).description(printable(command.summary));
  for (const [place, input] of command.args.entries()) defined.argument(argumentOf(input, place === command.args.length - 1), describe(input));
  for (const input of command.flags) for (const option of optionsOf(input)) defined.addOption(option);
  if (command.body !== 'none') defined.addOption(new Option('--file <file>', command.body === 'json' ? 'a JSON file with these fields; - is stdin' : 'the file to send; - is stdin'));
  defined.action(action((cli, ...given: unknown[]) => run(cli, command, area, given.slice(0, command.args.length), (given[command.args.length] ?? {}) as Values))); // as commander gives them
};

const argumentOf = (input: CommandInput, isLast: boolean): string => {
  const name = `${flagWords(input.name)}${isLast && kindOf(input.schema) === 'list' ? '...' : ''}`;
  return input.isRequired ? `<${name}>` : `[${name}]`;
};

const describe = ({ schema, isRequired, from }: CommandInput): string => {
  const { description, default: usual } = filled(schema);
  const choices = choicesOf(schema);
  const more = [
    ...(choices === undefined ? [] : [choices.join(', ')]),
    ...(isRequired && from !== 'path' ? ['required'] : []),
    ...(usual === undefined || typeof usual === 'object' ? [] : [`default: ${String(usual)}`]),
  ];
  const text = printable(typeof description === 'string' ? description : '');
  return more.length === 0 ? text : `${text}${text === '' ? '' : ' '}(${more.join('; ')})`;
};

/** `agent_id` and `agentId` are `agent-id`. */
const flagWords = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();

export const flagOf = (name: string): string => (OF_ALL.includes(flagWords(name)) ? `field-${flagWords(name)}` : flagWords(name));

/** `--no-…` says false, or that a field which may be nothing is to be nothing. */
const optionsOf = (input: CommandInput): Option[] => {
  const [flag, kind] = [flagOf(input.name), kindOf(input.schema)];
  const schema = filled(input.schema);
  const opposite = new Option(`--no-${flag}`, kind === 'switch' ? describe(input) : `without ${flag}`).default(undefined);
  if (kind === 'switch') {
    const positive = new Option(`--${flag}`, describe(input));
    return schema.default === true ? [positive.hideHelp(), opposite] : [positive, opposite.hideHelp()];
  }
  const value = new Option(
    `--${flag} <${kind === 'number' ? 'n' : kind === 'json' ? 'json' : kind === 'list' ? 'value' : 'text'}>`,
    kind === 'list' ? `${describe(input)}${describe(input) === '' ? '' : '; '}may be repeated` : describe(input),
  );
  if (kind === 'list') value.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  return isNullable(input.schema) ? [value, opposite] : [value];
};

const run = async (cli: Cli, command: ResolvedCommand, area: string, words: readonly unknown[], options: Values): Outcome => {
  const given = { ...argumentValues(command, words), ...flagValues(command, options) };
  const body = await bodyFrom(command, given, options.file);
  // Wrong usage is said before anybody is asked, and before the daemon is.
  requireAll(command, given, body);
  if (command.confirm !== undefined && !(await confirm(cli, filledText(command.confirm, given)))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  const placed = command.args.concat(command.flags).filter(({ from, name }) => from !== 'body' && given[name] !== undefined);
  const input = { ...Object.fromEntries(placed.map(({ name }) => [name, given[name]])), ...(body === undefined ? {} : { body }) };
  const answer = await callArea(cli, command, area, input);
  if (cli.json) cli.out.json(answer ?? null);
  else printAnswer(cli, command, answer, given);
  return EXIT.ok;
};

const argumentValues = ({ args }: ResolvedCommand, words: readonly unknown[]): Values => {
  const values: Values = {};
  for (const [place, input] of args.entries()) {
    const word = words[place];
    if (word === undefined || (Array.isArray(word) && word.length === 0 && !input.isRequired)) continue;
    const label = flagWords(input.name).toUpperCase();
    values[input.name] = valuesOf(input, word, label);
  }
  return values;
};

const flagValues = ({ flags }: ResolvedCommand, options: Values): Values => {
  const values: Values = {};
  for (const input of flags) {
    const word = options[memberOf(flagOf(input.name))];
    if (word === undefined) continue;
    if (typeof word === 'boolean') values[input.name] = kindOf(input.schema) === 'switch' ? word : null;
    else values[input.name] = valuesOf(input, word, `--${flagOf(input.name)}`);
  }
  return values;
};

/** A list of one word is a list. */
const valuesOf = (input: CommandInput, word: unknown, label: string): unknown => {
  const words = (Array.isArray(word) ? word : [word]).map((one) => typedValue(input, String(one), label));
  return kindOf(input.schema) === 'list' ? words : words[0];
};

/** The name by which commander keeps an option. */
const memberOf = (flag: string): string => flag.replace(/-([a-z0-9])/g, (_whole, letter: string) => letter.toUpperCase());

const requireAll = ({ args, body, command, flags, isBodyRequired }: ResolvedCommand, given: Values, sent: unknown): void => {
  const missing = [...args, ...flags].find(({ from, isRequired, name }) => isRequired && (from === 'body' ? !hasMember(sent, name) : given[name] === undefined));
  const help = `svc ${command} --help`;
  if (missing !== undefined) throw usageFailure(args.includes(missing) ? `${flagWords(missing.name).toUpperCase()} is missing.` : `--${flagOf(missing.name)} is missing.`, help);
  if (sent === undefined && (isBodyRequired || body === 'bytes')) throw usageFailure('--file is missing. It gives the body to send.', help);
};

const hasMember = (body: unknown, name: string): boolean => typeof body === 'object' && body !== null && name in body;

export const filledText = (text: string, values: Readonly<Values>): string =>
  text.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : printable(Array.isArray(value) ? value.join(', ') : String(value));
  });
