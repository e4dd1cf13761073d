/** `svc providers add`, `set-url` and `remove-url`: where providers are reached. */
import { type Cli, type DaemonClient, EXIT, Failure, type Outcome, agreesAtTerminal, pipedSecret, usageFailure, watched } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { knownProvider } from './provider-lookup.js';
import { exitOfKey, keyLines, tryKey } from './key-test.js';

type Saved = OutputOf<'setProviderUrl'>;

export const add = async (cli: Cli, name: string, url: string, isKeyPiped: boolean): Outcome => {
  const daemon = await cli.daemon();
  if (await isThere(daemon, name)) throw new Failure(`There is already a provider ${name}.`, { code: 'cli_provider_exists', fix: `svc providers set-url ${name} ${url}   or choose another name` });
  const key = isKeyPiped ? await pipedSecret() : undefined;
  if (key === '') throw usageFailure('The key is empty.');
  const saved = await watched(cli.out, `asking ${name}`, daemon.call('setProviderUrl', { name, body: { url, create: true } }));
  if (key === undefined) return said(cli, saved, 'is added');
  await daemon.call('setProviderKey', { name, body: { api_key: key } });
  const tried = await tryKey(cli, daemon, name);
  if (cli.json) cli.out.json({ ...saved, test: tried.test ?? null, models: tried.models });
  else {
    cli.out.line(`${cli.out.green('✓')} ${name} is added: ${saved.base_url}`);
    for (const line of keyLines(cli, name, tried)) cli.out.line(line);
  }
  return exitOfKey(tried);
};

const isThere = async (daemon: DaemonClient, name: string): Promise<boolean> =>
  daemon.call('getProvider', { name }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Failure && error.status === 404) return false;
      throw error;
    },
  );

export const setUrl = async (cli: Cli, name: string, url: string, proxy: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  await knownProvider(daemon, name);
  return said(cli, await watched(cli.out, `asking ${name}`, daemon.call('setProviderUrl', { name, body: { url, ...(proxy === undefined ? {} : { proxy_url: proxy }) } })), 'now uses this address');
};

const MAX_NAMED = 5;

const said = async (cli: Cli, saved: Saved, what: string): Outcome => {
  const { base_url, discovered_models: models, latency_ms, message, provider, reachable } = saved;
  if (cli.json) {
    cli.out.json(saved);
    return EXIT.ok;
  }
  cli.out.line(`${cli.out.green('✓')} ${provider} ${what}: ${base_url}`);
  if (!reachable) cli.out.note(`  ${cli.out.yellow(message ?? 'There is no response at the moment.')}`);
  else if (models === undefined) cli.out.line(`  ${message ?? `It answers (${latency_ms} ms), but lists no models without a key: svc providers set-key ${provider}`}`);
  else cli.out.line(`  It answers (${latency_ms} ms) with ${models.length} models${models.length === 0 ? '' : `: ${models.slice(0, MAX_NAMED).join(', ')}${models.length > MAX_NAMED ? ', …' : ''}`}`);
  return EXIT.ok;
};

export const removeUrl = async (cli: Cli, name: string): Outcome => {
  const daemon = await cli.daemon();
  const { is_custom } = await knownProvider(daemon, name);
  if (is_custom && !(await agreesAtTerminal(cli, `${name} is a custom provider. Remove it with its key?`))) return EXIT.ok;
  const answer = await daemon.call('removeProviderUrl', { name });
  if (cli.json) cli.out.json(answer);
  else cli.out.line(`${cli.out.green('✓')} ${answer.base_url === null ? `${name} is gone` : `${name} uses ${answer.base_url} again`}`);
  return EXIT.ok;
};
