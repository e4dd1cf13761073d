/** `svc vault`: what is stored, by name, and its key. A value is never shown, and never an argument: arguments are seen by everyone. */
import { type Action, type Cli, type Command, EXIT, Failure, type Outcome, agreesAtTerminal, askSecret, confirm, facts, pipedSecret, usageFailure } from '@svc/cli/area';
import type { VaultContents } from '@svc/client';

const WORDS: Readonly<Record<VaultContents['state'], string>> = { open: 'open', locked: 'locked', missing: 'empty: nothing has been stored yet', corrupt: 'damaged' };

export const define = (program: Command, action: Action): void => {
  const vault = program.command('vault').description('Stored secrets, by name').helpCommand(false);
  vault
    .command('status')
    .description("Show the vault's state and contents; exit code 1 if it cannot be opened")
    .action(action((cli) => status(cli)));
  vault
    .command('list')
    .description('List the names of stored secrets; their values are never shown')
    .action(action((cli) => list(cli)));
  vault
    .command('set')
    .description('Store a secret; asks for its value without showing it, or reads it from a pipe')
    .argument('<name>', 'such as search.brave')
    .option('--stdin', 'read the value from stdin, for scripts')
    .action(action((cli, name: string, flags: { stdin?: boolean }) => set(cli, name, flags.stdin === true)));
  vault
    .command('remove')
    .alias('rm')
    .description('Delete secrets')
    .argument('<names...>', 'see `svc vault list`')
    .action(action((cli, names: string[]) => remove(cli, names)));
  vault
    .command('rotate-key')
    .description('Create a new key for the vault and encrypt all secrets with it')
    .action(action((cli) => rotateKey(cli)));
  vault
    .command('reset')
    .description('Replace the vault with an empty one; shows what is lost and asks first')
    .action(action((cli) => reset(cli)));
};

const read = async (cli: Cli): Promise<VaultContents> => (await cli.daemon()).call('getVault');

const status = async (cli: Cli): Outcome => {
  const found = await read(cli);
  if (cli.json) cli.out.json(found);
  else for (const line of facts(factsOf(found), cli.out.width, (text, label) => (label === 'fix' ? cli.out.cyan(text) : text))) cli.out.line(line);
  return found.why === null ? EXIT.ok : EXIT.failed;
};

const list = async (cli: Cli): Outcome => {
  const { names, why } = await read(cli);
  if (names === null) throw new Failure(`The names are unknown: ${why ?? 'the vault is locked'}`, { code: 'vault_locked', fix: 'svc vault status' });
  if (cli.json) cli.out.json({ names });
  else for (const name of names) cli.out.line(name);
  return EXIT.ok;
};

const factsOf = ({ names, state, why }: VaultContents): Array<[string, string]> => [
  ['vault', why === null ? WORDS[state] : `${WORDS[state]}: ${why}`],
  ...(state === 'missing' ? [] : [['secrets', named(names)] satisfies [string, string]]),
  ...(why === null
    ? []
    : ([
        ['', 'keys in the environment keep working'],
        ['fix', 'restore SVC_VAULT_KEY, vault.key or a backup of vault.enc; if they are lost: svc vault reset'],
      ] satisfies Array<[string, string]>)),
];

const named = (names: readonly string[] | null): string => (names === null ? 'unknown' : names.length === 0 ? 'none' : names.join(', '));

const set = async (cli: Cli, name: string, isStdin: boolean): Outcome => {
  const daemon = await cli.daemon();
  const value = isStdin || !cli.out.canAsk ? await pipedSecret() : await askSecret(cli, `Value of ${name}`);
  if (value === '') throw usageFailure('The value is empty.', `svc vault set ${name} --stdin < FILE`);
  const answer = await daemon.call('setVaultSecret', { name, body: { value } });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} The secret ${name} is stored in the vault.`);
  return EXIT.ok;
};

const remove = async (cli: Cli, wanted: readonly string[]): Outcome => {
  const daemon = await cli.daemon();
  const names = [...new Set(wanted)];
  // All are found before the first one goes.
  const known = (await daemon.call('getVault')).names ?? names;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Failure(`The vault has no secret ${unknown}.`, { code: 'vault_not_found', fix: 'svc vault list' });
  if (!(await agreesAtTerminal(cli, `Delete ${names.join(', ')}? This cannot be undone.`))) return EXIT.ok;
  for (const name of names) await daemon.call('removeVaultSecret', { name });
  if (cli.json) cli.out.json({ status: 'removed', names });
  else cli.out.line(`${cli.out.green('✓')} Deleted ${names.join(', ')}.`);
  return EXIT.ok;
};

const rotateKey = async (cli: Cli): Outcome => {
  if (!(await agreesAtTerminal(cli, 'Create a new key and encrypt all secrets with it?'))) return EXIT.ok;
  const answer = await (await cli.daemon()).call('rotateVaultKey');
  if (cli.json) cli.out.json(answer);
  else {
    cli.out.line(`${cli.out.green('✓')} The vault has a new key; ${answer.secrets} ${answer.secrets === 1 ? 'secret is' : 'secrets are'} encrypted with it.`);
    cli.out.line(
      answer.earlier_key === null
        ? '  next  remove SVC_VAULT_KEY_PREVIOUS from the environment of the daemon'
        : `  note  Older backups need the earlier key, stored as ${answer.earlier_key}. If it was exposed, create a new backup and delete this file.`,
    );
  }
  return EXIT.ok;
};

const reset = async (cli: Cli): Outcome => {
  const found = await read(cli);
  if (found.state === 'missing') {
    if (cli.json) cli.out.json({ status: 'empty', set_aside: [], lost: [] });
    else cli.out.line('There is no vault yet, so there is nothing to reset.');
    return EXIT.ok;
  }
  const lines: Array<[string, string]> = [
    ['vault', found.why === null ? 'open and working' : `${WORDS[found.state]}: ${found.why}`],
    ['lost', named(found.names)],
    ['kept', 'its file, renamed with the date; you can restore it with its key'],
  ];
  if (!cli.json) for (const line of facts(lines, cli.out.width, (text, label) => (label === 'lost' ? cli.out.yellow(text) : text))) cli.out.note(line);
  if (!(await confirm(cli, 'Replace the vault with an empty one?'))) {
    cli.out.line('Nothing was changed.');
    return EXIT.ok;
  }
  const answer = await (await cli.daemon()).call('resetVault', { confirm: true });
  if (cli.json) cli.out.json(answer);
  else {
    cli.out.line(`${cli.out.green('✓')} The old vault was renamed to ${answer.set_aside.join(' and ')}; the new one is empty.`);
    cli.out.line('  next  svc providers set-key PROVIDER, for each key that was lost');
  }
  return EXIT.ok;
};
