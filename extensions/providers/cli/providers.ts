/** `svc providers`: who can answer, and the keys they need. A key is never an argument: arguments are seen by everyone. */
import { type Action, type Cli, type Command, EXIT, type Outcome, agreesAtTerminal, askSecret, facts, pipedSecret, readStatus, table, typed, usageFailure } from '@svc/cli/area';
import { knownProvider } from './providers/provider-lookup.js';

interface DefaultModel {
  readonly provider: string;
  readonly model: string;
  readonly why: string;
  readonly problem: string | null;
}

const READY = new Set(['configured', 'validated_key', 'no_key_needed', 'auto_detected']);
const WORDS: Readonly<Record<string, string>> = {
  configured: 'key set',
  validated_key: 'key works',
  no_key_needed: 'no key needed',
  auto_detected: 'found on this machine',
  missing: 'no key',
  invalid_key: 'key refused',
  local_offline: 'not running',
};

const NAME = 'its name, see `svc providers list`';

export const define = (program: Command, action: Action): void => {
  const providers = program.command('providers').description('Manage model providers and keys').helpCommand(false);
  providers
    .command('list')
    .description('List providers, available ones first')
    .action(action((cli) => list(cli)));
  providers
    .command('add')
    .description('Add an OpenAI-compatible provider of your own')
    .argument('<name>', 'its name')
    .argument('<url>', 'its base URL, such as http://127.0.0.1:9000/v1')
    .option('--key-stdin', 'read its key from stdin')
    .action(action(async (cli, name: string, url: string, flags: { keyStdin?: boolean }) => (await import('./providers/addresses.js')).add(cli, name, url, flags.keyStdin === true)));
  providers
    .command('set-url')
    .description("Set a provider's base URL")
    .argument('<provider>', NAME)
    .argument('<url>')
    .option('--proxy <proxy>', 'the proxy that leads there, such as http://proxy.example.com:3128; empty for none of its own')
    .action(action(async (cli, name: string, url: string, flags: { proxy?: string }) => (await import('./providers/addresses.js')).setUrl(cli, name, url, flags.proxy)));
  providers
    .command('remove-url')
    .description("Reset a provider's base URL; removes a custom provider and its key")
    .argument('<provider>', NAME)
    .action(action(async (cli, name: string) => (await import('./providers/addresses.js')).removeUrl(cli, name)));
  providers
    .command('test')
    .description('Test a provider and its key, for free; exit code 1 if it fails')
    .argument('<provider>', NAME)
    .option('--model <model>', 'also check for this model')
    .action(action(async (cli, name: string, flags: { model?: string }) => (await import('./providers/key-test.js')).test(cli, name, flags.model)));
  providers
    .command('set-key')
    .description("Store a provider's API key in the vault and test it")
    .argument('<provider>', NAME)
    .option('--stdin', 'read the key from stdin, for scripts')
    .option('--label <label>', 'one of several keys, as listed under [[credential_pools]] in config.toml')
    .action(action((cli, provider: string, flags: { stdin?: boolean; label?: string }) => setKey(cli, provider, flags.stdin === true, flags.label)));
  providers
    .command('remove-key')
    .description("Remove a provider's key")
    .argument('<provider>', NAME)
    .action(action((cli, provider: string) => removeKey(cli, provider)));
  providers
    .command('default')
    .description('Set the default provider, for agents whose model is `default`')
    .argument('<provider>', NAME)
    .argument('[model]', "one of its models; by default, the provider's default model")
    .action(action((cli, provider: string, model?: string) => setDefault(cli, provider, model)));
};

