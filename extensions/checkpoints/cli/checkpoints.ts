/** `svc checkpoints`: snapshots of the files of an agent, and the way back. */
import { type Action, type Cli, type Command, type DaemonClient, EXIT, type Outcome, agoText, agreesAtTerminal, printable, table } from '@svc/cli/area';
import { findAgent } from '@svc/ext-agents/cli';
import type { OutputOf } from '@svc/client';

const AGENT = 'name or id';
const COMMIT = 'commit id, or its first digits';

export const define = (program: Command, action: Action): void => {
  const checkpoints = program.command('checkpoints').description('List, preview and restore checkpoints').helpCommand(false);
  checkpoints
    .command('list')
    .description('List checkpoints, newest first')
    .argument('<agent>', AGENT)
    .option('--limit <count>', 'how many at most', '20')
    .action(action((cli, agent: string, flags: { limit: string }) => list(cli, agent, Number(flags.limit))));
  checkpoints
    .command('show')
    .description('Show what restoring a checkpoint would change')
    .argument('<agent>', AGENT)
    .argument('<commit>', COMMIT)
    .action(action((cli, agent: string, commit: string) => show(cli, agent, commit)));
  checkpoints
    .command('restore')
    .description('Write the files of a checkpoint back; files that came later stay')
    .argument('<agent>', AGENT)
    .argument('<commit>', COMMIT)
    .action(action((cli, agent: string, commit: string) => restore(cli, agent, commit)));
};

const at = async (cli: Cli, wanted: string): Promise<{ daemon: DaemonClient; id: string; name: string }> => {
  const daemon = await cli.daemon();
  const { id, name } = await findAgent(daemon, wanted);
  return { daemon, id, name };
};

const list = async (cli: Cli, wanted: string, limit: number): Outcome => {
  const { daemon, id, name } = await at(cli, wanted);
  const found = await daemon.call('listCheckpoints', { agent_id: id, limit });
  if (cli.json) cli.out.json(found);
  else if (found.total === 0) cli.out.line(`${name} has no checkpoints yet. One is taken before it writes a file or runs a command.`);
  else {
    const now = Date.now();
    const { dim } = cli.out;
    const rows = found.items.map((one) => [one.short, one.tool, printable(one.path), agoText(one.created_at, now)]);
    for (const line of table([{ title: 'COMMIT' }, { title: 'BEFORE' }, { title: 'PATH', shrinks: true }, { title: 'TAKEN' }], rows, cli.out.width, (text, column, row) =>
      row < 0 || column > 2 ? dim(text) : text,
    ))
      cli.out.line(line);
    if (found.total > found.items.length) cli.out.note(dim(`${found.total - found.items.length} older ones: --limit ${found.total}`));
  }
  return EXIT.ok;
};

const show = async (cli: Cli, wanted: string, commit: string): Outcome => {
  const { daemon, id } = await at(cli, wanted);
  const found = await daemon.call('previewCheckpoint', { commit, agent_id: id });
  if (cli.json) cli.out.json(found);
  else {
    const different = found.files.filter(({ state }) => state !== 'same');
    if (different.length === 0) cli.out.line('All files are as in this checkpoint.');
    for (const path of found.created_later) cli.out.line(cli.out.dim(`created later, stays  ${printable(path)}`));
    for (const { path, state, diff } of different) {
      cli.out.line(`${state === 'missing' ? 'deleted' : 'changed'}  ${printable(path)}`);
      for (const line of diff === null ? [] : diff.trimEnd().split('\n').slice(2)) cli.out.line(`  ${coloured(cli, printable(line))}`);
    }
  }
  return EXIT.ok;
};

const coloured = ({ out }: Cli, line: string): string => (line.startsWith('+') ? out.green(line) : line.startsWith('-') ? out.red(line) : line.startsWith('@@') ? out.dim(line) : line);

const restore = async (cli: Cli, wanted: string, commit: string): Outcome => {
  const { daemon, id, name } = await at(cli, wanted);
  const { files, working_dir: folder, commit: whole } = await daemon.call('previewCheckpoint', { commit, agent_id: id });
  const different = files.filter(({ state }) => state !== 'same').length;
  if (!(await agreesAtTerminal(cli, `Restore ${different} ${different === 1 ? 'file' : 'files'} of ${name}? The present state becomes a checkpoint first.`))) return EXIT.ok;
  const result = await daemon.call('restoreCheckpoint', { body: { working_dir: folder, commit: whole } });
  if (cli.json) cli.out.json(result);
  else report(cli, result);
  return EXIT.ok;
};

const report = ({ out }: Cli, { files_restored: count, safety_commit: safety, skipped, not_kept: notKept }: OutputOf<'restoreCheckpoint'>): void => {
  out.line(`${out.green('✓')} ${count} ${count === 1 ? 'file' : 'files'} restored. The state before is ${safety.slice(0, 10)}.`);
  for (const { path, why } of skipped) out.line(`${out.yellow('!')} ${printable(path)} was not restored: ${why.replaceAll('_', ' ')}`);
  for (const { path, why } of notKept) out.line(`${out.yellow('!')} ${printable(path)} was changed by a command and is in no checkpoint: ${why.replaceAll('_', ' ')}`);
};
