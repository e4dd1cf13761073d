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
  const rows = (await rowsOf(cli, list, field)).filter((row) => typeof row[key] === 'string');
  const called = rows.filter((row) => columns.slice(0, 2).some((column) => row[column.field] === text));
  const matching = called.length > 0 || text.length < LEAST_OF_ID ? called : rows.filter((row) => String(row[key]).startsWith(text.toLowerCase()));
  const what = name.toUpperCase().replaceAll('_', '-');
  if (matching.length === 0) throw usageFailure(`${what}: there is none called "${text}" among those listed.`, `svc ${list.command} shows names and ids.`);
  return idOfOne(matching, key, `${what}: ${matching.length} are called "${text}".`);
};

const rowsOf = async (cli: Cli, { operation, path, method = 'GET' }: { readonly operation: string; readonly path: string; readonly method?: string }, field: string | undefined): Promise<Values[]> => {
  const daemon = await cli.daemon();
  const answer = await daemon.callOperation({ id: operation, method, path, takesKey: false }, {});
  const rows = field === undefined || !isTable(answer) ? answer : answer[field];
  return (Array.isArray(rows) ? rows : []).filter(isTable);
};

const idOfOne = (matching: readonly Values[], key: string, several: string): string => {
  if (matching.length > 1) throw usageFailure(several, `Use the id of one: ${matching.map((row) => String(row[key])).join(', ')}.`);
  return String(matching[0]?.[key]);
};

const idOf = async (cli: Cli, { name, schema }: CommandInput, text: string): Promise<string> => {
  const of = String((schema as JsonSchema & { 'x-of'?: unknown })['x-of']);
  const source = (await areaCompletions(cli.settings, cli.distDir, of)).find((one) => one.name === of && one.key !== undefined);
  if (source?.key === undefined) return text;
  const { key, value } = source;
  const matching = (await rowsOf(cli, source, source.rows)).filter((row) => row[value] === text);
  const flag = `--${name.replaceAll('_', '-')}`;
  if (matching.length === 0) throw usageFailure(`${flag}: there is none called "${text}" among the ${of}.`, `svc completion ${of} lists their names.`);
  return idOfOne(matching, key, `${flag}: ${matching.length} of the ${of} are called "${text}".`);
};
