/** `svc backup`: what takes long, what works without the daemon, and the schedule. The list and its deletion are data of the area. */
import { type Action, bytesText, type Cli, type Command, confirm, EXIT, facts, type Outcome, restoreHere, usageFailure, verifyHere, watched } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';

/** Many gigabytes on a slow disk. */
const LONG_MS = 3_600_000;
const POLL_MS = 250;

interface ScheduleFlags {
  readonly everyHours?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  readonly keep?: string;
  readonly keepDays?: string;
  readonly off?: boolean;
}

export const define = (program: Command, action: Action): void => {
  const backup = program.command('backup').description('Create, verify and restore backups').helpCommand(false);
  backup
    .command('create')
    .description('Create a backup while the daemon works, and wait until it is complete')
    .action(action((cli) => create(cli)));
  backup
    .command('verify')
    .description('Restore a backup into a temporary folder, start it there without effects, and compare; exit code 1 if it cannot be restored')
    .argument('<file>', 'a path, or the name of a backup of this home')
    .action(action((cli, file: string) => verify(cli, file)));
  backup
    .command('restore')
    .description('Replace all data with a backup; works with and without the daemon')
    .argument('<file>', 'the name of a backup of this home, or a path if the daemon is stopped')
    .action(action((cli, file: string) => restore(cli, file)));
  backup
    .command('schedule')
    .description('Show or set the schedule')
    .option('--every-hours <n>', 'create a backup this often')
    .option('--cron <expression>', 'create backups at these times, such as "0 3 * * *"')
    .option('--time-zone <name>', 'the time zone of --cron, such as Europe/Berlin')
    .option('--keep <n>', 'scheduled backups to keep')
    .option('--keep-days <n>', 'delete scheduled backups after this many days; 0: never because of their age')
    .option('--off', 'create no more scheduled backups')
    .action(action((cli, flags: ScheduleFlags) => schedule(cli, flags)));
};

const create = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const made = await watched(cli.out, 'Creating a backup', daemon.call('createBackup', {}, { timeoutMs: LONG_MS }));
  if (cli.json) cli.out.json(made);
  else cli.out.line(`${cli.out.green('✓')} Backup created: ${made.path} (${bytesText(made.size_bytes)})`);
  return EXIT.ok;
};

const verify = async (cli: Cli, file: string): Outcome => {
  const { bytes, failed, files, manifest, rows } = await watched(cli.out, 'Verifying', verifyHere(cli, file));
  const isGood = failed.length === 0;
  if (cli.json) cli.out.json({ status: isGood ? 'valid' : 'degraded', file, files, bytes, rows, failed, manifest });
  else {
    cli.out.line(isGood ? `${cli.out.green('✓')} The backup can be restored.` : `${cli.out.red('✗')} The backup starts, but not all of its extensions.`);
    const lines: Array<[string, string]> = [
      ['created', `${manifest.created_at} on ${manifest.hostname}, svc ${manifest.svc_version}`],
      ['content', `${files} files, ${bytesText(bytes)}; ${Object.keys(manifest.tables).length} tables, ${rows} rows`],
      ['compared', `SHA-256 of each file, rows${manifest.sums ? ' and content' : ''} of each table, a start of the daemon`],
      ...(manifest.sums ? [] : [['not compared', 'content of each table: this backup is of an earlier svc, which stored no sums'] as [string, string]]),
      ...failed.map(({ id, reason }): [string, string] => [id, reason ?? 'did not start']),
      ...manifest.left_out.map((one): [string, string] => ['not in it', one]),
    ];
    for (const line of facts(lines, cli.out.width)) cli.out.line(line);
  }
  return isGood ? EXIT.ok : EXIT.failed;
};

