/** `svc providers`: who can answer, and the keys they need. A key is never an argument: arguments are seen by everyone. */
import type { Command } from 'commander';
import { askSecret, pipedSecret } from '../terminal/asking.js';
import type { Cli, Outcome } from '../cli.js';
import type { Action } from '../command.js';
import { readStatus } from '../daemon/daemon-status.js';
import { EXIT } from '../exit-codes.js';
import { usageFailure } from '../failure.js';
import { facts, table } from '../terminal/layout.js';
import { typed } from '../typed-command.js';

interface DefaultModel {
  readonly provider: string;
  readonly model: string;
  readonly why: string;
  readonly problem: string | null;
}

const READY = new Set(['configured', 'no_key_needed', 'auto_detected']);
const WORDS: Readonly<Record<string, string>> = {
  configured: 'key set',
  no_key_needed: 'no key needed',
  auto_detected: 'found on this machine',
  missing: 'no key',
  invalid_key: 'key refused',
  local_offline: 'not running',
};

export const define = (program: Command, action: Action): void => {
  const providers = program.command('providers').description('Model providers and their keys').helpCommand(false);
  providers
    .command('list')
    .description('Every provider, those that can answer first')
    .action(action((cli) => list(cli)));
  providers
    .command('set-key')
    .description("Store a provider's API key in the vault; it works at once")
    .argument('<provider>', 'its name, see `svc providers list`')
    .option('--stdin', 'read the key from stdin, for scripts')
    .action(action((cli, provider: string, flags: { stdin?: boolean }) => setKey(cli, provider, flags.stdin === true)));
  providers
    .command('default')
    .description('Let a provider answer for agents whose model is `default`; it stays until you choose again')
    .argument('<provider>', 'its name, see `svc providers list`')
    .argument('[model]', 'one of its models; its usual one when left out')
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
  const rows = sorted.map((provider) => [provider.name, WORDS[provider.auth_status] ?? provider.auth_status, String(provider.model_count ?? ''), provider.env_var ?? '', provider.display_name]);
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

const problemOf = ({ problem }: DefaultModel): Array<[string, string]> => (problem === null ? [] : [['problem', problem]]);

const setKey = async (cli: Cli, provider: string, isStdin: boolean): Outcome => {
  const daemon = await cli.daemon();
  await daemon.call('getProvider', { name: provider }); // an unknown name is said before the key is asked for
  const key = isStdin ? await pipedSecret() : await askSecret(cli, `API key of ${provider}`);
  if (key === '') throw usageFailure('The key is empty.');
  const answer = await daemon.call('setProviderKey', { name: provider, body: { api_key: key } });
  const status = await readStatus(daemon);
  if (cli.json) cli.out.json({ ...answer, default_provider: status.default_provider ?? null, default_model: status.default_model ?? null });
  else {
    cli.out.line(`${cli.out.green('✓')} The key of ${provider} is stored.`);
    cli.out.line(`  model  ${status.default_provider} / ${status.default_model}${status.default_model_why ? `   ${cli.out.dim(typed(status.default_model_why))}` : ''}`);
  }
  return EXIT.ok;
};

const setDefault = async (cli: Cli, provider: string, model: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  const chosen = await daemon.call('setDefaultProvider', { name: provider, body: model === undefined ? {} : { model } });
  if (cli.json) cli.out.json(chosen);
  else {
    cli.out.line(`${cli.out.green('✓')} ${chosen.provider} / ${chosen.model} answers for \`default\` from now on.`);
    if (chosen.problem !== null) cli.out.line(`  ${cli.out.yellow(chosen.problem)}`);
  }
  return EXIT.ok;
};
