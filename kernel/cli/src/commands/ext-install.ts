/** `svc ext install`, `upgrade`, `rollback` and `remove`: extensions of others come and go. They work with the daemon stopped too. */
import type { Command } from 'commander';
import type { Action } from '../command.js';
import type { InstallFlags, RemoveFlags, UpgradeFlags } from '../install/install.js';

const GRANT = 'agree to what it asks for: all, or each by its name; otherwise you are asked';
const TRUST = 'trust the key that signed it for this extension, where it is not known yet';

export const defineInstalling = (ext: Command, action: Action): void => {
  ext
    .command('install')
    .description('Install an extension of somebody else; shows first what it asks for')
    .argument('<source>', 'npm:name@range, file.tgz, https://…tgz#sha256=…, git+https://…#ref, a folder, or an id of the index')
    .option('--grant <name...>', GRANT)
    .option('--trust-key', TRUST)
    .option('--enable', 'switch it on as well')
    .option('--link', 'use the folder where it lies, for whoever works on it')
    .action(action(async (cli, source: string, flags: InstallFlags) => (await import('../install/install.js')).install(cli, source, flags)));
  ext
    .command('upgrade')
    .description('Bring a newer version; where it fails, the one of before serves on')
    .argument('<id>')
    .option('--to <version>', 'another version of npm, or another source')
    .option('--downgrade', 'take an older version too')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--grant <name...>', GRANT)
    .option('--trust-key', TRUST)
    .action(action(async (cli, id: string, flags: UpgradeFlags) => (await import('../install/install.js')).upgrade(cli, id, flags)));
  ext
    .command('rollback')
    .description('Go back to the version before; two are kept')
    .argument('<id>')
    .action(action(async (cli, id: string) => (await import('../install/install.js')).rollback(cli, id)));
  ext
    .command('remove')
    .description('Remove an extension that was installed; what it stored stays')
    .argument('<id>')
    .option('--purge', 'take its tables, files and secrets along; asks for the id once more')
    .option('--confirm <id>', 'with --purge, where nobody can be asked')
    .action(action(async (cli, id: string, flags: RemoveFlags) => (await import('../install/install.js')).remove(cli, id, flags)));
};
