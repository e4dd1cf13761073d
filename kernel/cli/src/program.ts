/** Arguments that need a real parser: subcommands, options of a command, help. Loaded only then. */
import { Command, CommanderError } from 'commander';
import { createCli } from './cli.js';
import type { Action } from './command.js';
import { COMMANDS, type CommandEntry } from './command-table.js';
import { EXIT, EXIT_CODES_TEXT, type ExitCode } from './exit-codes.js';
import { usageFailure } from './failure.js';
import { nearest } from '@svc/api';
import { told } from './terminal/complaint.js';
import { wrap } from './terminal/layout.js';
import { createSettings, type GlobalFlags } from './settings.js';

const VERSION = '0.1.0';
const DEFAULT_COLUMNS = 80;
const ENVIRONMENT_LINE = 'Environment: SVC_HOME, SVC_PORT, SVC_CONFIG, SVC_API_KEY, NO_COLOR';

/** Flags that take the next argument, skipped when looking for the command's name. */
const FLAGS_WITH_VALUE = new Set(['--home', '--port']);

type Entries = Readonly<Record<string, CommandEntry>>;

/** Runs the command that the arguments name. */
export const runProgram = (given: readonly string[], distDir: string): Promise<ExitCode> =>
  told({ json: given.includes('--json'), color: !given.includes('--no-color') }, async () => {
    const ours = asOurs(given);
    const all = async (): Promise<Entries> => ({ ...COMMANDS, ...(await (await import('./areas/area-entries.js')).areaEntries(createSettings(whereIn(given)), distDir)) });
    // What areas add is looked up only where it could be meant.
    const entries: Entries = isOwn(commandName(ours)) ? COMMANDS : await all();
    const argv = helpAsOption(ours, entries);
    const name = commandName(argv);
    return run(argv, entries, name === undefined || !Object.hasOwn(entries, name) ? undefined : entries[name], { distDir, all });
  });

const isOwn = (name: string | undefined): boolean => name !== undefined && Object.hasOwn(COMMANDS, name);

/** Where the daemon is, before the parser reads it. */
const whereIn = (argv: readonly string[]): GlobalFlags => {
  const given = (flag: string): string | undefined => argv.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1) ?? (argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined);
  const [home, port] = [given('--home'), given('--port')];
  return { ...(home === undefined ? {} : { home }), ...(port === undefined ? {} : { port }) };
};

/** Commands that are ours by another word. */
const SAME: Readonly<Record<string, readonly string[]>> = { version: ['--version'], health: ['status'], agents: ['agent', 'list'] };

const asOurs = (argv: readonly string[]): readonly string[] => {
  const name = commandName(argv);
  const ours = name !== undefined && Object.hasOwn(SAME, name) ? SAME[name] : undefined;
  // `svc agents spawn` is another command of agents.
  if (name === undefined || ours === undefined || (name === 'agents' && argv.slice(argv.indexOf(name) + 1).some((word) => !word.startsWith('-')))) return argv;
  const at = argv.indexOf(name);
  return [...argv.slice(0, at), ...ours, ...argv.slice(at + 1)];
};

/** Words of other programs of this kind, and where the same is done here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  init: 'start',
  setup: 'start',
  onboard: 'start',
  gateway: 'start',
  tui: 'chat',
  ask: 'message',
  dashboard: 'open',
  login: 'providers set-key',
  agents: 'agent',
  session: 'sessions',
  tools: 'tool',
};

/** `svc help`, `svc help agent kill` and `svc agent help kill` are other ways to write `--help`. */
const helpAsOption = (argv: readonly string[], entries: Entries): readonly string[] => {
  const first = commandName(argv);
  const at = argv.indexOf(first === 'help' || first === undefined ? 'help' : first) + (first === 'help' ? 0 : 1);
  if (argv[at] !== 'help' || (first !== 'help' && entries[first ?? '']?.isGroup !== true)) return argv;
  const rest = [...argv.slice(0, at), ...argv.slice(at + 1)];
  const asked = commandName(rest);
  // Help for what is not there is a typing error.
  return asked === undefined || Object.hasOwn(entries, asked) ? [...rest, '--help'] : rest;
};

const commandName = (argv: readonly string[]): string | undefined => {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-')) return word;
    if (FLAGS_WITH_VALUE.has(word)) index++;
  }
  return undefined;
};

