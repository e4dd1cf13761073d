/** Whether any model answers but the mock provider. Several views ask; the daemon is asked once. */
import { daemon, type Loaded, type OutputOf, useLoaded } from '@svc/kit';
import { whenQuiet } from './later.js';

type Status = OutputOf<'getStatus'>;

let asked: Promise<Status> | undefined;

const ask = (): Promise<Status> => {
  asked ??= whenQuiet()
    .then(() => daemon.call('getStatus'))
    .finally(() => {
      asked = undefined;
    });
  return asked;
};

export const useStatus = (): Loaded<Status> => useLoaded('status', ask, ['provider', 'models', 'config']);