const restore = async (cli: Cli, file: string): Outcome => {
  if (!(await confirm(cli, `Replace all data of this home with ${file}? The present data becomes a backup first.`))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  if (cli.settings.daemonFile() === undefined) return restoreStopped(cli, file);
  if (file.includes('/')) throw usageFailure('A running daemon restores backups of its own folder only. Give the name of a backup, or stop the daemon first.');
  const daemon = await cli.daemon();
  const before = (await daemon.call('listBackups')).last_restore?.at;
  const started = await watched(cli.out, 'Validating', daemon.call('restoreBackup', { body: { filename: file } }, { timeoutMs: LONG_MS }));
  const ended = await watched(cli.out, 'Restoring', endOf(daemon, before));
  const isRestored = ended.status === 'restored';
  if (cli.json) cli.out.json({ ...started, ...ended });
  else {
    const said = isRestored
      ? `${started.restored_files} files of ${started.manifest.created_at} are restored, and the daemon runs with them.`
      : `The restored data did not start: ${ended.reason ?? 'the reason is in the log'}. The data of before is back.`;
    cli.out.line(`${isRestored ? cli.out.green('✓') : cli.out.red('✗')} ${said}`);
    if (isRestored && ended.safety_backup !== null) cli.out.line(`  What was there before: ${ended.safety_backup}`);
  }
  return isRestored ? EXIT.ok : EXIT.failed;
};

/** The daemon answers 503 while it restores, and for a moment nothing. */
const endOf = async (daemon: Awaited<ReturnType<Cli['daemon']>>, before: string | undefined): Promise<NonNullable<OutputOf<'listBackups'>['last_restore']>> => {
  for (const deadline = Date.now() + LONG_MS; ; ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const found = await daemon.call('listBackups').catch((error: unknown) => {
      if (Date.now() > deadline) throw error;
    });
    const last = found?.last_restore;
    if (last && last.at !== before) return last;
    if (Date.now() > deadline) throw new Error('The restore did not end within an hour. See svc backup list.');
  }
};

const restoreStopped = async (cli: Cli, file: string): Outcome => {
  const { files, manifest, safety } = await watched(cli.out, 'Restoring', restoreHere(cli, file));
  if (cli.json) cli.out.json({ status: 'restored', restored_files: files, safety_backup: safety, manifest });
  else {
    cli.out.line(`${cli.out.green('✓')} ${files} files of ${manifest.created_at} are restored, and the daemon starts with them.`);
    if (safety !== null) cli.out.line(`  What was there before: ${safety}`);
  }
  return EXIT.ok;
};

const schedule = async (cli: Cli, flags: ScheduleFlags): Outcome => {
  const daemon = await cli.daemon();
  for (const [key, value] of settingsOf(flags)) await daemon.call('setConfigValue', { body: { path: `backup.${key}`, value } });
  const { schedule: now } = await daemon.call('listBackups');
  if (cli.json) cli.out.json(now);
  else if (now.next_at === null) cli.out.line('No backups are scheduled. Start with: svc backup schedule --every-hours 24');
  else {
    const lines: Array<[string, string]> = [
      now.cron === '' ? ['every', `${now.every_hours} h`] : ['at', `${now.cron} (${now.time_zone})`],
      ['next', now.next_at],
      ['kept', `${now.keep} scheduled backups${now.keep_days === 0 ? '' : `, at most ${now.keep_days} days`}`],
    ];
    for (const line of facts(lines, cli.out.width)) cli.out.line(line);
  }
  return EXIT.ok;
};

/** The zone first: the times that follow are of it. */
const settingsOf = ({ cron, everyHours, keep, keepDays, off, timeZone }: ScheduleFlags): Array<[string, string | number]> => {
  if (cron !== undefined && everyHours !== undefined) throw usageFailure('Give --cron or --every-hours, not both.');
  const numbers = Object.entries({ every_hours: off === true ? '0' : everyHours, keep, keep_days: keepDays }).flatMap(([key, text]): Array<[string, number]> => {
    if (text === undefined) return [];
    if (!/^\d{1,5}$/.test(text)) throw usageFailure(`--${key.replace('_', '-')} is "${text}"; a whole number was expected.`);
    return [[key, Number(text)]];
  });
  const at = off === true || everyHours !== undefined ? '' : cron;
  return [...(timeZone === undefined ? [] : [['time_zone', timeZone] as [string, string]]), ...(at === undefined ? [] : [['cron', at] as [string, string]]), ...numbers];
};
