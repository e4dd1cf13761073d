/** Arguments that need a real parser: subcommands, options of a command, help. Loaded only then. */
import { Command, CommanderError, Help } from 'commander';
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
import { isPlanned, plannedFailure } from './words/planned-words.js';
import { asOurs, commandName, OWN_SYNONYMS, synonymOf, type Synonyms } from './words/synonyms.js';

const VERSION = '0.1.0';
const DEFAULT_COLUMNS = 80;
const ENVIRONMENT_LINE = 'Environment: SVC_HOME, SVC_PORT, SVC_CONFIG, SVC_API_KEY, NO_COLOR';

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
    return run(argv, vocabulary, entry, { distDir, all: () => vocabularyFor(given, distDir) });
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

/** Throws a Failure for wrong usage as for anything else. */
const run = async (
  argv: readonly string[],
  { entries }: Vocabulary,
  entry: CommandEntry | undefined,
  { all, distDir }: { readonly all: () => Promise<Vocabulary>; readonly distDir: string },
): Promise<ExitCode> => {
  const program = createProgram();
  let exit: ExitCode = EXIT.ok;
  const action: Action =
    (work) =>
    async (...args) => {
      exit = await work(createCli(program.opts<GlobalFlags>(), distDir), ...args);
    };
  if (entry !== undefined) (await entry.load()).define(program, action, async () => wholeProgram((await all()).entries));
  else addOverview(program, argv, entries);
  try {
    await program.parseAsync([...listed(program, argv)], { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) return ended(program, argv, error, async () => (await all()).synonyms);
    throw error;
  }
};

/** What a group alone does, the first that it has and that needs no argument. */
const USUAL = ['list', 'status', 'show', 'total'];

/** `svc tasks` and `svc tasks --status failed` list. */
const listed = (program: Command, argv: readonly string[]): readonly string[] => {
  const word = commandName(argv);
  const at = word === undefined ? -1 : argv.indexOf(word);
  const next = argv[at + 1];
  if (at < 0 || (next !== undefined && !next.startsWith('-')) || argv.some((one) => one === '--help' || one === '-h')) return argv;
  const members = program.commands.find((one) => one.name() === word)?.commands ?? [];
  const usual = USUAL.find((name) => members.some((one) => one.name() === name && !one.registeredArguments.some(({ required }) => required)));
  return usual === undefined ? argv : [...argv.slice(0, at + 1), usual, ...argv.slice(at + 1)];
};

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Every summary begins in the same way, whoever wrote it. */
const inSentences: Partial<Help> = {
  commandDescription: (command) => sentence(Help.prototype.commandDescription(command)),
  subcommandDescription: (command) => sentence(Help.prototype.subcommandDescription(command)),
  optionDescription: (option) => sentence(Help.prototype.optionDescription(option)),
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
    .configureHelp({ showGlobalOptions: true, ...inSentences })
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

/** The groups of the help, in its order: the daemon itself, then the hubs of the page. */
const HEADINGS = {
  daemon: 'Daemon',
  chat: 'Chat',
  agents: 'Agents',
  automate: 'Automate',
  knowledge: 'Knowledge',
  connect: 'Connect',
  costs: 'Costs',
  safety: 'Safety',
  system: 'System',
  more: 'More',
} as const;

const headingOf = ({ hub = 'daemon' }: CommandEntry): string => (Object.hasOwn(HEADINGS, hub) ? hub : 'more');

/** Without a command that is known: a program that names them all, for `svc --help`, `svc` and a typing error. */
const addOverview = (program: Command, argv: readonly string[], entries: Entries): void => {
  const all = Object.entries(entries);
  for (const [hub, heading] of Object.entries(HEADINGS))
    for (const [name, { usage, summary }] of all.filter(([, entry]) => headingOf(entry) === hub))
      program.command(name).usage(usage.slice(name.length).trim()).summary(summary).description(summary).helpOption(false).helpGroup(`${heading}:`);
  program.command('help').usage('[command]').summary('help for a command, e.g. svc help agent').helpOption(false).helpGroup(`${HEADINGS.more}:`);
  // Flags alone, `svc --json`: nothing was asked for, so this says what can be.
  if (argv.every((word) => word.startsWith('-'))) program.action(() => program.outputHelp());
  const columns = program.configureOutput().getOutHelpWidth?.() ?? DEFAULT_COLUMNS;
  program.addHelpText('after', `\n${EXIT_CODES_TEXT}\n\n${wrap(ENVIRONMENT_LINE, columns).join('\n')}`);
};

/** How commander left: help and version are no failure; its "did you mean" becomes what fixes the rest. */
const ended = async (program: Command, argv: readonly string[], error: CommanderError, allSynonyms: () => Promise<Synonyms>): Promise<ExitCode> => {
  if (error.exitCode === 0) return EXIT.ok;
  const isHelp = error.code === 'commander.help';
  // `svc agent` alone: commander has printed that group's help already.
  if (isHelp && !argv.includes('--json')) return EXIT.usage;
  const text = isHelp ? 'a subcommand is missing' : error.message.replace(/^error: /, '');
  const [what = text, guess] = text.split('\n');
  const called = commandPath(program, argv);
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, '')}.`;
  const words = argv.filter((word) => !word.startsWith('-'));
  if (error.code === 'commander.unknownCommand') {
    const isPair = isPlanned(words.slice(0, 2));
    const planned = isPair || called.length === 0 ? plannedFailure(words) : undefined;
    const meant = isPair ? undefined : meantCommand(program, words, called, await allSynonyms());
    if (planned !== undefined && meant === undefined) throw planned;
    const near = meant ?? nearCommand(program, words, called);
    throw usageFailure(sentence, near === undefined ? ['svc', ...called, '--help'].join(' ') : `svc ${near}`);
  }
  const next = error.code === 'commander.unknownOption' ? /'([^']+)'/.exec(what)?.[1] : words[called.length];
  const synonym = synonymOf(await allSynonyms(), [...called, next ?? '']);
  if (synonym !== undefined) throw usageFailure(sentence, `svc ${synonym.means}`);
  const near = /Did you mean (?:one of )?([^,?]+)/.exec(guess ?? '')?.[1];
  // A near option belongs to a command line that only its writer knows whole: its help shows it.
  const isOption = near === undefined || near.startsWith('-');
  throw usageFailure(`${sentence}${near !== undefined && isOption ? ` Did you mean ${near}?` : ''}`, ['svc', ...called, isOption ? '--help' : near].join(' '));
};

/** A command under other words. */
const meantCommand = (program: Command, words: readonly string[], called: readonly string[], synonyms: Synonyms): string | undefined => {
  const meant = synonymOf(synonyms, words.slice(0, called.length + 2)) ?? synonymOf(synonyms, words.slice(0, called.length + 1));
  // What runs by itself was not typed alone: a command beside it is meant.
  if (meant?.runs === true && meant.takesArguments !== true) return nearCommand(program, words, called) ?? meant.means.split(' ')[0];
  return meant?.means;
};

/** A name that is near, and no other: commander also offers what only shares a letter or two. */
const nearCommand = (program: Command, words: readonly string[], called: readonly string[]): string | undefined => {
  let at: Command | undefined = program;
  for (const name of called) at = at?.commands.find((command) => command.name() === name);
  const [near] = nearest(words[called.length] ?? '', at?.commands.map((command) => command.name()) ?? [], 1);
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