/** Throws a Failure for wrong usage as for anything else. */
const run = async (
  argv: readonly string[],
  entries: Entries,
  entry: CommandEntry | undefined,
  { all, distDir }: { readonly all: () => Promise<Entries>; readonly distDir: string },
): Promise<ExitCode> => {
  const program = createProgram();
  let exit: ExitCode = EXIT.ok;
  const action: Action =
    (work) =>
    async (...args) => {
      exit = await work(createCli(program.opts<GlobalFlags>(), distDir), ...args);
    };
  if (entry !== undefined) (await entry.load()).define(program, action, async () => wholeProgram(await all()));
  else addOverview(program, argv, entries);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) return ended(program, argv, error);
    throw error;
  }
};

const createProgram = (): Command =>
  new Command('svc')
    .description('Hosts autonomous, LLM-driven agents: start it, talk to them, operate it.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .option('--json', 'print one JSON value for programs')
    .option('-y, --yes', 'do not ask')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .option('--home <dir>', "the daemon's home (else SVC_HOME, else ~/.svc)")
    .option('--port <number>', "the daemon's port (else SVC_PORT, else what it wrote down)")
    .configureHelp({ showGlobalOptions: true })
    // Usage errors are printed by main.ts, in one form with all others.
    .configureOutput({ outputError: () => undefined })
    .exitOverride();

/** Every command with its subcommands and options; none of them does anything. */
const wholeProgram = async (entries: Entries): Promise<Command> => {
  const program = createProgram();
  for (const { load, summary } of Object.values(entries)) {
    (await load()).define(
      program,
      () => async () => undefined,
      () => wholeProgram(entries),
    );
    program.commands.at(-1)?.summary(summary);
  }
  return program;
};

/** Without a command that is known: a program that names them all, for `svc --help`, `svc` and a typing error. */
const addOverview = (program: Command, argv: readonly string[], entries: Entries): void => {
  for (const [name, { usage, summary }] of Object.entries(entries)) {
    program.command(name).usage(usage.slice(name.length).trim()).summary(summary).description(summary).helpOption(false);
  }
  program.command('help').usage('[command]').summary('help for a command, e.g. svc help agent').helpOption(false);
  // Flags alone, `svc --json`: nothing was asked for, so this says what can be.
  if (argv.every((word) => word.startsWith('-'))) program.action(() => program.outputHelp());
  const columns = program.configureOutput().getOutHelpWidth?.() ?? DEFAULT_COLUMNS;
  program.addHelpText('after', `\n${EXIT_CODES_TEXT}\n\n${wrap(ENVIRONMENT_LINE, columns).join('\n')}`);
};

/** How commander left: help and version are no failure; its "did you mean" becomes what mends the rest. */
const ended = (program: Command, argv: readonly string[], error: CommanderError): ExitCode => {
  if (error.exitCode === 0) return EXIT.ok;
  const isHelp = error.code === 'commander.help';
  // `svc agent` alone: commander has printed that group's help already.
  if (isHelp && !argv.includes('--json')) return EXIT.usage;
  const text = isHelp ? 'a subcommand is missing' : error.message.replace(/^error: /, '');
  const [what = text, guess] = text.split('\n');
  const called = commandPath(program, argv);
  const near = error.code === 'commander.unknownCommand' ? nearCommand(program, argv, called) : /Did you mean (?:one of )?([^,?]+)/.exec(guess ?? '')?.[1];
  // A near option belongs to a command line that only its writer knows whole: its help shows it.
  const mend = near !== undefined && !near.startsWith('-') ? ['svc', ...called, near] : ['svc', ...called, '--help'];
  const also = near?.startsWith('-') ? ` Did you mean ${near}?` : '';
  throw usageFailure(`${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, '')}.${also}`, mend.join(' '));
};

/** A name that is near, and no other: commander also offers what only shares a letter or two. */
const nearCommand = (program: Command, argv: readonly string[], called: readonly string[]): string | undefined => {
  const word = argv.filter((each) => !each.startsWith('-'))[called.length] ?? '';
  let at: Command | undefined = program;
  for (const name of called) at = at?.commands.find((command) => command.name() === name);
  const [near] = nearest(word, at?.commands.map((command) => command.name()) ?? [], 1);
  return near ?? (called.length === 0 && Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined);
};

/** The commands and subcommands that were named and exist: `agent spawn`. */
const commandPath = (program: Command, argv: readonly string[]): string[] => {
  const path: string[] = [];
  let at = program;
  for (const word of argv.filter((each) => !each.startsWith('-'))) {
    const next = at.commands.find((command) => command.name() === word);
    if (next === undefined) break;
    path.push(word);
    at = next;
  }
  return path;
};
