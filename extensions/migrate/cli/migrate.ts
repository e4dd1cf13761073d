/** `svc migrate`: finds a home, asks what is meant, shows how far it is, and prints the report. */
import { agreesAtTerminal, type Action, type Cli, choose, type Command, EXIT, Failure, facts, type Outcome, usageFailure, watched } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';

interface Flags {
  readonly from?: string;
  readonly sourceDir?: string;
  readonly dryRun?: boolean;
  readonly agent?: string[];
  readonly importSecrets?: boolean;
}

type Report = OutputOf<'getMigration'>;
type Daemon = Awaited<ReturnType<Cli['daemon']>>;

const POLL_MS = 250;
const LONG_MS = 600_000;
const SHOWN = 20;
const BAR_CELLS = 24;

export const define = (program: Command, action: Action): void => {
  program
    .command('migrate')
    .description('Import agents, conversations, memories, skills and jobs from another program; its home is only read')
    .option('--from <source>', 'openclaw, librefang, openfang, letta, hermes, or the path of a home')
    .option('--source-dir <path>', 'its home, if it is not the usual one')
    .option('--dry-run', 'show what would be imported, and change nothing')
    .option('--agent <name...>', 'only these agents')
    .option('--import-secrets', 'store keys of providers in the vault')
    .action(action((cli, flags: Flags) => migrate(cli, flags)));
};

const migrate = async (cli: Cli, flags: Flags): Outcome => {
  const daemon = await cli.daemon();
  const { source, isAsked } = flags.from === undefined ? await chosenSource(cli, daemon, flags) : { source: flags.from, isAsked: false };
  if (isAsked && flags.dryRun !== true) {
    const scan = await watched(cli.out, 'Looking', daemon.call('scanMigrationSource', { body: { path: source } }, { timeoutMs: LONG_MS }));
    for (const line of facts(
      [
        ['home', scan.path],
        ['agents', scan.agents.map(({ name }) => name).join(', ') || 'none'],
        ['conversations', String(scan.sessions)],
        ['memories', String(scan.memories)],
        ['skills', String(scan.skills.length)],
        ['jobs', String(scan.crons)],
      ],
      cli.out.width,
    ))
      cli.out.line(line);
    if (!(await agreesAtTerminal(cli, 'Import this?'))) return EXIT.ok;
  }
  const body = {
    source,
    ...(flags.sourceDir === undefined ? {} : { source_dir: flags.sourceDir }),
    ...(flags.dryRun === true ? { dry_run: true } : {}),
    ...(flags.agent === undefined ? {} : { agents: flags.agent }),
    ...(flags.importSecrets === true ? { import_secrets: true } : {}),
  };
  const { id } = await watched(cli.out, 'Opening', daemon.call('startMigration', { body }, { headers: { prefer: 'respond-async' }, timeoutMs: LONG_MS }));
  const report = await followed(cli, daemon, id);
  if (cli.json) cli.out.json(report);
  else print(cli, report);
  return report.status === 'completed' ? EXIT.ok : EXIT.failed;
};

const chosenSource = async (cli: Cli, daemon: Daemon, flags: Flags): Promise<{ source: string; isAsked: boolean }> => {
  if (flags.sourceDir !== undefined) return { source: flags.sourceDir, isAsked: false };
  const { sources } = await watched(cli.out, 'Looking', daemon.call('discoverMigrationSources', {}, { timeoutMs: LONG_MS }));
  if (sources.length === 0)
    throw new Failure('No home of OpenClaw, LibreFang, OpenFang, Letta or Hermes was found.', {
      code: 'cli_nothing_to_migrate',
      exit: EXIT.failed,
      why: 'svc looks into the usual folders of the user that runs the daemon',
      fix: 'svc migrate --from PATH; other folders are allowed under [migrate] roots in config.toml',
    });
  if (!cli.out.isTty || process.stdin.isTTY !== true) throw usageFailure(`Say which home you mean: ${sources.map(({ path }) => `svc migrate --from ${path}`).join(', or ')}`);
  return {
    source: await choose(
      'Which home?',
      sources.map(({ type, path, agents_found: agents }) => ({ value: path, label: `${type}  ${path}`, hint: `${agents} agents` })),
    ),
    isAsked: true,
  };
};

/** The bar is drawn where somebody watches. */
const followed = async (cli: Cli, daemon: Daemon, id: string): Promise<Report> => {
  const isWatched = cli.out.isTty && process.stderr.isTTY === true;
  let shown = '';
  for (;;) {
    const report = await daemon.call('getMigration', { id });
    const isOver = report.ended_at !== null;
    const text = isOver ? '' : barOf(report);
    if (isWatched) process.stderr.write(`\r${text}${' '.repeat(Math.max(0, shown.length - text.length))}${isOver ? '\r' : ''}`);
    shown = text;
    if (isOver) return report;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

const barOf = ({ progress: { done, total, step } }: Report): string => {
  const part = total === 0 ? 0 : Math.min(1, done / total);
  const filled = Math.round(part * BAR_CELLS);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_CELLS - filled)}] ${Math.round(part * 100)} % ${step}`;
};

const print = (cli: Cli, report: Report): void => {
  const { out } = cli;
  if (report.status === 'failed') {
    out.line(`${out.red('✗')} ${report.error ?? 'The import failed.'}`);
    return;
  }
  out.line(`${out.green('✓')} ${report.dry_run ? 'A dry run of' : 'Imported from'} ${report.path}`);
  const lines = Object.entries(report.found).map(([kind, found]): [string, string] => {
    const [imported, skipped] = [report.imported_by_kind[kind] ?? 0, report.skipped_by_kind[kind] ?? 0];
    return [kind, `${found} found, ${imported} ${report.dry_run ? 'would be imported' : 'imported'}, ${skipped} skipped`];
  });
  for (const line of facts([...lines, ['messages', `${report.messages_found} found, ${report.messages_imported} imported`]], out.width)) out.line(line);
  for (const warning of report.warnings) out.line(`! ${warning}`);
  for (const { kind, name, reason } of report.skipped.slice(0, SHOWN)) out.line(`- ${kind} ${name}: ${reason}`);
  if (report.skipped_count > SHOWN) out.line(`and ${report.skipped_count - SHOWN} more: svc migrate … --json`);
};
