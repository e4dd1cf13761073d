/** What the client of NATS says, in words that name no user and no token. */
import { reasonOf as reasonOfPostgres } from '../storage/postgres/postgres-errors.js';

/** By the name of the error. */
const REASONS: Readonly<Record<string, string>> = {
  AuthorizationError: 'it refused the credentials; see cluster.bus_credentials_env',
  UserAuthenticationExpiredError: 'the credentials have expired',
  PermissionViolationError: 'the user has to be allowed to publish and subscribe to svc.>',
  TimeoutError: 'it does not answer in time',
  TypeError: 'the setting cluster.bus is no URL',
};

/** The database, which has the secret of the deployment, could not be asked. */
export const databaseError = (cause: unknown): Error => Object.assign(new Error(`the database was asked for the secret of the bus: ${reasonOfPostgres(cause)}`), { name: 'DatabaseError' });

export const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return 'the connection was closed';
  if (cause.name === 'DatabaseError') return cause.message;
  const known = REASONS[cause.name];
  if (known !== undefined) return known;
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  if (/not support 'tls'|not available on this server/.test(inner.message)) return 'it does not offer TLS, and the URL asks for it';
  if (/doesn't exist/.test(inner.message)) return 'a file of its certificates does not exist';
  if (/certificate|self.signed|SSL|TLS|altnames/i.test(inner.message)) return 'its certificate was refused; see sslrootcert in the URL';
  if (/timeout/i.test(inner.message)) return 'it does not answer in time';
  // Node's own codes mean the same on every connection.
  return reasonOfPostgres(inner);
};
