/** `svc service`: the daemon starts with the machine, by systemd or launchd. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { type ServiceUnit, unitFor } from '../service/units.js';

const run = promisify(execFile);

interface Flags {
  readonly system?: boolean;
  readonly print?: boolean;
}

export const define = (program: Command, action: Action): void => {
  const service = program.command('service').description('Start the daemon with this machine, by systemd or launchd').helpCommand(false);
  service
    .command('install')
    .description('Write the service, enable it and start it')
    .option('--system', 'for the machine instead of your login (systemd): prints the unit and the commands, as root is needed')
    .option('--print', 'print the file and change nothing')
    .action(action((cli, flags: Flags) => install(cli, flags)));
  service
    .command('uninstall')
    .description('Stop and disable the service and remove its file; data stays')
    .action(action((cli) => uninstall(cli)));
  service
    .command('status')
    .description('Show whether the service is installed and active; exit code 1 if not')
    .action(action((cli) => status(cli)));
};

/** Undefined where this machine has no service manager that svc knows. */
const knownUnit = (cli: Cli, isSystem = false): ServiceUnit | undefined => {
  const { env, home, port } = cli.settings;
  const facts = { node: process.execPath, program: path.resolve(cli.distDir, '../kernel/cli/bin/svc.mjs'), home, userHome: env.HOME ?? homedir(), port: port?.toString() };
  return unitFor(process.platform, facts, isSystem, userInfo().username);
};

/** The file of the service of this user, if it is installed. */
export const installedService = async (cli: Cli): Promise<string | undefined> => {
  const unit = knownUnit(cli);
  return unit !== undefined && (await isWritten(unit)) ? unit.file : undefined;
};

/** Stops and disables the service and deletes its file. False where none is installed. */
export const removeService = async (cli: Cli): Promise<boolean> => {
  const unit = knownUnit(cli);
  if (unit === undefined || !(await isWritten(unit))) return false;
  for (const words of unit.disable) await ask(words);
  await rm(unit.file);
  return true;
};

const unitOf = (cli: Cli, isSystem = false): ServiceUnit => {
  const unit = knownUnit(cli, isSystem);
  if (unit === undefined) throw new Failure(`svc knows no service manager for ${process.platform}${isSystem ? ' as a whole' : ''}.`, { code: 'service_unsupported', fix: 'svc start' });
  return unit;
};

const install = async (cli: Cli, { print, system }: Flags): Outcome => {
  const unit = unitOf(cli, system);
  if (print === true || system === true) {
    if (cli.json) cli.out.json({ file: unit.file, text: unit.text, commands: unit.enable.map((words) => words.join(' ')), installed: false });
    else cli.out.write(`# ${unit.file}\n${unit.text}`);
    if (!cli.json && system === true) cli.out.note(`Save this as ${unit.file} as root, then run: ${unit.enable.map((words) => words.join(' ')).join(' && ')}`);
    return EXIT.ok;
  }
  if (await isAnswering(cli)) throw new Failure('The daemon runs already, and the service would start a second one.', { code: 'service_daemon_runs', fix: 'svc stop' });
  await mkdir(path.dirname(unit.file), { recursive: true });
  await writeFile(unit.file, unit.text, { mode: 0o600 });
  for (const words of unit.enable) await ask(words);
  if (cli.json) cli.out.json({ file: unit.file, text: unit.text, commands: unit.enable.map((words) => words.join(' ')), installed: true });
  else cli.out.line(`${cli.out.green('✓')} The service is installed and started: ${unit.file}`);
  if (process.platform === 'linux' && !cli.json) cli.out.note('It starts when you log in. To start it with the machine: loginctl enable-linger');
  return EXIT.ok;
};

const uninstall = async (cli: Cli): Outcome => {
  const { file } = unitOf(cli);
  const removed = await removeService(cli);
  if (cli.json) cli.out.json({ file, removed });
  else if (!removed) cli.out.line('No service is installed.');
  else cli.out.line(`${cli.out.green('✓')} The service is removed. Data stays in ${cli.settings.home}.`);
  return EXIT.ok;
};

const status = async (cli: Cli): Outcome => {
  const unit = unitOf(cli);
  const installed = await isWritten(unit);
  const active =
    installed &&
    (await ask(unit.status).then(
      () => true,
      () => false, // both managers say so by their exit code
    ));
  if (cli.json) cli.out.json({ file: unit.file, installed, active });
  else cli.out.line(installed ? `The service is ${active ? 'active' : 'installed and not active'}: ${unit.file}` : 'No service is installed. svc service install installs it.');
  return active ? EXIT.ok : EXIT.failed;
};

const isAnswering = async (cli: Cli): Promise<boolean> => {
  try {
    await (await cli.daemon()).call('getHealth');
    return true;
  } catch (error) {
    if (error instanceof Failure) return false; // nobody is there
    throw error;
  }
};

const isWritten = (unit: ServiceUnit): Promise<boolean> =>
  readFile(unit.file).then(
    () => true,
    () => false, // it is not there
  );

const ask = async ([program = '', ...args]: readonly string[]): Promise<void> => {
  try {
    await run(program, [...args]);
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Failure(`${program} ${args.join(' ')} failed${said === '' ? '' : `: ${said.split('\n')[0]}`}.`, { code: 'service_manager_failed', fix: 'svc service install --print' });
  }
};
