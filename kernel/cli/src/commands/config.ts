/** `svc config`: the settings and config.toml. Through the daemon where it runs and this user may, else on the file. */
import { errnoOf } from '@svc/platform/config/errno';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { Failure, notRunning } from '../failure.js';
import { wrap } from '../terminal/layout.js';
import { type LocalConfig, readLocalConfig } from '../local-config.js';

export const define = (program: Command, action: Action): void => {
  const config = program.command('config').description('Read and change settings').helpCommand(false);
  config
    .command('show')
    .argument('[section]', 'a section, such as api')
    .description('List settings with their values and sources: default, line of the file, variable')
    .option('--changed', 'leave out settings with their default value')
    .action(action(async (cli, section: string | undefined, flags: { changed?: boolean }) => (await import('../config/show.js')).show(cli, section, flags.changed === true)));
  config
    .command('get')
    .argument('<setting>', 'its path, such as log.level')
    .description('Print the value of one setting')
    .action(action(async (cli, setting: string) => (await import('../config/show.js')).get(cli, setting)));
  config
    .command('set')
    .argument('<setting>', 'its path, such as log.level')
    .argument('<value>', 'text, number, true, or a list as in TOML: \'["a", "b"]\'')
    .description('Change one setting in config.toml; the rest of the file stays')
    .action(action(async (cli, setting: string, value: string) => (await import('../config/show.js')).set(cli, setting, value)));
  config
    .command('unset')
    .argument('<setting>', 'its path, such as log.level')
    .description('Remove one setting from config.toml, so that its default applies')
    .action(action(async (cli, setting: string) => (await import('../config/show.js')).set(cli, setting, null)));
  config
    .command('edit')
    .description('Edit config.toml in $VISUAL or $EDITOR; svc validates it before it replaces the file')
    .action(action(async (cli) => (await import('../config/edit-file.js')).edit(cli, (local) => report(cli, local))));
  config
    .command('schema')
    .description('Print the JSON Schema of config.toml, for editors')
    .action(action((cli) => schema(cli)));
  config
    .command('check')
    .description('Validate config.toml and the SVC__ variables; exit code 1 if something is invalid')
    .action(action((cli) => check(cli)));
  config
    .command('path')
    .description('Print the path of config.toml')
    .action(action((cli) => where(cli)));
  config
    .command('reload')
    .description('Reload config.toml now; the running daemon also does this when you save the file')
    .action(action((cli) => reload(cli)));
};

const schema = async (cli: Cli): Outcome => {
  const { atSettings } = await import('../config/settings-source.js');
  cli.out.json(await atSettings(cli, (source) => source.editorSchema()));
  return EXIT.ok;
};

const check = async (cli: Cli): Outcome => {
  const local = await readLocalConfig(cli.settings, cli.distDir);
  if (cli.json) cli.out.json(asJson(cli, local));
  else report(cli, local);
  return exitOf(local);
};

const where = async (cli: Cli): Outcome => {
  if (cli.json) cli.out.json({ file: cli.settings.configFile });
  else cli.out.line(cli.settings.configFile);
  return EXIT.ok;
};

const reload = async (cli: Cli): Outcome => {
  const file = cli.settings.daemonFile();
  if (file === undefined) throw notRunning(await cli.settings.url(), 'no daemon runs in this home');
  const local = await readLocalConfig(cli.settings, cli.distDir);
  try {
    process.kill(file.pid, 'SIGHUP');
  } catch (error) {
    throw new Failure('The daemon could not be notified.', {
      code: 'cli_not_allowed',
      exit: EXIT.refused,
      why: errnoOf(error) ?? String(error),
      fix: "run this as the daemon's user",
    });
  }
  if (cli.json) cli.out.json({ status: 'reloading', pid: file.pid, ...asJson(cli, local) });
  else {
    report(cli, local);
    cli.out.line(local.problems.length === 0 ? 'The daemon reloads it now.' : 'The daemon reloads it now; invalid settings keep their last valid value.');
  }
  return exitOf(local);
};

const exitOf = (local: LocalConfig): ExitCode => (local.problems.some((problem) => problem.severity === 'error') ? EXIT.failed : EXIT.ok);

const asJson = (cli: Cli, local: LocalConfig): Record<string, unknown> => ({
  file: cli.settings.configFile,
  exists: local.text !== null || local.unreadable !== undefined,
  ok: exitOf(local) === EXIT.ok,
  problems: local.problems,
});

const report = (cli: Cli, { text, unreadable, problems }: LocalConfig): void => {
  const { out, settings } = { out: cli.out, settings: cli.settings };
  if (problems.length === 0) {
    out.line(text === null && unreadable === undefined ? `There is no ${settings.configFile}; the defaults apply.` : `${out.green('✓')} ${settings.configFile} is valid`);
    return;
  }
  out.line(settings.configFile);
  for (const { severity, message } of problems) {
    const [first = '', ...rest] = wrap(message, out.width - 7);
    out.line(`${severity === 'error' ? out.red('error') : out.yellow('warn ')}  ${first}`);
    for (const line of rest) out.line(`       ${line}`);
  }
};