const list = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const { providers, default: chosen } = await daemon.call('listProviders');
  if (cli.json) {
    cli.out.json({ providers, total: providers.length, default: chosen ?? null });
    return EXIT.ok;
  }
  const sorted = [...providers].sort((a, b) => Number(READY.has(b.auth_status)) - Number(READY.has(a.auth_status)) || a.name.localeCompare(b.name));
  const rows = sorted.map((provider) => [provider.name, statusOf(provider), String(provider.model_count ?? ''), provider.env_var ?? '', provider.display_name]);
  const columns = [{ title: 'PROVIDER' }, { title: 'STATUS' }, { title: 'MODELS' }, { title: 'ENVIRONMENT', shrinks: true }, { title: 'NAME', shrinks: true }];
  const { dim, green, red } = cli.out;
  const paint = (text: string, column: number, row: number): string => {
    const status = sorted[row]?.auth_status ?? '';
    if (row < 0 || column > 1) return dim(text);
    return column === 1 ? (READY.has(status) ? green(text) : status === 'invalid_key' ? red(text) : dim(text)) : text;
  };
  for (const line of table(columns, rows, cli.out.width, paint)) cli.out.line(line);
  if (chosen) for (const line of facts([['default', `${chosen.provider} / ${chosen.model}`], ['why', typed(chosen.why)], ...problemOf(chosen)], cli.out.width)) cli.out.line(line);
  return EXIT.ok;
};

const HEALTH: Readonly<Record<string, string>> = {
  unreachable: 'unreachable',
  refused: 'key refused',
  out_of_credit: 'out of credit',
  limited: 'rate limited',
  overloaded: 'overloaded',
  failing: 'failing',
};

/** Its key, and what the daemon met when it called it. */
const statusOf = ({ auth_status, health }: { readonly auth_status: string; readonly health: string }): string =>
  [WORDS[auth_status] ?? auth_status, ...(health === 'ok' || (health === 'refused' && auth_status === 'invalid_key') ? [] : [HEALTH[health] ?? health])].join(', ');

const problemOf = ({ problem }: DefaultModel): Array<[string, string]> => (problem === null ? [] : [['problem', problem]]);

const setKey = async (cli: Cli, provider: string, isStdin: boolean, label: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  await knownProvider(daemon, provider); // an unknown name is said before the key is asked for
  const key = isStdin ? await pipedSecret() : await askSecret(cli, `API key of ${provider}`);
  if (key === '') throw usageFailure('The key is empty.');
  const answer = await daemon.call('setProviderKey', { name: provider, body: { api_key: key, ...(label === undefined ? {} : { label }) } });
  const { exitOfKey, keyLines, tryKey } = await import('./providers/key-test.js');
  const tried = await tryKey(cli, daemon, provider);
  const status = await readStatus(daemon);
  if (cli.json) cli.out.json({ ...answer, test: tried.test ?? null, models: tried.models, default_provider: status.default_provider ?? null, default_model: status.default_model ?? null });
  else {
    for (const line of keyLines(cli, provider, tried)) cli.out.line(line);
    cli.out.line(`  model  ${status.default_provider} / ${status.default_model}${status.default_model_why ? `   ${cli.out.dim(typed(status.default_model_why))}` : ''}`);
  }
  return exitOfKey(tried);
};

const removeKey = async (cli: Cli, provider: string): Outcome => {
  const daemon = await cli.daemon();
  await knownProvider(daemon, provider);
  if (!(await agreesAtTerminal(cli, `Remove the key of ${provider}? Agents that use it switch to their fallback models, or fail.`))) return EXIT.ok;
  const answer = await daemon.call('removeProviderKey', { name: provider });
  if (cli.json) cli.out.json(answer);
  else {
    cli.out.line(`${cli.out.green('✓')} ${provider} has no key any more.`);
    if (answer.suppressed) cli.out.note(cli.out.yellow(`The daemon's environment also has a key. It is not used until you set one: svc providers set-key ${provider}`));
  }
  return EXIT.ok;
};

const setDefault = async (cli: Cli, provider: string, model: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  await knownProvider(daemon, provider);
  const chosen = await daemon.call('setDefaultProvider', { name: provider, body: model === undefined ? {} : { model } });
  if (cli.json) cli.out.json(chosen);
  else {
    cli.out.line(`${cli.out.green('✓')} ${chosen.provider} / ${chosen.model} is now the default.`);
    if (chosen.problem !== null) cli.out.line(`  ${cli.out.yellow(chosen.problem)}`);
  }
  return EXIT.ok;
};
