/** Small pieces of the boot. */
import * as api from '@svc/api';
import type { Config } from '@svc/platform/config/config';
import type { HttpOptions } from '@svc/platform/http/http-server';
import type { Log } from '@svc/platform/log/log';
import { addressOf } from '@svc/platform/storage/postgres/postgres-url';
import type { PlatformParts } from './platform-parts.js';
import { databaseUrlOf } from './settings/daemon-settings.js';
import type { Wiring } from './wiring.js';

/** Whoever calls is known from here on, as one for whom others may act. */
export function knownActors({ hooks, actors }: Wiring): HttpOptions['hooks']['authenticate'] {
  const authenticate = hooks.handle(api.HttpAuthenticate);
  return { isEmpty: authenticate.isEmpty, atOnce: (admission) => api.whenKnown(authenticate.atOnce(admission), (actor) => actor && actors.hand(actor)) };
}

/** Known to the log before anything is done with it. */
export function takeUrl(config: Config, log: Log): string | undefined {
  const url = databaseUrlOf(config);
  const password = url === undefined ? undefined : addressOf(url).password;
  if (password !== undefined) log.redact(password);
  return url;
}

/** The lock of the home keeps every other daemon from its file. A server knows nothing of homes: others may be alive on it. */
export const isSoleWriter = (storage: PlatformParts['storage']): boolean => storage.dialect === 'sqlite';

export function onceOnly<A, R>(fn: (arg: A) => R): (arg: A) => R {
  let result: { value: R } | undefined;
  return (arg) => {
    result ??= { value: fn(arg) };
    return result.value;
  };
}
