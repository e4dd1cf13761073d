/** `svc update`: a newer version of the checkout that svc runs from. The data is backed up first, and the new version tried on the backup. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { backUpHere, verifyHere } from '../local-backups.js';
import { confirm } from '../terminal/asking.js';
import { facts } from '../terminal/layout.js';
import { watched } from '../terminal/progress.js';
import { type Checkout, isCheckout, type Newer, openCheckout } from '../update/checkout.js';
import { ensureRunning } from './daemon/start.js';
import { stopInOrder } from './daemon/stop.js';

const run = promisify(execFile);

interface Flags {
  readonly check?: boolean;
  readonly dryRun?: boolean;
  readonly restart?: boolean;
  readonly verifyBackup?: string;
}

export const define = (program: Command, action: Action): void => {
  const update = program
    .command('update')
    .description('Look for a newer version of svc and install it. It backs up the data first, tries the new version on the backup, and goes back if that fails')
    .option('--check', 'only look for a newer version')
    .option('--dry-run', 'show the steps and change nothing')
    .option('--restart', 'stop the running daemon for the update, and start it again')
    .action(action((cli, flags: Flags) => (flags.verifyBackup === undefined ? updateHere(cli, flags) : verifyWithThis(cli, flags.verifyBackup))));
  // What the version before asks of the new one.
  update.addOption(update.createOption('--verify-backup <file>').hideHelp());
};

/** `root` is the checkout. */
export const updateHere = async (cli: Cli, flags: Flags, root = path.dirname(cli.distDir)): Outcome => {
  if (!isCheckout(root))
    throw new Failure('svc cannot update itself here.', {
      code: 'cli_update_not_a_checkout',
      why: `${root} is not a git checkout, so svc does not know where newer versions come from`,
      fix: 'Unpack the newer version into a folder of its own and run npm ci && npm run build there.',
    });
  const checkout = openCheckout(root, cli.settings.env);
  const newer = await watched(cli.out, 'Looking for a newer version', checkout.look());
  if (newer.behind === 0 || flags.check === true) return say(cli, newer, newer.behind === 0 ? 'up_to_date' : 'available');
  if (flags.dryRun === true) return say(cli, newer, 'dry_run', stepsOf(cli, flags));
  if (newer.blocked !== null) throw new Failure('The checkout cannot be updated.', { code: 'cli_update_blocked', ...newer.blocked });
  const isRunning = cli.settings.daemonFile() !== undefined;
  if (isRunning && flags.restart !== true)
    throw new Failure('The daemon is running, and an update would replace its files.', { code: 'cli_update_daemon_runs', fix: 'svc update --restart, or svc stop first' });
  if (!cli.json) for (const line of newerLines(cli, newer, stepsOf(cli, flags))) cli.out.line(line);
  if (!(await confirm(cli, 'Update now?'))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  return install(cli, checkout, newer, isRunning);
};

const install = async (cli: Cli, checkout: Checkout, newer: Newer, isRunning: boolean): Outcome => {
  if (isRunning) await stopInOrder(cli);
  let backup: string | undefined;
  try {
    backup = (await watched(cli.out, 'Creating a backup', backUpHere(cli)))?.path;
    await checkout.install(newer, {
      onStep: (step) => cli.out.note(`  ${step} …`),
      verify: async () => {
        await tryNew(cli, backup);
      },
    });
  } finally {
    // Whichever version is there: whoever had a daemon has one again.
    if (isRunning) await ensureRunning(cli);
  }
  return say(cli, newer, 'updated', [], backup);
};

/** The new version says which it is, unpacks the backup into a temporary home, and starts there. */
const tryNew = async (cli: Cli, backup: string | undefined): Promise<void> => {
  const main = path.join(cli.distDir, 'cli/main.js');
  const args = backup === undefined ? ['--version'] : ['update', '--verify-backup', backup];
  await run(process.execPath, [...process.execArgv, main, ...args], { env: cli.settings.env });
};

const verifyWithThis = async (cli: Cli, file: string): Outcome => {
  const { failed } = await verifyHere(cli, file);
  const [first] = failed;
  if (first !== undefined) throw new Failure(`The extension ${first.id} does not start with the present data.`, { code: 'cli_update_data', why: first.reason ?? undefined });
  return EXIT.ok;
};

const stepsOf = ({ settings }: Cli, { restart }: Flags): string[] => {
  const isRunning = settings.daemonFile() !== undefined;
  return [
    ...(isRunning ? [restart === true ? 'stop the daemon' : 'stop the daemon (needs --restart)'] : []),
    `back up ${settings.home}`,
    'move the checkout forward, install its packages and build it',
    'start the new version on the unpacked backup; if that fails, go back',
    ...(isRunning ? ['start the daemon'] : []),
  ];
};

type Status = 'up_to_date' | 'available' | 'dry_run' | 'updated';

const say = async (cli: Cli, newer: Newer, status: Status, steps: readonly string[] = [], backup?: string): Outcome => {
  const { out } = cli;
  if (cli.json) out.json({ status, ...newer, ...(status === 'dry_run' ? { steps } : {}), ...(status === 'updated' ? { backup: backup ?? null } : {}) });
  else if (status === 'up_to_date') out.line(`${out.green('✓')} svc ${newer.current.version} (${short(newer.current)}) is the newest version.`);
  else if (status === 'updated') {
    out.line(`${out.green('✓')} svc ${newer.latest.version} (${short(newer.latest)}) is installed.`);
    if (backup !== undefined) for (const line of facts([['backup', backup]], out.width)) out.line(line);
  } else {
    for (const line of newerLines(cli, newer, steps)) out.line(line);
    if (status === 'dry_run') out.line('Nothing was changed.');
  }
  return EXIT.ok;
};

const short = ({ commit }: Newer['current']): string => commit.slice(0, 9);

const newerLines = ({ out }: Cli, { behind, blocked, changes, current, latest }: Newer, steps: readonly string[]): string[] => {
  const listed = (label: string, texts: readonly string[]): Array<[string, string]> => texts.map((text, index) => [index === 0 ? label : '', text]);
  return [
    `A newer version is available: ${latest.version} (${short(latest)}).`,
    ...facts(
      [
        ['current', `${current.version} (${short(current)}), ${behind} ${behind === 1 ? 'change' : 'changes'} behind`],
        ...listed('changes', [...changes, ...(behind > changes.length ? [`and ${behind - changes.length} more`] : [])]),
        ...listed('steps', steps),
        ...(blocked === null
          ? []
          : ([
              ['problem', blocked.why],
              ['fix', blocked.fix],
            ] satisfies Array<[string, string]>)),
        ...(steps.length === 0 && blocked === null ? ([['next', 'svc update']] satisfies Array<[string, string]>) : []),
      ],
      out.width,
    ),
  ];
};
