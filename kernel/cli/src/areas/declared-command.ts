/** A declared command as one of the command line: its arguments and flags, the call, and what it prints. */
import { isTable, type JsonSchema } from '@svc/api';
import type { CommandInput, ResolvedCommand } from '@svc/installer/commands';
import { type Command, Option } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';
import { askSecret, confirm, pipedSecret } from '../terminal/asking.js';
import { printable } from '../terminal/terminal.js';
import { callArea } from './call-area.js';
import { bodyFrom } from './body-file.js';
import { choicesOf, filled, isNullable, kindOf, typedValue } from './input-values.js';
import { fieldKind } from './kind-values.js';
import { printAnswer } from './print-answer.js';
import { withIds } from './references.js';

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
    ...kindHint(schema),
    ...(isRequired && from !== 'path' ? ['required'] : []),
    ...(usual === undefined || usual === '' || typeof usual === 'object' ? [] : [`default: ${String(usual)}`]),
  ];
  const text = printable(typeof description === 'string' ? description : '');
  return more.length === 0 ? text : `${text}${text === '' ? '' : ' '}(${more.join('; ')})`;
};

const HINTS: Readonly<Record<string, string>> = {
  reference: 'a name or an id',
  time: 'such as "tomorrow 9:00" or 2026-12-01',
  duration: 'such as 90s, 5m or 1h30m',
  money: 'US dollars',
  cron: 'five fields, such as "0 9 * * 1-5"',
  secret: '- asks for it, or reads it from a pipe',
};

const kindHint = (schema: JsonSchema): string[] => {
  const hint = HINTS[fieldKind(filled(schema)) ?? ''];
  const none = isTable(schema) && typeof schema['x-none-word'] === 'string' ? [`"${schema['x-none-word']}" for none`] : [];
  return [...(hint === undefined ? [] : [hint]), ...none];
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
    `--${flag} <${fieldKind(schema) === 'duration' ? 'time' : kind === 'number' ? 'n' : kind === 'json' ? 'json' : kind === 'list' ? 'value' : 'text'}>`,
    kind === 'list' ? `${describe(input)}${describe(input) === '' ? '' : '; '}may be repeated` : describe(input),
  );
  if (kind === 'list') value.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  return isNullable(input.schema) ? [value, opposite] : [value];
};

const run = async (cli: Cli, command: ResolvedCommand, area: string, words: readonly unknown[], options: Values): Outcome => {
  const given = await withIds(cli, command, await withSecrets(cli, command, { ...argumentValues(command, words), ...flagValues(command, options) }));
  const body = await bodyFrom(command, given, options.file);
  // Wrong usage is said before anybody is asked, and before the daemon is.
  requireAll(command, given, body);
  if (command.confirm !== undefined && !(await confirm(cli, filledText(command.confirm, given)))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  const placed = command.args.concat(command.flags).filter(({ from, name }) => from !== 'body' && given[name] !== undefined);
  const input = { ...Object.fromEntries(placed.map(({ name }) => [name, given[name]])), ...(body === undefined ? {} : { body }) };
  const answer = await callArea(cli, command, area, input).catch((error: unknown) => {
    throw inFlags(command, error);
  });
  if (cli.json) cli.out.json(answer ?? null);
  else printAnswer(cli, command, answer, given);
  return EXIT.ok;
};

/** `-` for a secret: it is asked for, or read from a pipe, and stands in no list of processes. */
const withSecrets = async (cli: Cli, { flags }: ResolvedCommand, given: Values): Promise<Values> => {
  const asked = flags.find(({ name, schema }) => fieldKind(schema) === 'secret' && given[name] === '-');
  if (asked === undefined) return given;
  return { ...given, [asked.name]: cli.out.canAsk ? await askSecret(cli, flagWords(asked.name)) : await pipedSecret() };
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

/** A refusal of the daemon that is about one field, in the words of the command line. */
const inFlags = ({ args, flags }: ResolvedCommand, error: unknown): unknown => {
  if (!(error instanceof Failure) || !isTable(error.details)) return error;
  const { path } = error.details;
  const [name] = (Array.isArray(path) ? path.map(String) : typeof path === 'string' ? path.split(/[./]/) : []).filter(Boolean);
  const input = [...args, ...flags].find((one) => one.name === name);
  if (input === undefined) return error;
  const label = args.includes(input) ? flagWords(input.name).toUpperCase() : `--${flagOf(input.name)}`;
  const { code, exit, fix, message, requestId, status, why } = error;
  return new Failure(`${label}: ${message}`, { code, exit, fix, requestId, why, details: error.details, ...(status === undefined ? {} : { status }) });
};

const hasMember = (body: unknown, name: string): boolean => typeof body === 'object' && body !== null && name in body;

export const filledText = (text: string, values: Readonly<Values>): string =>
  text.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : printable(Array.isArray(value) ? value.join(', ') : String(value));
  });
