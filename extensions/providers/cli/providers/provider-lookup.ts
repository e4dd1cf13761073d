/** Which provider a person means. */
import { type DaemonClient, Failure } from '@svc/cli/area';
import { didYouMean } from '@svc/api';
import type { OutputOf } from '@svc/client';

export type ProviderDetail = OutputOf<'getProvider'>;

/** Throws a failure that names the nearest. */
export const knownProvider = async (daemon: DaemonClient, name: string): Promise<ProviderDetail> => {
  try {
    return await daemon.call('getProvider', { name });
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 404) throw error;
    const { providers } = await daemon.call('listProviders');
    throw new Failure(
      `There is no provider "${name}".${didYouMean(
        name,
        providers.map((one) => one.name),
      )}`,
      { code: 'cli_no_such_provider', fix: 'svc providers list', requestId: error.requestId },
    );
  }
};
