/** `svc storage`: what the database of this home is, and moving its data to another one. Without a daemon: it must not run meanwhile. */
import path from 'node:path';
import { isSvcError, textThatIsSet } from '@svc/api';
import type { MoveReport } from '@svc/daemon/offline/local-move';
import type { Reopening, StorageReport } from '@svc/daemon/offline/storage-report';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure, usageFailure } from '../failure.js';
import { moveView } from '../storage/move-view.js';
import { confirm } from '../terminal/asking.js';
import { bytesText, facts, table } from '../terminal/layout.js';

const VARIABLE = 'SVC__STORAGE__URL';

interface MigrateFlags {
  readonly to: string;
  readonly without?: readonly string[];
  readonly replaceNul?: boolean;
  readonly dryRun?: boolean;
}

interface ReopenFlags {
  readonly restored?: boolean;
}

export const define = (program: Command, action: Action): void => {
  const storage = program.command('storage').description('The database of this home: status, and moving it to another one').helpCommand(false);
  storage
    .command('status')
    .description('Show which database is used, its size, schema versions and row counts')
    .action(action((cli) => status(cli)));
  storage
    .command('migrate')
    .description('Move all data to another database and verify the copy. Stop the daemon first. If it is interrupted, run it again')
    .requiredOption('--to <url>', 'postgres://user:password@host/name, or "sqlite" for the file in the data folder')
    .option('--dry-run', 'show what would be copied')
    .option('--without <ids...>', 'leave behind the tables of these extensions, which are not installed any more')
    .option('--replace-nul', 'store U+FFFD for NUL characters, which PostgreSQL cannot store')
    .action(action((cli, flags: MigrateFlags) => migrate(cli, flags)));
  storage
    .command('reopen')
    .description('Let the daemon start with the old database after a move, without later changes; or with a database whose restore was not finished because its home is lost')
    .option('--restored', 'after a restore, keep the data of the backup; without it, the data of before comes back')
    .action(action((cli, flags: ReopenFlags) => reopen(cli, flags)));
};

const migrate = async (cli: Cli, flags: MigrateFlags): Outcome => {
  const { moveLocally } = await import('@svc/daemon/offline/local-move');
  const view = moveView(cli);
  const report = await asFailure(() =>
    moveLocally({
      env: cli.settings.env,
      releaseFile: path.join(cli.distDir, 'release.json'),
      to: flags.to,
      without: flags.without ?? [],
      replacesNul: flags.replaceNul === true,
      isDryRun: flags.dryRun === true,
      onProgress: view.show,
    }),
  ).finally(view.end);
  if (flags.dryRun) return preview(cli, report);
  if (cli.json)
    cli.out.json({ status: 'moved', from: report.from, to: report.to, resumed: report.isResumed, tables: report.tables, set_aside: report.setAside ?? null, setting: settingOf(cli, report) });
  else for (const line of movedLines(cli, report)) cli.out.line(line);
  return EXIT.ok;
};

interface SettingToChange {
  readonly name: 'storage.url';
  /** Without the password; null is the file in the data folder. */
  readonly value: string | null;
  readonly file: string | null;
  readonly variable: string | null;
}

/** The address may hold a password, and a program writes none into config.toml: what is to be done by hand. */
const settingOf = ({ settings }: Cli, { url }: MoveReport): SettingToChange => {
  const isVariable = textThatIsSet(settings.env[VARIABLE]) !== undefined;
  return { name: 'storage.url', value: url?.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, '$1:…@') ?? null, file: isVariable ? null : settings.configFile, variable: isVariable ? VARIABLE : null };
};

const preview = (cli: Cli, { from, tables, to }: MoveReport): ReturnType<typeof migrate> => {
  if (cli.json) cli.out.json({ status: 'dry_run', from, to, tables });
  else {
    for (const line of table(
      [{ title: 'TABLE' }, { title: 'ROWS' }],
      tables.map(({ name, rows }) => [name, rows.toLocaleString('en')]),
      cli.out.width,
    ))
      cli.out.line(line);
    cli.out.line(`${countText(tables)} would be copied from ${from} to ${to}. Nothing was changed.`);
  }
  return Promise.resolve(EXIT.ok);
};

const countText = (tables: MoveReport['tables']): string => `${tables.reduce((sum, { rows }) => sum + rows, 0).toLocaleString('en')} rows in ${tables.length} tables`;

const movedLines = (cli: Cli, report: MoveReport): string[] => {
  const { from, setAside, tables, to } = report;
  return [
    tables.length === 0 ? `${cli.out.green('✓')} The data was moved to ${to} before.` : `${cli.out.green('✓')} Moved ${countText(tables)} to ${to}. Row counts and hashes match.`,
    ...facts(
      [
        ['old data', `unchanged in ${from}; the daemon does not start with it any more (svc storage reopen goes back)`],
        ...(setAside === undefined ? [] : ([['set aside', `an older copy of the data is now ${setAside}`]] as const)),
        ['next', nextText(settingOf(cli, report))],
        ['', 'svc start'],
      ],
      cli.out.width,
    ),
  ];
};

