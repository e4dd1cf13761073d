/** Arguments that need a real parser: subcommands, options of a command, help. Loaded only then. */
import { Command, CommanderError } from 'commander';
import type { Synonyms } from './areas/area-entries.js';
import { createCli } from './cli.js';
import type { Action } from './command.js';
import { COMMANDS, type CommandEntry } from './command-table.js';
import { EXIT, EXIT_CODES_TEXT, type ExitCode } from './exit-codes.js';
import { usageFailure } from './failure.js';
import { nearest } from '@svc/api';
import { reported } from './terminal/complaint.js';
import { wrap } from './terminal/layout.js';
import { createSettings, type GlobalFlags } from './settings.js';
import { knowCommands } from './typed-command.js';

const VERSION = '0.1.0';
const DEFAULT_COLUMNS = 80;
const ENVIRONMENT_LINE = 'Environment: SVC_HOME, SVC_PORT, SVC_CONFIG, SVC_API_KEY, NO_COLOR';

/** Flags that take the next argument, skipped when looking for the command's name. */
const FLAGS_WITH_VALUE = new Set(['--home', '--port']);

type Entries = Readonly<Record<string, CommandEntry>>;

interface Vocabulary {
  readonly entries: Entries;
  readonly synonyms: Synonyms;
}

/** Runs the command that the arguments name. */
export const runProgram = (given: readonly string[], distDir: string): Promise<ExitCode> =>
  reported({ json: given.includes('--json'), color: !given.includes('--no-color') }, async () => {
    knowCommands(distDir);
    // What areas add is looked up only where it could be meant.
    const vocabulary: Vocabulary = isOwn(commandName(given)) ? { entries: COMMANDS, synonyms: OWN_SYNONYMS } : await vocabularyFor(given, distDir, commandName(given));
    knowCommands(distDir, Object.keys(vocabulary.entries));
    const argv = helpAsOption(asOurs(given, vocabulary.synonyms), vocabulary.entries);
    const name = commandName(argv);
    const entry = name !== undefined && Object.hasOwn(vocabulary.entries, name) ? vocabulary.entries[name] : undefined;
    return run(argv, vocabulary, entry, { distDir, all: async () => (await vocabularyFor(given, distDir)).entries });
  });

/** The commands of areas stand in the help where those of the daemon end. Where `wanted` came with svc, installed extensions are left alone. */
const vocabularyFor = async (argv: readonly string[], distDir: string, wanted?: string): Promise<Vocabulary> => {
  const { areaCommands } = await import('./areas/area-entries.js');
  const areas = await areaCommands(createSettings(whereIn(argv)), distDir, wanted);
  const { restart, start, status, stop, ...others } = COMMANDS;
  return { entries: { start, stop, restart, status, ...areas.entries, ...others }, synonyms: { ...areas.synonyms, ...OWN_SYNONYMS } };
};

const isOwn = (name: string | undefined): boolean => name !== undefined && Object.hasOwn(COMMANDS, name);

/** Where the daemon is, before the parser reads it. */
const whereIn = (argv: readonly string[]): GlobalFlags => {
  const given = (flag: string): string | undefined => argv.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1) ?? (argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined);
  const [home, port] = [given('--home'), given('--port')];
  return { ...(home === undefined ? {} : { home }), ...(port === undefined ? {} : { port }) };
};

/** Words of other programs of this kind, and where the same is done here. */
const OWN_SYNONYMS: Synonyms = Object.fromEntries(
  [
    { word: 'version', means: '--version', runs: true },
    { word: 'health', means: 'status', runs: true },
    ...['init', 'setup', 'onboard', 'gateway', 'daemon'].map((word) => ({ word, means: 'start' })),
    { word: 'dashboard', means: 'open' },
    { word: 'tui', means: 'chat' },
    { word: 'configure', means: 'config edit' },
    { word: 'plugins', means: 'ext list' },
    ...['spawn', 'kill'].map((word) => ({ word, means: `agent ${word}` })),
    { word: 'hash-api-key', means: 'key hash' },
    { word: 'system', means: 'status -v' },
    { word: 'uninstall', means: 'service uninstall' },
    { word: 'vault set', means: 'providers set-key PROVIDER' },
    { word: 'vault remove', means: 'providers remove-key PROVIDER' },
    { word: 'models set', means: 'models use MODEL' },
    { word: 'models aliases', means: 'models alias' },
    { word: 'models providers', means: 'providers list' },
    { word: 'config set-key', means: 'providers set-key PROVIDER' },
    { word: 'config test-key', means: 'providers test PROVIDER' },
    { word: 'config delete-key', means: 'providers remove-key PROVIDER' },
    { word: 'security verify', means: 'audit verify' },
    { word: 'security audit', means: 'audit list' },
  ].map((one) => [one.word, one]),
);

