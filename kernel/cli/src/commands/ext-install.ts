/** `svc ext install`, `upgrade`, `rollback` and `remove`: extensions of others come and go. They work with the daemon stopped too. */
import type { Command } from 'commander';
import type { Action } from '../command.js';
import type { InstallFlags, RemoveFlags, UpgradeFlags } from '../ext-install/install.js';

const GRANT = 'permissions to grant: all, or each by name; otherwise you are asked';
const TRUST = 'trust the signing key for this extension';

export const defineInstalling = (ext: Command, action: Action): void => {
  ext
    .command('install')
    .description('Install a third-party extension; shows the requested permissions first')
    .argument('<source>', 'npm:name@range, file.tgz, https://…tgz#sha256=…, git+https://…#ref, a folder, or an id of the index')
    .option('--grant <name...>', GRANT)
    .option('--trust-key', TRUST)
    .option('--enable', 'also switch it on')
    .option('--link', 'use the folder in place, for development')
    .action(action(async (cli, source: string, flags: InstallFlags) => (await import('../ext-install/install.js')).install(cli, source, flags)));
  ext
    .command('upgrade')
    .description('Upgrade an extension; if the new version fails, the current one keeps running')
    .argument('<id>')
    .option('--to <version>', 'another version from npm, or another source')
    .option('--downgrade', 'allow an older version')
    .option('--dry-run', 'only show what would change')
    .option('--grant <name...>', GRANT)
    .option('--trust-key', TRUST)
    .action(action(async (cli, id: string, flags: UpgradeFlags) => (await import('../ext-install/install.js')).upgrade(cli, id, flags)));
  ext
    .command('rollback')
    .description('Roll back to the previous version; two are stored')
    .argument('<id>')
    .action(action(async (cli, id: string) => (await import('../ext-install/install.js')).rollback(cli, id)));
  ext
    .command('remove')
    .description('Remove an installed extension; its stored data is kept')
    .argument('<id>')
    .option('--purge', 'also delete its tables, files and secrets; requires the id as confirmation')
    .option('--confirm <id>', 'the id, with --purge in scripts')
    .action(action(async (cli, id: string, flags: RemoveFlags) => (await import('../ext-install/install.js')).remove(cli, id, flags)));
};
