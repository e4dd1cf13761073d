/** Names that a person typed for something with an id: `--agent-id assistant`. */
import { isTable, isUuid, type JsonSchema } from '@svc/api';
import type { CommandInput, ResolvedCommand } from '@svc/installer/commands';
import type { Cli } from '../cli.js';
import { usageFailure } from '../failure.js';
import { areaCompletions } from './area-offers.js';
import { areaWords } from './area-words.js';
import { fieldKind } from './kind-values.js';

type Values = Readonly<Record<string, unknown>>;

/** Ids stay as they are, and nothing is asked for them. */
export const withIds = async (cli: Cli, command: ResolvedCommand, given: Values): Promise<Values> => {
  const isName = (name: string): boolean => typeof given[name] === 'string' && given[name] !== '' && !isUuid(String(given[name]));
  const named = [...command.args, ...command.flags].filter(({ name, schema }) => isName(name) && fieldKind(schema) === 'reference');
  const listed = command.args.filter(({ from, name, schema }) => from === 'path' && isName(name) && fieldKind(schema) === undefined && schema.format === 'uuid');
  const found = await Promise.all([
    ...named.map(async (input) => [input.name, await idOf(cli, input, String(given[input.name]))] as const),
    ...listed.map(async ({ name }) => [name, await idInList(cli, command, name, String(given[name]))] as const),
  ]);
  return { ...given, ...Object.fromEntries(found) };
};

/** How much of an id is enough to mean it. */
const LEAST_OF_ID = 4;

/** The thing that the area's own list shows under this name, or whose id begins so: `svc goals start "Finish the report"`. As typed where no list has it. */
const idInList = async (cli: Cli, { command, path }: ResolvedCommand, name: string, text: string): Promise<string> => {
  const [word = ''] = command.split(' ');
  const commands = (await areaWords(cli.settings, cli.distDir, word)).get(word)?.commands ?? [];
  const list = commands.find((one) => one.output.kind === 'table' && one.args.every(({ isRequired }) => !isRequired) && `${path}/`.startsWith(`${one.path}/{${name}}/`));
  if (list?.output.kind !== 'table') return text;
  const { columns, rows: field } = list.output;
  const key = columns.find((column) => column.field === 'id' || column.title === 'ID')?.field ?? 'id';
  const daemon = await cli.daemon();
  const answer = await daemon.callOperation({ id: list.operation, method: list.method, path: list.path, takesKey: false }, {});
  const all = (field === undefined || !isTable(answer) ? answer : answer[field]) ?? [];
  const rows = (Array.isArray(all) ? all : []).filter(isTable).filter((row) => typeof row[key] === 'string');
  const called = rows.filter((row) => columns.slice(0, 2).some((column) => row[column.field] === text));
  const matching = called.length > 0 || text.length < LEAST_OF_ID ? called : rows.filter((row) => String(row[key]).startsWith(text.toLowerCase()));
  const what = name.toUpperCase().replaceAll('_', '-');
  if (matching.length === 0) throw usageFailure(`${what}: there is none called "${text}" among those listed.`, `svc ${list.command} shows names and ids.`);
  if (matching.length > 1) throw usageFailure(`${what}: ${matching.length} are called "${text}".`, `Use the id of one: ${matching.map((row) => String(row[key])).join(', ')}.`);
  return String(matching[0]?.[key]);
};

const idOf = async (cli: Cli, { name, schema }: CommandInput, text: string): Promise<string> => {
  const of = String((schema as JsonSchema & { 'x-of'?: unknown })['x-of']);
  const source = (await areaCompletions(cli.settings, cli.distDir, of)).find((one) => one.name === of && one.key !== undefined);
  if (source?.key === undefined) return text;
  const daemon = await cli.daemon();
  const answer = await daemon.callOperation({ id: source.operation, method: 'GET', path: source.path, takesKey: false }, {});
  const rows = source.rows === undefined || !isTable(answer) ? answer : answer[source.rows];
  const { key, value } = source;
  const matching = (Array.isArray(rows) ? rows : []).filter(isTable).filter((row) => row[value] === text);
  const flag = `--${name.replaceAll('_', '-')}`;
  if (matching.length === 0) throw usageFailure(`${flag}: there is none called "${text}" among the ${of}.`, `svc completion ${of} lists their names.`);
  if (matching.length > 1) throw usageFailure(`${flag}: ${matching.length} of the ${of} are called "${text}".`, `Use the id of one: ${matching.map((row) => String(row[key])).join(', ')}.`);
  return String(matching[0]?.[key]);
};
