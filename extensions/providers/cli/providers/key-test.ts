/** Whether a provider answers and takes its key: `svc providers test`, and what `set-key` and `add` end with. */
import { type Cli, type DaemonClient, EXIT, type ExitCode, Failure, type Outcome, watched } from '@svc/cli/area';
import type { OutputOf } from '@svc/client';
import { knownProvider } from './provider-lookup.js';

export interface Tried {
  /** Undefined where there is nothing to ask it with. */
  readonly test: OutputOf<'testProvider'> | undefined;
  /** Why not. */
  readonly why?: string;
  /** How many it listed; null where it listed none. */
  readonly models: number | null;
}

/** The key is kept already: what goes wrong here is told and takes nothing back. */
export const tryKey = async (cli: Cli, daemon: DaemonClient, name: string, model?: string): Promise<Tried> => {
  try {
    const test = await watched(cli.out, `asking ${name}`, daemon.call('testProvider', { name, body: model === undefined ? {} : { model } }));
    const { discovered_models } = await daemon.call('getProvider', { name });
    return { test, models: test.status === 'ok' ? (discovered_models?.length ?? null) : null };
  } catch (error) {
    if (!(error instanceof Failure) || error.exit !== EXIT.failed) throw error;
    return { test: undefined, why: error.message, models: null };
  }
};

const found = ({ models, test }: Tried): string =>
  [...(models === null ? [] : [`${models} ${models === 1 ? 'model' : 'models'}`]), ...(test === undefined ? [] : [`${test.latency_ms} ms`])].join(', ');

const isRefused = ({ test }: Tried): boolean => test?.auth_status === 'invalid_key';

export const keyLines = ({ out }: Cli, name: string, tried: Tried): string[] => {
  const { test, why } = tried;
  if (test?.status === 'ok') return [`${out.green('✓')} The key of ${name} is stored, and ${name} takes it (${found(tried)}).`];
  if (isRefused(tried))
    return [`${out.red('✗')} The key of ${name} is stored, and ${name} refused it. It stays until you set another: svc providers set-key ${name}`, `  ${out.red(test?.error ?? '')}`];
  return [`${out.green('✓')} The key of ${name} is stored.`, `  ${out.yellow(`It could not be tested: ${test?.error ?? why ?? ''}`)}`];
};

/** A key that is refused is a failure, one that nobody could try is none. */
export const exitOfKey = (tried: Tried): ExitCode => (isRefused(tried) ? EXIT.failed : EXIT.ok);

export const test = async (cli: Cli, name: string, model: string | undefined): Outcome => {
  const daemon = await cli.daemon();
  await knownProvider(daemon, name);
  const tried = await tryKey(cli, daemon, name, model);
  if (tried.test === undefined) throw new Failure(tried.why ?? '', { code: 'cli_not_testable', fix: `svc providers set-key ${name}` });
  const { error, model_tested, status } = tried.test;
  if (cli.json) cli.out.json({ ...tried.test, models: tried.models });
  else if (status === 'ok') cli.out.line(`${cli.out.green('✓')} ${name} answers (${found(tried)})${model_tested === null ? '' : `, and has ${model_tested}`}.`);
  else cli.out.line(`${cli.out.red('✗')} ${error ?? `${name} does not answer.`}`);
  return status === 'ok' ? EXIT.ok : EXIT.failed;
};
