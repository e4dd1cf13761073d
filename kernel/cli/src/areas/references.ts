/** Names that a person typed for something with an id: `--agent-id assistant`. */
import { isTable, isUuid, type JsonSchema } from '@svc/api';
import type { CommandInput, ResolvedCommand } from '@svc/installer/commands';
import type { Cli } from '../cli.js';
import { usageFailure } from '../failure.js';
import { areaCompletions } from './area-offers.js';
import { fieldKind } from './kind-values.js';

type Values = Readonly<Record<string, unknown>>;

/** Ids stay as they are, and nothing is asked for them. */
export const withIds = async (cli: Cli, { args, flags }: ResolvedCommand, given: Values): Promise<Values> => {
  const named = [...args, ...flags].filter(({ name, schema }) => fieldKind(schema) === 'reference' && typeof given[name] === 'string' && given[name] !== '' && !isUuid(String(given[name])));
  const found = await Promise.all(named.map(async (input) => [input.name, await idOf(cli, input, String(given[input.name]))] as const));
  return { ...given, ...Object.fromEntries(found) };
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
