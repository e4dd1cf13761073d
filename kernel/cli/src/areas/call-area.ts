/** Calls an operation of an area; of an area that is off, says so. */
import type { ResolvedCommand } from '@svc/installer/commands';
import type { Cli } from '../cli.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { Failure } from '../failure.js';

export const callArea = async (cli: Cli, { method, operation, path, takesKey }: ResolvedCommand, area: string, input: Readonly<Record<string, unknown>>): Promise<unknown> => {
  const daemon = await cli.daemon();
  try {
    return await daemon.callOperation({ id: operation, method, path, takesKey }, input);
  } catch (error) {
    throw (await offFailure(daemon, area, error)) ?? error;
  }
};

/** Undefined where the area is on, or nobody can tell: then what the daemon said is said. */
const offFailure = async (daemon: DaemonClient, area: string, error: unknown): Promise<Failure | undefined> => {
  // The daemon's answers to a path of an area that does not run, and to one that nobody has.
  if (!(error instanceof Failure) || !['extension_off', 'not_found'].includes(error.code)) return undefined;
  try {
    const { reason, state } = await daemon.call('getExtension', { name: area });
    if (state === 'active') return undefined;
    const isOff = state === 'inactive';
    return new Failure(`The extension ${area} is ${isOff ? 'off' : state}.`, {
      code: 'cli_extension_off',
      why: reason ?? undefined,
      mend: isOff ? `svc ext enable ${area}` : `svc ext why ${area}`,
      requestId: error.requestId,
    });
  } catch {
    return undefined;
  }
};
