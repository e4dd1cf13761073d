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
  const config = program.command('config').description('The settings in config.toml').helpCommand(false);
  config
    .command('show')
    .argument('[section]', 'a section, such as api')
    .description('Every setting with its value and where it comes from: default, line of the file, variable')
    .option('--changed', 'leave out what is at its default')
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
    .description('Change one setting in config.toml, in place; nothing else in the file changes')
    .action(action(async (cli, setting: string, value: string) => (await import('../config/show.js')).set(cli, setting, value)));
  config
    .command('unset')
    .argument('<setting>', 'its path, such as log.level')
    .description('Take one setting out of config.toml, so that its default holds')
    .action(action(async (cli, setting: string) => (await import('../config/show.js')).set(cli, setting, null)));
  config
    .command('edit')
    .description('Open a copy of config.toml in $VISUAL or $EDITOR; it takes the place of the file once it is right')
    .action(action(async (cli) => (await import('../config/edit-file.js')).edit(cli, (local) => report(cli, local))));
  config
    .command('schema')
    .description('Print the JSON Schema of config.toml, for editors')
    .action(action((cli) => schema(cli)));
  config
    .command('check')
    .description('Judge config.toml and the SVC__ variables as the daemon does; exit code 1 when something in them does not hold')
    .action(action((cli) => check(cli)));
  config
    .command('path')
    .description('Print where config.toml is, or would be')
    .action(action((cli) => where(cli)));
  config
    .command('reload')
    .description('Have the running daemon read config.toml now; it does so by itself when the file is saved')
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
  if (file === undefined) throw notRunning(await cli.settings.url(), 'no daemon has written down that it runs in this home');
  const local = await readLocalConfig(cli.settings, cli.distDir);
  try {
    process.kill(file.pid, 'SIGHUP');
  } catch (error) {
    throw new Failure('The daemon cannot be told.', {
      code: 'cli_not_allowed',
      exit: EXIT.refused,
      why: errnoOf(error) ?? String(error),
      mend: "run this as the daemon's user",
    });
  }
  if (cli.json) cli.out.json({ status: 'reloading', pid: file.pid, ...asJson(cli, local) });
  else {
    report(cli, local);
    cli.out.line(local.problems.length === 0 ? 'The daemon reads it now.' : 'The daemon reads it now; what does not hold keeps its last good value.');
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
    out.line(text === null && unreadable === undefined ? `There is no ${settings.configFile}; the defaults hold.` : `${out.green('✓')} ${settings.configFile} holds`);
    return;
  }
  out.line(settings.configFile);
  for (const { severity, message } of problems) {
    const [first = '', ...rest] = wrap(message, out.width - 7);
    out.line(`${severity === 'error' ? out.red('error') : out.yellow('warn ')}  ${first}`);
    for (const line of rest) out.line(`       ${line}`);
  }
};
