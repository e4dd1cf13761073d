/** `svc status`: one request, one screen. */
import type { Command } from 'commander';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { duration, facts } from '../layout.js';
import { type DaemonStatus, readStatus } from '../daemon-status.js';

export const define = (program: Command, action: Action): void => {
  program
    .command('status')
    .description('Is the daemon running, where, with which model; exit code 0 healthy, 3 not running, 5 degraded')
    .action(action((cli) => status(cli)));
};

/** Found by the command table. */
export const direct = (cli: Cli): Outcome => status(cli);

const status = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const found = await readStatus(daemon);
  const isDegraded = found.status === 'degraded' || found.status === 'starting' || problems(found).length > 0;
  const file = cli.settings.daemonFile();
  if (cli.json) cli.out.json({ ...found, url: daemon.url, pid: file?.pid ?? null, degraded: isDegraded });
  else print(cli, found, daemon.url, file?.pid, isDegraded);
  return isDegraded ? EXIT.degraded : EXIT.ok;
};

const print = (cli: Cli, found: DaemonStatus, url: string, pid: number | undefined, isDegraded: boolean): void => {
  const { out } = cli;
  const dot = isDegraded ? out.yellow('●') : out.green('●');
  out.line(`${dot} svc ${found.version ?? ''} is ${found.status === 'starting' ? 'starting' : isDegraded ? 'running, but degraded' : 'running'}`);
  for (const line of facts([...statusFacts(found, url, pid), ...problems(found)], out.width, (text, label) => (label === 'problem' ? out.yellow(text) : text))) out.line(line);
};

/** Also what `svc start` shows. */
export const statusFacts = (found: DaemonStatus, url: string, pid: number | undefined): Array<[string, string]> => {
  const lines: Array<[string, string]> = [];
  const age = found.uptime_seconds === undefined ? '' : `up ${duration(found.uptime_seconds)}`;
  const aside = [pid === undefined ? '' : `pid ${pid}`, age].filter((text) => text !== '').join(', ');
  lines.push(['address', aside === '' ? url : `${url}  (${aside})`]);
  if (found.default_model) lines.push(['model', `${found.default_provider} / ${found.default_model}`]);
  if (found.default_model_why) lines.push(['why', found.default_model_why]);
  if (found.agent_count !== undefined) lines.push(['agents', String(found.agent_count)]);
  if (found.preset !== undefined) lines.push(['preset', found.preset]);
  if (found.data_dir !== undefined) lines.push(['data', found.data_dir]);
  return lines;
};

const problems = (found: DaemonStatus): Array<[string, string]> =>
  [...(found.config_problems ?? []), ...(found.health_problems ?? [])].map((problem, index): [string, string] => [index === 0 ? 'problem' : '', problem]);
