/** `svc logs`: show the daemon's log. Reads the files, so it works when the daemon does not. */
import type { Command } from 'commander';
import type { Cli, Outcome } from '../../cli.js';
import type { Action } from '../../command.js';
import { EXIT } from '../../exit-codes.js';
import { Failure, usageFailure } from '../../failure.js';
import { allLines, followLines, lastLines, type LogEnd, type LogLine, logEnd } from '../../log-files.js';
import { printable, type Terminal } from '../../terminal/terminal.js';

const MAX_VALUE_CHARS = 300;

interface LogFlags {
  follow?: boolean;
  lines: string;
  request?: string;
}

export const define = (program: Command, action: Action): void => {
  program
    .command('logs')
    .description("Show the daemon's log, newest last. Works without a running daemon.")
    .option('-f, --follow', 'follow new lines; Ctrl-C to stop')
    .option('-n, --lines <count>', 'number of lines', '50')
    .option('--request <id>', 'only lines of this request, from all stored days (the id is in the header x-request-id and in every error)')
    .action(action((cli, flags: LogFlags) => logs(cli, flags)));
};

const logs = async (cli: Cli, flags: LogFlags): Outcome => {
  if (!/^\d{1,6}$/.test(flags.lines)) throw usageFailure(`--lines is "${flags.lines}"; it takes a number.`);
  const dir = cli.settings.logDir;
  // Taken once, so that no line is missed or shown twice that is written while the older ones are read.
  const end = await logEnd(dir);
  if (flags.follow !== true && end.files.length === 0) {
    throw new Failure('There are no logs yet.', { code: 'cli_no_logs', why: `no daemon-*.log in ${dir}`, fix: 'svc start' });
  }
  const wanted = (line: string): boolean => flags.request === undefined || line.includes(flags.request);
  const newest = flags.request === undefined ? await lastLines(end, Number(flags.lines)) : await search(end, wanted);
  for (const line of newest) show(cli, line);
  if (flags.follow !== true) return foundAny(newest, flags);
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort());
  for await (const line of followLines(dir, end, abort.signal)) if (wanted(line)) show(cli, line);
  return EXIT.ok;
};

const foundAny = (lines: readonly string[], flags: LogFlags): typeof EXIT.ok => {
  if (lines.length > 0 || flags.request === undefined) return EXIT.ok;
  throw new Failure(`No log line has the request id ${flags.request}.`, {
    code: 'cli_request_not_logged',
    why: 'it may be older than the 7 stored days, or it logged nothing',
    fix: 'svc logs --lines 100',
  });
};

const search = async (end: LogEnd, wanted: (line: string) => boolean): Promise<string[]> => {
  const found: string[] = [];
  for await (const line of allLines(end)) if (wanted(line)) found.push(line);
  return found;
};

/** Under --json one object per line, as the daemon wrote it. */
const show = (cli: Cli, line: string): void => {
  if (cli.json) cli.out.line(line);
  else cli.out.line(humanLine(line, cli.out));
};

export const humanLine = (line: string, out: Terminal): string => {
  const entry = parse(line);
  if (entry === undefined) return printable(line);
  const time = (entry.timestamp ?? '').slice(5, 19).replace('T', ' ');
  const level = (entry.level ?? '').padEnd(5);
  const paint = entry.level === 'error' ? out.red : entry.level === 'warn' ? out.yellow : out.dim;
  const values = Object.entries(entry.fields ?? {}).map(([key, value]) => `${out.dim(`${key}=`)}${short(value)}`);
  const request = entry.request_id === undefined ? [] : [out.dim(`request=${entry.request_id}`)];
  const stack = Object.values(entry.fields ?? {})
    .flatMap(stackLines)
    .map((text) => `\n      ${out.dim(text)}`);
  return [out.dim(time), paint(level), out.bold((entry.ext ?? entry.target ?? '').padEnd(10)), printable(entry.message ?? ''), ...values, ...request].join(' ').trimEnd() + stack.join('');
};

const parse = (line: string): LogLine | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as LogLine) : undefined;
  } catch {
    return undefined; // not a line of the daemon's log: shown as it is
  }
};

const short = (value: unknown): string => {
  const shown = typeof value === 'object' && value !== null && 'message' in value ? value.message : value;
  const text = typeof shown === 'string' ? (/^[\w./:@-]+$/.test(shown) ? shown : JSON.stringify(shown)) : JSON.stringify(shown);
  return printable(text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text);
};

/** Where an error came from, below its line. */
const stackLines = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null || !('stack' in value) || typeof value.stack !== 'string') return [];
  return value.stack
    .split('\n')
    .map((line) => printable(line.trim()))
    .filter((line) => line.startsWith('at '))
    .slice(0, 6);
};
