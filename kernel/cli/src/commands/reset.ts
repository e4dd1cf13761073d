/** `svc reset`: deletes settings, data, or both. Backups stay. */
import path from 'node:path';
import { isTable } from '@svc/api';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { agreeByTyping, showKept, showParts } from '../removal/agreement.js';
import { homeParts, refuseBesideDaemon, removeParts, type Scope } from '../removal/home-parts.js';

const SCOPES: ReadonlyArray<readonly [scope: Exclude<Scope, 'everything'>, description: string]> = [
  ['config', 'Delete config.toml: all settings are defaults again'],
  ['data', 'Delete agents, conversations, secrets, files and extensions; settings stay'],
  ['all', 'Delete settings, data and logs'],
];

export const define = (program: Command, action: Action): void => {
  const reset = program.command('reset').description('Start again: delete settings, data, or both. Shows what it deletes and asks; backups stay').helpCommand(false);
  for (const [scope, description] of SCOPES)
    reset
      .command(scope)
      .description(description)
      .option('--dry-run', 'show what would be deleted and change nothing')
      .action(action((cli, flags: { dryRun?: boolean }) => resetScope(cli, scope, flags.dryRun === true)));
};

const resetScope = async (cli: Cli, scope: (typeof SCOPES)[number][0], isDryRun: boolean): Outcome => {
  const parts = await homeParts(cli.settings, scope);
  if (!isDryRun) refuseBesideDaemon(cli.settings);
  const stays = scope === 'config' ? [] : await keptFacts(cli);
  if (parts.length === 0) {
    if (cli.json) cli.out.json({ status: 'empty', scope, deleted: [] });
    else cli.out.line(`There is nothing to delete in ${cli.settings.home}.`);
    return EXIT.ok;
  }
  if (!cli.json) {
    showParts(cli, parts);
    showKept(cli, stays);
  }
  if (!isDryRun) {
    await agreeByTyping(cli, scope, `svc reset ${scope}`);
    await removeParts(cli.settings, parts);
  }
  if (cli.json) cli.out.json({ status: isDryRun ? 'dry_run' : 'deleted', scope, deleted: parts, kept: stays.map(([, what]) => what) });
  else cli.out.line(isDryRun ? 'Nothing was changed.' : `${cli.out.green('✓')} Deleted. svc init sets svc up again.`);
  return EXIT.ok;
};

/** What somebody could take for deleted. */
const keptFacts = async (cli: Cli): Promise<Array<[string, string]>> => {
  const { readLocalConfig } = await import('../local-config.js');
  const storage = (await readLocalConfig(cli.settings, cli.distDir)).values.get('storage');
  const isServer = isTable(storage) && typeof storage.url === 'string' && storage.url !== '';
  return [
    ['kept', `backups in ${path.join(cli.settings.home, 'backups')}`],
    ...(isServer ? ([['kept', 'the PostgreSQL database of [storage] url, with its rows: only its owner can drop it']] satisfies Array<[string, string]>) : []),
  ];
};
