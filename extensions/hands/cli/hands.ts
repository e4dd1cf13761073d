/** `svc hands`: what takes a file, a pair of words, or an answer in between. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Action, agreesAtTerminal, type Cli, type Command, EXIT, type Outcome, table, watched } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';

const HAND = 'id of the hand, as svc hands list shows it';
const LONG_MS = 60_000;
const FILE = 'HAND.toml';
/** Each waits up to 25 seconds. */
const MAX_ROUNDS = 80;

export const define = (program: Command, action: Action): void => {
  const hands = program.command('hands').description('Agents with a purpose, settings and a schedule, made from one file').helpCommand(false);
  hands
    .command('install')
    .description('Install a hand from a HAND.toml, or by its name from registry/hands of the home')
    .argument('<source>', 'a file, its folder, or a name')
    .option('--accept-findings', 'install it although texts of it look like orders that were slipped in')
    .action(action((cli, source: string, flags: { acceptFindings?: boolean }) => install(cli, source, flags.acceptFindings === true)));
  hands
    .command('set')
    .description('Change your setting of a hand; it holds from the next activation')
    .argument('<hand>', HAND)
    .argument('<key>', 'the setting')
    .argument('[value]', 'left out: its default again')
    .action(action((cli, hand: string, key: string, value?: string) => set(cli, hand, key, value)));
  hands
    .command('install-deps')
    .description('Install the programs that a hand needs, after it has shown the commands')
    .argument('<hand>', HAND)
    .action(action((cli, hand: string) => installDeps(cli, hand)));
};

/** A file or a folder that is there; else undefined, and it is a name. */
const fileOf = async (source: string): Promise<string | undefined> => {
  const found = await stat(source).catch(() => undefined);
  if (!found) return undefined;
  return found.isDirectory() ? path.join(source, FILE) : source;
};

const install = async (cli: Cli, source: string, accepts: boolean): Outcome => {
  const daemon = await cli.daemon();
  const file = await fileOf(source);
  const skill = file === undefined ? undefined : await readFile(path.join(path.dirname(file), 'SKILL.md'), 'utf8').catch(() => undefined);
  const what = file === undefined ? { slug: source } : { toml_content: await readFile(file, 'utf8'), ...(skill === undefined || skill === '' ? {} : { skill_content: skill }) };
  const made = await daemon.call('installHand', { body: { ...what, ...(accepts ? { accept_findings: true } : {}) } });
  if (cli.json) {
    cli.out.json(made);
    return EXIT.ok;
  }
  cli.out.line(`${cli.out.green('✓')} Installed ${made.id}: ${made.name}. Read what it does: svc hands info ${made.id}`);
  for (const one of made.requirements.filter(({ satisfied }) => !satisfied)) cli.out.line(`  needs ${one.label}${one.command === undefined ? '' : ` (${one.command})`}`);
  for (const remark of made.remarks) cli.out.line(`  ${remark}`);
  return EXIT.ok;
};

const set = async (cli: Cli, hand: string, key: string, value: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  const done = await daemon.call('updateHandSettings', { hand_id: hand, body: { [key]: value ?? null } });
  if (cli.json) cli.out.json(done);
  else
    cli.out.line(
      `${cli.out.green('✓')} ${key} is ${done.config[key] === undefined || done.config[key] === '' ? 'empty' : done.config[key]}.${done.instance_id === null ? '' : ' The active hand has it once it is activated again.'}`,
    );
  return EXIT.ok;
};

const installDeps = async (cli: Cli, hand: string): Outcome => {
  const daemon = await cli.daemon();
  const { plan } = await daemon.call('checkHandDependencies', { hand_id: hand });
  const todo = plan.filter(({ status }) => status === 'waiting');
  if (todo.length === 0) return shown(cli, plan);
  for (const { command } of todo) cli.out.line(`  ${command ?? ''}`);
  if (!(await agreesAtTerminal(cli, `Run ${todo.length === 1 ? 'this command' : `these ${todo.length} commands`} on the machine of the daemon?`))) return EXIT.ok;
  let results: OutputOf<'installHandDependencies'>['results'] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    ({ results } = await watched(cli.out, 'Installing', daemon.call('installHandDependencies', { hand_id: hand }, { timeoutMs: LONG_MS })));
    if (!results.some(({ status }) => status === 'waiting' || status === 'running')) break;
  }
  return shown(cli, results);
};

const shown = (cli: Cli, results: OutputOf<'installHandDependencies'>['results']): ReturnType<() => Awaited<Outcome>> => {
  if (cli.json) cli.out.json({ results });
  else if (results.length === 0) cli.out.line('It needs nothing.');
  else
    for (const line of table(
      ['NEEDS', 'STATUS', 'MESSAGE'].map((title) => ({ title })),
      results.map(({ key, status, message }) => [key, status, message]),
      cli.out.width,
    ))
      cli.out.line(line);
  return results.some(({ status }) => status === 'error' || status === 'timeout') ? EXIT.failed : EXIT.ok;
};
