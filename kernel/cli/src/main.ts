/** The CLI from its arguments to its exit code. It loads neither the kernel nor the database. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { createCli } from './cli.js';
import { type Action, COMMANDS } from './command-table.js';
import { EXIT, EXIT_CODES_TEXT, type ExitCode } from './exit-codes.js';
import { Failure, failureJson, usageFailure } from './failure.js';
import type { GlobalFlags } from './settings.js';
import { createTerminal } from './terminal.js';

/** Flags that take the next argument, skipped when looking for the command's name. */
const FLAGS_WITH_VALUE = new Set(['--home', '--port']);

/** This bundle is dist/cli/main.js. */
const distDir = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const run = async (argv: readonly string[]): Promise<ExitCode> => {
  const program = createProgram();
  let exit: ExitCode = EXIT.ok;
  const action: Action =
    (work) =>
    async (...args) => {
      exit = await work(createCli(program.opts<GlobalFlags>(), distDir), ...args);
    };
  const name = commandName(argv);
  const entry = name === undefined || !Object.hasOwn(COMMANDS, name) ? undefined : COMMANDS[name];
  if (entry !== undefined) (await entry.load()).define(program, action);
  else addOverview(program);
  if (name === undefined && !argv.some((word) => ['-h', '--help', '--version'].includes(word))) {
    program.outputHelp();
    return EXIT.ok;
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : complainOfUsage(argv, error);
    return complain(argv, error);
  }
};

const createProgram = (): Command => {
  const program = new Command('svc')
    .description('Hosts autonomous, LLM-driven agents: start it, talk to them, operate it.')
    .version('0.1.0', '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .option('--json', 'print one JSON value for programs')
    .option('-y, --yes', 'do not ask')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .option('--home <dir>', 'the daemon\'s home (else SVC_HOME, else ~/.svc)')
    .option('--port <number>', 'the daemon\'s port (else SVC_PORT, else what it wrote down)')
    .configureHelp({ showGlobalOptions: true })
    // Usage errors are printed below, in one form with all others.
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  return program;
};

/** Without a command that is known: one that names them all, for `svc --help`, `svc` and a typing error. */
const addOverview = (program: Command): void => {
  for (const [name, { usage, summary }] of Object.entries(COMMANDS)) {
    program.command(name).usage(usage.slice(name.length).trim()).summary(summary).description(summary).helpOption(false);
  }
  program.addHelpText('after', `\n${EXIT_CODES_TEXT}\nEnvironment: SVC_HOME, SVC_PORT, SVC_CONFIG, SVC_API_KEY, NO_COLOR`);
};

const commandName = (argv: readonly string[]): string | undefined => {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-')) return word;
    if (FLAGS_WITH_VALUE.has(word)) index++;
  }
  return undefined;
};

/** commander's message as a Failure; its "did you mean" becomes what mends it. */
const complainOfUsage = (argv: readonly string[], error: CommanderError): ExitCode => {
  const isHelp = error.code === 'commander.help';
  // `svc agent` alone: commander has printed that group's help already.
  if (isHelp && !argv.includes('--json')) return EXIT.usage;
  const text = isHelp ? 'a subcommand is missing' : error.message.replace(/^error: /, '');
  const [what = text, guess] = text.split('\n');
  const mend = /Did you mean (.+)\?/.exec(guess ?? '')?.[1];
  return complain(argv, usageFailure(`${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, '')}.`, mend === undefined ? 'svc --help' : `svc ${mend}`));
};

/** Prints what went wrong, once: to stderr for a person, as the one JSON value under --json. */
const complain = (argv: readonly string[], error: unknown): ExitCode => {
  const out = createTerminal(argv.includes('--no-color'));
  const failure = error instanceof Failure ? error : unexpected(error);
  if (argv.includes('--json')) {
    out.json(failureJson(failure));
    return failure.exit;
  }
  out.note(`${out.red('Error')}  ${failure.message}`);
  if (failure.why !== undefined) out.note(`  why   ${failure.why}`);
  if (failure.mend !== undefined) out.note(`  mend  ${out.cyan(failure.mend)}`);
  if (failure.requestId !== undefined && failure.mend?.includes(failure.requestId) !== true) out.note(out.dim(`  log   svc logs --request ${failure.requestId}`));
  return failure.exit;
};

/** Nobody foresaw it: the text is all there is, and where to report it. */
const unexpected = (error: unknown): Failure =>
  new Failure(error instanceof Error ? error.message : String(error), { code: 'cli_unexpected', why: error instanceof Error ? firstFrame(error) : undefined, mend: 'svc doctor' });

const firstFrame = (error: Error): string | undefined => error.stack?.split('\n').find((line) => line.trim().startsWith('at '))?.trim();

// A reader that closes early (`svc logs | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});
process.exitCode = await run(process.argv.slice(2));