/** `svc agents` is `svc agent list`; `svc agents spawn` is another command of agents. */
const asOurs = (argv: readonly string[], synonyms: Synonyms): readonly string[] => {
  const name = commandName(argv);
  const synonym = name !== undefined && Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
  if (name === undefined || synonym?.runs !== true) return argv;
  const [at, means] = [argv.indexOf(name), synonym.means.split(' ')];
  const isAlone = commandName(argv.slice(at + 1)) === undefined;
  return means.length > 1 && !isAlone ? argv : [...argv.slice(0, at), ...means, ...argv.slice(at + 1)];
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
  { entries, synonyms }: Vocabulary,
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
    if (error instanceof CommanderError) return ended(program, argv, error, synonyms);
    throw error;
  }
};

const createProgram = (): Command =>
  new Command('svc')
    .description('Hosts autonomous LLM agents: start the daemon, chat with agents, operate it.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .option('--json', 'print one JSON value for programs')
    .option('-y, --yes', 'do not ask')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .option('--home <dir>', "the daemon's home folder (default: SVC_HOME, then ~/.svc)")
    .option('--port <number>', "the daemon's port (default: SVC_PORT, then the running daemon's)")
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

/** How commander left: help and version are no failure; its "did you mean" becomes what fixes the rest. */
const ended = (program: Command, argv: readonly string[], error: CommanderError, synonyms: Synonyms): ExitCode => {
  if (error.exitCode === 0) return EXIT.ok;
  const isHelp = error.code === 'commander.help';
  // `svc agent` alone: commander has printed that group's help already.
  if (isHelp && !argv.includes('--json')) return EXIT.usage;
  const text = isHelp ? 'a subcommand is missing' : error.message.replace(/^error: /, '');
  const [what = text, guess] = text.split('\n');
  const called = commandPath(program, argv);
  const near = error.code === 'commander.unknownCommand' ? nearCommand(program, argv, called, synonyms) : /Did you mean (?:one of )?([^,?]+)/.exec(guess ?? '')?.[1];
  // A near option belongs to a command line that only its writer knows whole: its help shows it.
  const fix = near === undefined || near.startsWith('-') ? ['svc', ...called, '--help'] : error.code === 'commander.unknownCommand' ? ['svc', near] : ['svc', ...called, near];
  const also = near?.startsWith('-') ? ` Did you mean ${near}?` : '';
  throw usageFailure(`${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, '')}.${also}`, fix.join(' '));
};

/** A name that is near, and no other: commander also offers what only shares a letter or two. */
const nearCommand = (program: Command, argv: readonly string[], called: readonly string[], synonyms: Synonyms): string | undefined => {
  const word = argv.filter((each) => !each.startsWith('-'))[called.length] ?? '';
  let at: Command | undefined = program;
  for (const name of called) at = at?.commands.find((command) => command.name() === name);
  const [near] = nearest(word, at?.commands.map((command) => command.name()) ?? [], 1);
  const wanted = [...called, word].join(' ');
  const synonym = Object.hasOwn(synonyms, wanted) ? synonyms[wanted] : undefined;
  // What runs by itself was not typed alone: a command beside it is meant.
  if (synonym !== undefined) return near !== undefined && called.length === 0 ? near : synonym.runs === true ? synonym.means.split(' ')[0] : synonym.means;
  return near === undefined ? undefined : [...called, near].join(' ');
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