const nextText = ({ file, value: url, variable }: SettingToChange): string => {
  if (variable !== null) return url === null ? `remove ${variable} from the environment` : `set ${variable} to ${url}`;
  return url === null ? `remove url from [storage] in ${file} (svc config edit)` : `write in ${file} (svc config edit): [storage] url = "${url}"`;
};

const status = async (cli: Cli): Outcome => {
  const { lookAtStorage } = await import('@svc/daemon/offline/storage-report');
  const report = await asFailure(() => lookAtStorage({ env: cli.settings.env }));
  if (cli.json) cli.out.json(report === undefined ? { engine: 'sqlite', exists: false } : { exists: true, ...report });
  else if (report === undefined) cli.out.line('There is no database yet. The first start creates one.');
  else for (const line of statusLines(cli, report)) cli.out.line(line);
  return EXIT.ok;
};

const MOVES: Readonly<Record<NonNullable<StorageReport['move']>['state'], (other: string, day: string) => string>> = {
  leaving: (other) => `a move to ${other} was begun; run it again to finish it, or start the daemon to give it up`,
  left: (other, day) => `moved to ${other} on ${day}; the daemon does not start with this database (svc storage reopen goes back)`,
  arriving: (other) => `a move from ${other} is not finished; run it again`,
  restoring: (other) => `a restore of ${other} is not finished; start the daemon that restores (if its home is lost: svc storage reopen)`,
  arrived: (other, day) => `moved here from ${other} on ${day}`,
};

const statusLines = (cli: Cli, { bytes, engine, move, place, schemas, tables, version }: StorageReport): string[] => {
  const rowsOf = (owner: string): number => tables.filter(({ name }) => name.startsWith(`${owner.replaceAll('-', '_')}__`) && !name.endsWith('__migrations')).reduce((sum, { rows }) => sum + rows, 0);
  return [
    ...facts(
      [
        ['engine', `${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'} ${version}`],
        ['database', place],
        ['size', bytesText(bytes)],
        ...(move ? ([['move', MOVES[move.state](move.other, move.at.slice(0, 10))]] as const) : []),
      ],
      cli.out.width,
    ),
    '',
    ...table(
      [{ title: 'OWNER' }, { title: 'ROWS' }, { title: 'MIGRATIONS' }, { title: 'SCHEMA' }],
      schemas.map(({ migrations, newest, owner }) => [owner, rowsOf(owner).toLocaleString('en'), String(migrations), newest]),
      cli.out.width,
    ),
  ];
};

const reopen = async (cli: Cli, { restored }: ReopenFlags): Outcome => {
  const { reopenStorage } = await import('@svc/daemon/offline/storage-report');
  const agrees = async (reopening: Reopening): Promise<boolean> => {
    if (cli.yes) return true;
    const cost = costText(reopening, restored === true);
    if (!cli.out.canAsk || cli.json) throw usageFailure(cost, `svc storage reopen ${restored === true ? '--restored ' : ''}--yes`);
    return confirm(cli, `${cost} Use ${reopening.place} again?`);
  };
  const done = await asFailure(() => reopenStorage({ env: cli.settings.env, keepsRestored: restored === true, agrees }));
  const { isReopened, place, state } = done;
  const data = state === 'left' ? null : restored === true ? 'restored' : 'before';
  if (cli.json) cli.out.json({ status: isReopened ? 'reopened' : 'unchanged', database: place, ...(data === null ? {} : { data, backup: done.other }) });
  else if (!isReopened) cli.out.line('Nothing was changed.');
  else {
    cli.out.line(`${cli.out.green('✓')} The daemon can start with ${place} again.`);
    if (data !== null)
      cli.out.line(
        `  It has the data of ${data === 'restored' ? done.other : 'before the restore'}. The files of the lost home are not in a database: workspaces, settings and the vault with its secrets.`,
      );
  }
  return EXIT.ok;
};

const costText = ({ other, place, state }: Reopening, keepsRestored: boolean): string => {
  if (state === 'left') return `What was written to ${other} since is not in ${place}.`;
  return keepsRestored
    ? `The restore of ${other} was never confirmed. This keeps its data and deletes what was there before.`
    : `The restore of ${other} was never confirmed. This brings back what was there before and deletes the restored data (--restored keeps it instead).`;
};

const asFailure = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isSvcError(error)) throw error;
    throw new Failure(error.message, { code: error.code, fix: error.hint });
  }
};
