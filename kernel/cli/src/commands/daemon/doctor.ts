/** `svc doctor`: find problems and fixes. Works with and without a daemon. */
import { access, rm } from 'node:fs/promises';
import { databaseFileOf, identityFileOf } from '@svc/platform/config/home';
import { closeToOthers, exposedPaths } from '@svc/platform/config/privacy';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../../cli.js';
import type { Action } from '../../command.js';
import type { Check } from '../../doctor/check.js';
import { daemonChecks } from '../../doctor/daemon-checks.js';
import { machineChecks } from '../../doctor/machine-checks.js';
import { setupChecks } from '../../doctor/setup-checks.js';
import { EXIT } from '../../exit-codes.js';
import { Failure } from '../../failure.js';
import { wrap } from '../../terminal/layout.js';
import { typed } from '../../typed-command.js';

export const define = (program: Command, action: Action): void => {
  program
    .command('doctor')
    .description('Check the setup, the machine and the daemon, and show how to fix problems')
    .option('--fix', "remove other users' access to the home folder and to settings with a key")
    .option('--accept-database', 'accept a database that is not the one used before')
    .action(action((cli, flags: { fix?: boolean; acceptDatabase?: boolean }) => (flags.acceptDatabase ? acceptDatabase(cli) : doctor(cli, flags.fix === true))));
};

const doctor = async (cli: Cli, isFix = false): Outcome => {
  const fixed = isFix ? await fix(cli) : [];
  const daemon = await daemonChecks(cli);
  const [setup, machine] = await Promise.all([setupChecks(cli.settings, cli.distDir), machineChecks(cli.settings, daemon.isRunning)]);
  const checks = withoutDoubles([...setup, ...machine, ...daemon.checks]);
  const isAllOk = checks.every((check) => check.status !== 'fail');
  if (cli.json) cli.out.json({ all_ok: isAllOk, checks, ...(isFix ? { fixed } : {}) });
  else print(cli, checks);
  return isAllOk ? EXIT.ok : EXIT.failed;
};

/** What can be fixed without a choice. Each change is said. */
const fix = async (cli: Cli): Promise<Array<{ path: string; mode: string }>> => {
  const done: Array<{ path: string; mode: string }> = [];
  for (const exposed of await exposedPaths(cli.settings)) {
    const mode = exposed.wantedMode.toString(8);
    try {
      await closeToOthers(exposed);
    } catch (error) {
      throw new Failure(`${exposed.path} could not be changed.`, { code: 'cli_fix_failed', why: error instanceof Error ? error.message : String(error), fix: `sudo chmod ${mode} ${exposed.path}` });
    }
    done.push({ path: exposed.path, mode });
    if (!cli.json) cli.out.line(`${cli.out.green('fixed')} ${exposed.path}: mode ${exposed.mode.toString(8)} is ${mode} now`);
  }
  return done;
};

/** The file beside the database is what a daemon compares with; without it whatever is there is taken as it is, within a second if one runs. */
const acceptDatabase = async (cli: Cli): Outcome => {
  const file = identityFileOf(databaseFileOf(cli.settings.dataDir));
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  await rm(file, { force: true });
  if (cli.json) cli.out.json({ status: isThere ? 'accepted' : 'nothing_to_accept' });
  else cli.out.line(isThere ? 'The current database is accepted.' : 'There is nothing to accept.');
  return EXIT.ok;
};

/** Of two checks with one name the later counts: the daemon sees its own environment, this process only guesses it. */
const withoutDoubles = (checks: readonly Check[]): Check[] => [...new Map(checks.map((check) => [check.check, check])).values()];

const print = (cli: Cli, checks: readonly Check[]): void => {
  const { out } = cli;
  const mark = { pass: out.green('pass'), warn: out.yellow('warn'), fail: out.red('fail') };
  const indent = Math.max(...checks.map((check) => check.check.length)) + 2;
  // On a narrow terminal the text goes below the name.
  const isNarrow = out.width - indent - 6 < 30;
  const margin = isNarrow ? 6 : indent + 6;
  for (const check of checks) {
    const lines = wrap(typed(check.summary), out.width - margin);
    const first = isNarrow ? '' : (lines.shift() ?? '');
    out.line(`${mark[check.status]}  ${isNarrow ? check.check : check.check.padEnd(indent) + first}`.trimEnd());
    for (const line of lines) out.line(' '.repeat(margin) + line);
    if (check.hint !== undefined && check.status !== 'pass') for (const line of wrap(`→ ${typed(check.hint)}`, out.width - margin)) out.line(' '.repeat(margin) + out.cyan(line));
  }
  const count = (status: Check['status']): number => checks.filter((check) => check.status === status).length;
  out.line(`\n${count('pass')} pass, ${count('warn')} warn, ${count('fail')} fail`);
};
