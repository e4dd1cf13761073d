/** `svc vault`: what is kept, by name, and a new beginning where the key is lost. No command shows a value. */
import { type Action, type Cli, type Command, EXIT, type Outcome, confirm, facts } from '@svc/cli/area';
import type { VaultContents } from '@svc/client';

const WORDS: Readonly<Record<VaultContents['state'], string>> = { open: 'open', locked: 'locked', missing: 'empty: nothing has been kept yet', corrupt: 'damaged' };

export const define = (program: Command, action: Action): void => {
  const vault = program.command('vault').description('The secrets that are kept, by name').helpCommand(false);
  vault
    .command('status')
    .description('Does it open, and what is in it; exit code 1 when it does not open')
    .action(action((cli) => status(cli)));
  vault
    .command('reset')
    .description('Set the vault aside and begin an empty one: what is lost is shown and asked for first')
    .action(action((cli) => reset(cli)));
};

const read = async (cli: Cli): Promise<VaultContents> => (await cli.daemon()).call('getVault');

const status = async (cli: Cli): Outcome => {
  const found = await read(cli);
  if (cli.json) cli.out.json(found);
  else for (const line of facts(factsOf(found), cli.out.width, (text, label) => (label === 'mend' ? cli.out.cyan(text) : text))) cli.out.line(line);
  return found.why === null ? EXIT.ok : EXIT.failed;
};

const factsOf = ({ names, state, why }: VaultContents): Array<[string, string]> => [
  ['vault', why === null ? WORDS[state] : `${WORDS[state]}: ${why}`],
  ...(state === 'missing' ? [] : [['secrets', named(names)] satisfies [string, string]]),
  ...(why === null
    ? []
    : ([
        ['', 'keys in the environment work meanwhile'],
        ['mend', 'bring back SVC_VAULT_KEY, vault.key or a backup of vault.enc; where they are lost: svc vault reset'],
      ] satisfies Array<[string, string]>)),
];

const named = (names: readonly string[] | null): string => (names === null ? 'nobody can tell which: the file does not say' : names.length === 0 ? 'none' : names.join(', '));

const reset = async (cli: Cli): Outcome => {
  const found = await read(cli);
  if (found.state === 'missing') {
    if (cli.json) cli.out.json({ status: 'empty', set_aside: [], lost: [] });
    else cli.out.line('There is no vault yet, so there is nothing to reset.');
    return EXIT.ok;
  }
  const lines: Array<[string, string]> = [
    ['vault', found.why === null ? 'open: nothing is wrong with it' : `${WORDS[found.state]}: ${found.why}`],
    ['lost', named(found.names)],
    ['kept', 'its file, under a name with the date: with its key it can be put back'],
  ];
  if (!cli.json) for (const line of facts(lines, cli.out.width, (text, label) => (label === 'lost' ? cli.out.yellow(text) : text))) cli.out.note(line);
  if (!(await confirm(cli, 'Set the vault aside and begin an empty one?'))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  const answer = await (await cli.daemon()).call('resetVault', { confirm: true });
  if (cli.json) cli.out.json(answer);
  else {
    cli.out.line(`${cli.out.green('✓')} The vault was set aside as ${answer.set_aside.join(' and ')}; the new one is empty.`);
    cli.out.line('  next  svc providers set-key PROVIDER, for each key that was lost');
  }
  return EXIT.ok;
};
