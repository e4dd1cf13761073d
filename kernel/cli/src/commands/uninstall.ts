/** `svc uninstall`: the service, the completion and, if asked for, the home folder. The program itself is a folder or a package. */
import { homedir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { agreeByTyping, showKept, showParts } from '../removal/agreement.js';
import { homeParts, removeParts } from '../removal/home-parts.js';
import { completionPlaces, removeCompletion } from '../removal/shell-completion.js';
import { confirm } from '../terminal/asking.js';
import { installedService, removeService } from './service.js';
import { stopInOrder } from './daemon/stop.js';

interface Flags {
  readonly data?: boolean;
  readonly purge?: boolean;
  readonly dryRun?: boolean;
}

export const define = (program: Command, action: Action): void => {
  program
    .command('uninstall')
    .description('Stop the daemon, remove its service and the tab completion. Data stays, unless you ask for its deletion')
    .option('--data', 'also delete settings, data and logs; backups stay')
    .option('--purge', 'also delete settings, data, logs and backups')
    .option('--dry-run', 'show what would be removed and change nothing')
    .action(action((cli, flags: Flags) => uninstall(cli, flags)));
};

const uninstall = async (cli: Cli, { data, dryRun, purge }: Flags): Outcome => {
  const { settings } = cli;
  const isDeleting = data === true || purge === true;
  const [service, completion, parts] = await Promise.all([
    installedService(cli),
    completionPlaces(settings.env.HOME ?? homedir()),
    isDeleting ? homeParts(settings, purge === true ? 'everything' : 'all') : [],
  ]);
  const running = settings.daemonFile();
  const steps: Array<[string, string]> = [
    ...(running === undefined ? [] : ([['stop', `the daemon at ${running.url}`]] satisfies Array<[string, string]>)),
    ...(service === undefined ? [] : ([['remove', `the service ${service}`]] satisfies Array<[string, string]>)),
    ...completion.map(({ file, line }): [string, string] => ['remove', line === undefined ? file : `the line for tab completion in ${file}`]),
  ];
  const kept: Array<[string, string]> = [
    [
      'kept',
      purge === true
        ? 'nothing in the home folder that svc made'
        : isDeleting
          ? `backups in ${path.join(settings.home, 'backups')}`
          : `everything in ${settings.home}; --data deletes it, --purge with its backups`,
    ],
    ['program', `delete the folder ${path.dirname(cli.distDir)} yourself`],
  ];
  if (!cli.json) {
    showKept(cli, steps);
    if (parts.length > 0) showParts(cli, parts);
    showKept(cli, kept);
  }
  if (dryRun !== true && steps.length + parts.length > 0) {
    if (isDeleting) await agreeByTyping(cli, purge === true ? 'purge' : 'delete', `svc uninstall ${purge === true ? '--purge' : '--data'}`);
    else if (!(await confirm(cli, 'Do this?'))) {
      cli.out.line('Nothing was changed.');
      return EXIT.ok;
    }
    // The service first: it would start the daemon again.
    await removeService(cli);
    if (settings.daemonFile() !== undefined) await stopInOrder(cli);
    await removeCompletion(completion);
    await removeParts(settings, parts);
  }
  if (cli.json)
    cli.out.json({ status: dryRun === true ? 'dry_run' : 'uninstalled', stopped: running?.url ?? null, service: service ?? null, completion, deleted: parts, program: path.dirname(cli.distDir) });
  else cli.out.line(dryRun === true ? 'Nothing was changed.' : `${cli.out.green('✓')} svc is uninstalled.`);
  return EXIT.ok;
};
