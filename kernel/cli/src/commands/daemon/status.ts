/** `svc status`: one request, one screen. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Cli, Outcome } from '../../cli.js';
import type { Action } from '../../command.js';
import { EXIT, type ExitCode } from '../../exit-codes.js';
import { Failure, usageFailure } from '../../failure.js';
import { duration, facts } from '../../terminal/layout.js';
import { type DaemonStatus, lookAtDaemon } from '../../daemon/daemon-status.js';
import type { Terminal } from '../../terminal/terminal.js';

export const define = (program: Command, action: Action): void => {
  program
    .command('status')
    .description('Show whether the daemon runs, its address and default model; exit code 0 healthy, 3 not running, 5 degraded')
    .option('-v, --verbose', 'also show folders, versions and memory')
    .option('-q, --quiet', 'print nothing; the exit code says it')
    .option('--watch <seconds>', 'show it again this often, until Ctrl-C')
    .action(action((cli, flags: StatusFlags) => (flags.watch === undefined ? status(cli, flags) : watch(cli, flags, flags.watch))));
};

interface StatusFlags {
  readonly verbose?: boolean;
  readonly quiet?: boolean;
  readonly watch?: string;
}

const MAX_WATCH_SECONDS = 3_600;

/** Ends with what it saw last. A daemon that is away is seen as well. */
const watch = async (cli: Cli, flags: StatusFlags, every: string): Outcome => {
  const seconds = /^\d{1,4}$/.test(every) ? Number(every) : 0;
  if (seconds < 1 || seconds > MAX_WATCH_SECONDS) throw usageFailure(`--watch is "${every}"; seconds from 1 to ${MAX_WATCH_SECONDS} were expected.`);
  const over = new AbortController();
  process.once('SIGINT', () => over.abort());
  let last: ExitCode = EXIT.ok;
  while (!over.signal.aborted) {
    if (cli.out.isTty && !cli.json) cli.out.clear();
    last = await status(cli, flags).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      cli.out.line(error.message);
      return error.exit;
    });
    await sleep(seconds * 1_000, undefined, { signal: over.signal }).catch(() => undefined); // Ctrl-C
  }
  return last;
};

/** A quick command passes its options as a set, of which there are none. */
export const status = async (cli: Cli, { quiet, verbose }: StatusFlags = {}): Outcome => {
  const daemon = await cli.daemon();
  const found = await lookAtDaemon(cli, daemon);
  const file = cli.settings.daemonFile();
  if (quiet === true) return exitOf(found);
  if (cli.json) cli.out.json({ ...found, url: daemon.url, pid: file?.pid ?? null, degraded: isDegraded(found) });
  else for (const line of statusLines(found, daemon.url, file?.pid, cli.out, verbose === true ? more(found) : [])) cli.out.line(line);
  return exitOf(found);
};

/** Also what `svc start` ends with. */
export const exitOf = (found: DaemonStatus): ExitCode => (found.status === 'refused' ? EXIT.refused : isDegraded(found) ? EXIT.degraded : EXIT.ok);

const isDegraded = (found: DaemonStatus): boolean => ['degraded', 'starting', 'closed'].includes(found.status) || (found.config_problems ?? []).length > 0 || (found.health_problems ?? []).length > 0;

const WORDS: Readonly<Record<string, string>> = {
  starting: 'is starting',
  closed: 'is running, but closed to everyone',
  refused: 'is running; its details require a key',
};

const statusLines = (found: DaemonStatus, url: string, pid: number | undefined, out: Terminal, below: ReadonlyArray<[string, string]>): string[] => {
  const dot = exitOf(found) === EXIT.ok ? out.green('●') : out.yellow('●');
  const words = WORDS[found.status] ?? (isDegraded(found) ? 'is running, but degraded' : 'is running');
  return [`${dot} svc ${found.version === undefined ? '' : `${found.version} `}${words}`, ...statusFacts(found, url, pid, out, below)];
};

const more = (found: DaemonStatus): Array<[string, string]> =>
  (
    [
      ['config', found.config_file],
      ['logs', found.log_dir],
      ['log level', found.log_level],
      ['node', found.runtime_version],
      ['machine', found.hostname === undefined ? undefined : `${found.hostname} (${found.platform} ${found.arch})`],
      ['memory', found.memory_used_mb === undefined ? undefined : `${found.memory_used_mb} MB`],
      ['active', found.active_agent_count?.toString()],
      ['sessions', found.session_count?.toString()],
    ] as const
  ).flatMap(([label, value]) => (value === undefined ? [] : [[label, value] satisfies [string, string]]));

/** Also what `svc start` shows; `more` stands below. */
export const statusFacts = (found: DaemonStatus, url: string, pid: number | undefined, out: Terminal, more: ReadonlyArray<[string, string]> = []): string[] => {
  const lines: Array<[string, string]> = [];
  const age = found.uptime_seconds === undefined ? '' : `up ${duration(found.uptime_seconds)}`;
  const aside = [pid === undefined ? '' : `pid ${pid}`, age].filter((text) => text !== '').join(', ');
  lines.push(['address', aside === '' ? url : `${url}  (${aside})`]);
  if (found.default_model) lines.push(['model', `${found.default_provider} / ${found.default_model}`]);
  if (found.default_model_why) lines.push(['why', found.default_model_why]);
  if (found.default_model_problem) lines.push(['', found.default_model_problem]);
  if (found.agent_count !== undefined) lines.push(['agents', String(found.agent_count)]);
  if (found.preset !== undefined) lines.push(['preset', found.preset]);
  if (found.data_dir !== undefined) lines.push(['data', found.data_dir]);
  if (found.database !== undefined) lines.push(['database', found.database]);
  return facts([...lines, ...problems(found), ...more], out.width, (text, label) => (label === 'problem' ? out.yellow(text) : label === 'fix' ? out.cyan(text) : text));
};

const problems = (found: DaemonStatus): Array<[string, string]> => {
  const said = [...(found.status === 'closed' ? [found.why ?? ''] : []), ...(found.config_problems ?? [])];
  const lines = said.map((problem, index): [string, string] => [index === 0 ? 'problem' : '', problem]);
  if (found.status === 'refused') lines.push(['fix', `${found.why} SVC_API_KEY=<the key> svc status`]);
  else if ((found.config_problems ?? []).length > 0) lines.push(['fix', 'fix config.toml; svc reloads it when you save it']);
  return [...lines, ...findings(found)];
};

/** The finding that stands for all that is wrong in config.toml. */
const SETTINGS_CHECK = 'ConfigTomlSchemaCheck';

/** As `svc doctor` says them; those of config.toml stand above with their lines. An older daemon has sentences alone. */
const findings = ({ config_problems = [], health_problems = [], problems: found }: DaemonStatus): Array<[string, string]> => {
  if (found === undefined) return health_problems.map((problem) => ['problem', problem]);
  return found
    .filter(({ check }) => check !== SETTINGS_CHECK || config_problems.length === 0)
    .flatMap(({ check, fix, message }): Array<[string, string]> => [['problem', `${check}: ${message}`], ...(fix === undefined ? [] : ([['fix', fix]] satisfies Array<[string, string]>))]);
};
