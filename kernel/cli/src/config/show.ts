/** `svc config show`, `get`, `set` and `unset`: settings one by one, with where they come from. */
import { schemaAt } from '@svc/api';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';
import { table } from '../terminal/layout.js';
import { atSettings, rowsAt, type SetOutcome, type SettingRow, type SettingsSource } from './settings-source.js';

export const show = (cli: Cli, section: string | undefined, isChangedOnly: boolean): Outcome =>
  atSettings(cli, async (source) => {
    const all = section === undefined ? await source.rows() : await rowsAt(source, section);
    const rows = isChangedOnly ? all.filter((row) => row.source !== 'default') : all;
    if (cli.json) cli.out.json({ from: source.where, settings: rows });
    else if (rows.length === 0) cli.out.line('Every setting is at its default.');
    else print(cli, rows);
    return EXIT.ok;
  });

export const get = (cli: Cli, path: string): Outcome =>
  atSettings(cli, async (source) => {
    const rows = await rowsAt(source, path);
    const [first] = rows;
    if (first === undefined || rows.length > 1) {
      if (cli.json) cli.out.json({ from: source.where, settings: rows });
      else print(cli, rows);
    } else if (cli.json) cli.out.json(first);
    else {
      // The value alone on stdout, so that a script can take it.
      cli.out.line(shown(first.value));
      cli.out.note(cli.out.dim(`${first.path}, ${origin(first)}`));
    }
    return EXIT.ok;
  });

export const set = (cli: Cli, path: string, text: string | null): Outcome =>
  atSettings(cli, async (source) => {
    const value = text === null ? null : await typedValue(source, path, text);
    const outcome = await source.set(path, value);
    if (cli.json) cli.out.json(outcome);
    else said(cli, source, outcome, value);
    if (outcome.status !== 'saved_reload_failed') return EXIT.ok;
    throw new Failure(`${outcome.path} is written, but the daemon could not apply it.`, { code: 'cli_reload_failed', why: outcome.reload_error, fix: 'svc doctor' });
  });

const said = (cli: Cli, source: SettingsSource, { path, waits_for, warnings }: SetOutcome, value: unknown): void => {
  const where = value !== null && source.where === 'file' ? ' in the file' : '';
  const what = value === null ? `${path} was removed from the file; its default applies` : `${path} is ${shown(value)}${where}`;
  const from = waits_for !== undefined ? `; it waits for ${waits_for}` : source.where === 'daemon' ? ' from now on' : '';
  cli.out.line(`${cli.out.green('✓')} ${what}${from}`);
  for (const warning of warnings) cli.out.note(cli.out.yellow(warning));
};

/** As in a SVC__ variable: text where a text is wanted, else a TOML value where it reads as one. */
const typedValue = async (source: SettingsSource, path: string, text: string): Promise<unknown> => {
  const [{ envValue }, { loadToml }] = await Promise.all([import('@svc/platform/config/environment/env-layer'), import('@svc/platform/config/file/toml-parse')]);
  const schema = schemaAt(await source.schema(), path.replace(/^\//, '').split('.'));
  if (text === '' && schema?.type !== 'string') throw usageFailure(`No value for ${path}.`, `svc config unset ${path}   removes it from the file`);
  return envValue(text, schema, await loadToml());
};

const print = (cli: Cli, rows: readonly SettingRow[]): void => {
  const columns = [{ title: 'SETTING' }, { title: 'VALUE', shrinks: true }, { title: 'FROM' }];
  const cells = rows.map((row) => [row.path, shown(row.value), origin(row)]);
  const isDefault = (row: number): boolean => rows[row]?.source === 'default';
  for (const line of table(columns, cells, cli.out.width, (text, column, row) => (row < 0 ? cli.out.bold(text) : column === 2 && isDefault(row) ? cli.out.dim(text) : text))) cli.out.line(line);
};

const shown = (value: unknown): string => (value === null ? '-' : typeof value === 'string' ? (value === '' ? '""' : value) : JSON.stringify(value));

const origin = ({ source, line, variable }: SettingRow): string => {
  const place = line === null ? 'config.toml' : `config.toml:${line}`;
  if (source === 'environment') return variable ?? 'environment';
  if (source === 'kept') return `an earlier value (${place} does not hold)`;
  return source === 'file' ? place : 'default';
};
