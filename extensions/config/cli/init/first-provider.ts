/** Which provider answers: the one that is set, the one whose key is in the environment, or the one that a person chooses. */
import { type Cli, type DaemonClient, EXIT, type ExitCode, Failure, askSecret, choose, pipedSecret, usageFailure } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { exitOfKey, keyLines, knownProvider, tryKey } from '@svc/ext-providers/cli';

type ProviderRow = OutputOf<'listProviders'>['providers'][number];

export interface Wanted {
  readonly name: string | undefined;
  readonly isStdin: boolean;
  readonly isAsking: boolean;
}

export interface FirstProvider {
  /** Undefined where the daemon's own choice stands. */
  readonly name: string | undefined;
  readonly key: 'stored' | 'found' | 'none';
  readonly isNew: boolean;
  readonly isMock: boolean;
  /** What became of its key. */
  readonly lines: readonly string[];
  readonly exit: ExitCode;
}

const USABLE = new Set(['configured', 'validated_key', 'no_key_needed', 'auto_detected']);
/** In the order in which most people look for them; all others come behind. */
const FIRST = ['anthropic', 'openai', 'gemini', 'openrouter', 'groq', 'deepseek', 'mistral', 'ollama'];

export const firstProvider = async (cli: Cli, daemon: DaemonClient, { isAsking, isStdin, name }: Wanted): Promise<FirstProvider> => {
  if (isStdin && name === undefined) throw usageFailure('--stdin needs the provider whose key it is.', 'svc init --provider NAME --stdin < keyfile');
  if (name !== undefined) return given(cli, daemon, name, { isStdin, isAsking });
  const { providers } = await daemon.call('listProviders');
  const isMock = (await daemon.call('getStatus')).default_model_stand_in === true;
  if (!isMock) return { name: undefined, key: 'found', isNew: false, isMock, lines: [], exit: EXIT.ok };
  const chosen = isAsking ? await choose('The provider of your models', options(providers)) : undefined;
  if (chosen === undefined) return { name: undefined, key: 'none', isNew: false, isMock, lines: [], exit: EXIT.ok };
  return given(cli, daemon, chosen, { isStdin: false, isAsking });
};

const options = (providers: readonly ProviderRow[]): Array<{ value: string | undefined; label: string; hint: string }> => {
  const place = ({ auth_status, name }: ProviderRow): number => (USABLE.has(auth_status) ? -1 : FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const sorted = providers.filter(({ name }) => name !== 'mock').sort((a, b) => place(a) - place(b) || a.name.localeCompare(b.name));
  return [
    ...sorted.map(({ auth_status, display_name, name }) => ({ value: name, label: name, hint: USABLE.has(auth_status) ? `${display_name}, ready` : display_name })),
    { value: undefined, label: '(later)', hint: 'the built-in mock provider answers until then' },
  ];
};

/** A key that is there is never replaced: what else uses it was not asked about. */
const given = async (cli: Cli, daemon: DaemonClient, name: string, { isAsking, isStdin }: Omit<Wanted, 'name'>): Promise<FirstProvider> => {
  const found = await knownProvider(daemon, name);
  const isUsable = USABLE.has(found.auth_status);
  if (isUsable && isStdin) throw new Failure(`${name} has a key already, and init replaces nothing.`, { code: 'cli_already_set', fix: `svc providers set-key ${name} --stdin < keyfile` });
  if (isUsable) {
    await makeDefault(daemon, name);
    return { name, key: 'found', isNew: true, isMock: false, lines: [], exit: EXIT.ok };
  }
  if (!isStdin && !isAsking) throw usageFailure(`${name} needs a key.`, `svc init --provider ${name} --stdin < keyfile`);
  const key = isStdin ? await pipedSecret() : await askSecret(cli, `API key of ${name}`);
  if (key === '') throw usageFailure('The key is empty.');
  await daemon.call('setProviderKey', { name, body: { api_key: key } });
  const tried = await tryKey(cli, daemon, name);
  await makeDefault(daemon, name);
  return { name, key: 'stored', isNew: true, isMock: false, lines: keyLines(cli, name, tried), exit: exitOfKey(tried) };
};

/** Unless it is the default: a choice of a person stays. */
const makeDefault = async (daemon: DaemonClient, name: string): Promise<void> => {
  const status = await daemon.call('getStatus');
  if (status.default_provider !== name && status.default_model_stand_in === true) await daemon.call('setDefaultProvider', { name, body: {} });
};
