/** What PostgreSQL and the way to it say, as errors of ours. */
import { isSvcError, type SvcError } from '@svc/api';
import { errnoOf } from '../../config/errno.js';
import { conflict, storageErrors } from '../contract/errors.js';

/** What the driver tells of an error, as far as it is used. */
interface ServerError extends Error {
  readonly code?: string;
  readonly severity?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly constraint?: string;
}

/** A unique key by the name of its index: its columns, in order. */
export type KeyColumns = (schema: string, index: string) => Promise<readonly string[]>;

const asServerError = (error: unknown): ServerError => (error instanceof Error ? error : new Error(String(error)));

/** An error that the server sent about a statement; the connection lives on. */
const isStatementError = ({ code, severity }: ServerError): boolean => severity === 'ERROR' && code !== undefined;

/** The server takes no writes on this connection: it has become a copy of another, or was set read-only. A new connection may lead to the one that does. */
const READ_ONLY = '25006';

/** The connection is gone, or of no use any more: whether the last statement was carried out is not known. */
export const isLost = (error: unknown): boolean => {
  if (isSvcError(error)) return false;
  const reported = asServerError(error);
  return !isStatementError(reported) || reported.code === READ_ONLY;
};

/** Of a connection that only reads: the server refuses each write on it, and that is the statement's fault. */
export const isReaderLost = (error: unknown): boolean => isLost(error) && errnoOf(error) !== READ_ONLY;

/** Without the row that the server quotes in its details: what a person said does not belong in a log. */
const bareCause = (error: ServerError): Error => Object.assign(new Error(error.message), { code: error.code, constraint: error.constraint, table: error.table });

export const mapStatementError = async (error: unknown, keyColumns: KeyColumns): Promise<SvcError> => {
  if (isSvcError(error)) return error;
  const reported = asServerError(error);
  const cause = bareCause(reported);
  const code = reported.code ?? '';
  if (code === '23505') return uniqueConflict(reported, await keyColumns(reported.schema ?? '', reported.constraint ?? ''), cause);
  if (code === '23503') return conflict('it refers to a row that does not exist', { reason: 'foreign_key' }, cause);
  if (code.startsWith('23')) return storageErrors.invalid_row(ruleOf(reported)).with({ cause });
  // A value that its column cannot take: no number, no JSON, too large.
  if (code.startsWith('22')) return storageErrors.invalid_row('a value does not fit its column').with({ cause });
  if (code.startsWith('53') && code !== '53300') return storageErrors.full().with({ cause });
  if (code === '55P03' || code === '40P01' || code === '40001' || code === '57014') return storageErrors.busy().with({ cause });
  if (code.startsWith('58') || code.startsWith('XX')) return storageErrors.io().with({ cause });
  return storageErrors.failed().with({ cause });
};

const uniqueConflict = ({ table }: ServerError, columns: readonly string[], cause: Error): SvcError =>
  conflict('a row with the same key exists', { reason: 'unique', columns: columns.map((column) => `${table}.${column}`) }, cause);

const ruleOf = ({ code, table, column, constraint }: ServerError): string => (code === '23502' ? `${table}.${column}` : `${table}: ${constraint ?? 'a constraint'}`);

const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'it refused the user or the password',
  '28000': 'it refused the user',
  '3D000': 'it has no database of this name',
  '42501': 'this user may not create tables in it',
  '53300': 'it has no connection left (max_connections)',
  [READ_ONLY]: 'it is read-only now: a copy of another server, or set so',
  '57P03': 'it is starting or stopping',
  '57P01': 'it was stopped',
  '55P03': 'another program kept it locked for too long, such as "svc storage migrate"',
  ECONNREFUSED: 'nothing answers at this address',
  ENOENT: 'the socket does not exist',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ETIMEDOUT: 'it does not answer in time',
  EHOSTUNREACH: 'the host is unreachable',
};

/** Why there is no connection, in words; never the driver's, which may name the user. */
export const reasonOf = (error: unknown): string => {
  const reported = asServerError(error);
  const first = error instanceof AggregateError ? asServerError(error.errors[0]) : reported;
  const known = REASONS[first.code ?? ''];
  if (known !== undefined) return known;
  if (/timeout/i.test(first.message)) return 'it does not answer in time';
  if (/SSL|certificate|self.signed/i.test(first.message)) return 'the encrypted connection was refused; see sslmode in the URL';
  if (/password must be a string|SASL|SCRAM/.test(first.message)) return 'it requires a password, and the URL has none that is correct';
  return 'the connection was closed';
};

/** Thrown about a connection that was opened and leads to a server that takes no writes. */
export const readOnlyServer = (): Error => Object.assign(new Error('the server is read-only'), { code: READ_ONLY, severity: 'FATAL' });

/** What passes by itself: worth another try. A wrong password does not. */
export const isPassing = (error: unknown): boolean => {
  const reported = error instanceof AggregateError ? asServerError(error.errors[0]) : asServerError(error);
  return !['28P01', '28000', '3D000', '42501', 'ENOTFOUND'].includes(reported.code ?? '') && !/password must be a string|SASL|SCRAM/.test(reported.message);
};
