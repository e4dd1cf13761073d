/** The CLI from its arguments to its exit code. It loads neither the kernel nor the database, and no more than the command needs. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCli } from './cli.js';
import { COMMANDS } from './command-table.js';
import type { ExitCode } from './exit-codes.js';
import { Failure, failureJson } from './failure.js';
import type { GlobalFlags } from './settings.js';
import { leaveWithReader } from './terminal/reader.js';
import { createTerminal } from './terminal/terminal.js';
import { typed } from './typed-command.js';

/** Flags that take the next argument, skipped when looking for the command's name. */
const FLAGS_WITH_VALUE = new Set(['--home', '--port']);

/** This bundle is dist/cli/main.js. */
const distDir = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const run = async (given: readonly string[]): Promise<ExitCode> => {
  const argv = helpAsOption(given);
  const name = commandName(argv);
  const entry = name === undefined || !Object.hasOwn(COMMANDS, name) ? undefined : COMMANDS[name];
  const words = entry?.plain && plainWords(argv, entry.plain);
  // `svc status` is typed most: without the parser it costs little more than an empty Node.
  if (entry !== undefined && words !== undefined) {
    const { direct } = await entry.load();
    if (direct !== undefined) return direct(createCli(words.flags, distDir), words.options);
  }
  const { runProgram } = await import('./program.js');
  return runProgram(argv, entry, distDir);
};

/** `svc help`, `svc help agent kill` and `svc agent help kill` are other ways to write `--help`. */
const helpAsOption = (argv: readonly string[]): readonly string[] => {
  const first = commandName(argv);
  const at = argv.indexOf(first === 'help' || first === undefined ? 'help' : first) + (first === 'help' ? 0 : 1);
  if (argv[at] !== 'help' || (first !== 'help' && COMMANDS[first ?? '']?.isGroup !== true)) return argv;
  const rest = [...argv.slice(0, at), ...argv.slice(at + 1)];
  const asked = commandName(rest);
  // Help for what is not there is a typing error.
  return asked === undefined || Object.hasOwn(COMMANDS, asked) ? [...rest, '--help'] : rest;
};

const commandName = (argv: readonly string[]): string | undefined => {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-')) return word;
    if (FLAGS_WITH_VALUE.has(word)) index++;
  }
  return undefined;
};

/** The global flags and the command's `own` options, when there is nothing else but one command; undefined leaves it to the parser. */
const plainWords = (argv: readonly string[], own: readonly string[]): { flags: GlobalFlags; options: ReadonlySet<string> } | undefined => {
  const flags: GlobalFlags = {};
  const options = new Set<string>();
  let names = 0;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index];
    if (word === '--json') flags.json = true;
    else if (word === '--yes' || word === '-y') flags.yes = true;
    else if (word === '--no-color') flags.color = false;
    else if ((word === '--home' || word === '--port') && argv[index + 1] !== undefined) flags[word === '--home' ? 'home' : 'port'] = argv[++index] ?? '';
    else if (word !== undefined && own.includes(word)) options.add(word);
    else if (word?.startsWith('-') || ++names > 1) return undefined;
  }
  return { flags, options };
};

/** Prints what went wrong, once: to stderr for a person, as the one JSON value under --json. */
const complain = (argv: readonly string[], error: unknown): ExitCode => {
  const out = createTerminal(argv.includes('--no-color'));
  const failure = error instanceof Failure ? error : unexpected(error);
  if (argv.includes('--json')) {
    out.json(failureJson(failure, typed));
    return failure.exit;
  }
  out.note(`${out.red('Error')}  ${typed(failure.message)}`);
  if (failure.why !== undefined) out.note(`  why   ${typed(failure.why)}`);
  if (failure.mend !== undefined) out.note(`  mend  ${out.cyan(typed(failure.mend))}`);
  if (failure.requestId !== undefined && failure.mend?.includes(failure.requestId) !== true) out.note(out.dim(typed(`  log   svc logs --request ${failure.requestId}`)));
  return failure.exit;
};

/** Nobody foresaw it: the text is all there is, and where it came from. */
const unexpected = (error: unknown): Failure =>
  new Failure(error instanceof Error ? error.message : String(error), { code: 'cli_unexpected', why: error instanceof Error ? firstFrame(error) : undefined, mend: 'svc doctor' });

const firstFrame = (error: Error): string | undefined =>
  error.stack
    ?.split('\n')
    .find((line) => line.trim().startsWith('at '))
    ?.trim();

leaveWithReader();
const argv = process.argv.slice(2);
process.exitCode = await run(argv).catch((error: unknown) => complain(argv, error));
