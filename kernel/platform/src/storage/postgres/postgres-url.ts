/** `[storage] url`: what it says, and what of it may be shown. */
import { storageErrors } from '../contract/errors.js';

export interface PostgresAddress {
  readonly url: string;
  /** `host:port/name`, for people: no user, no password. */
  readonly place: string;
  /** To be kept out of every log line. */
  readonly password: string | undefined;
}

/** Throws `storage_bad_url`, which shows nothing of what was written. */
export const addressOf = (text: string): PostgresAddress => {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw storageErrors.bad_url('it cannot be read as a URL (write special characters of a password as %40 and the like)');
  }
  if (url.protocol === 'sha256:') throw storageErrors.bad_url('config.toml cannot be read, and its earlier value is not stored elsewhere because it may contain a password');
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') throw storageErrors.bad_url('it does not begin with postgres://');
  const name = decoded(url.pathname.slice(1));
  if (name === '' || name.includes('/')) throw storageErrors.bad_url('it names no database; put the name after the host: postgres://host/name');
  const host = url.searchParams.get('host') ?? url.hostname;
  if (host === '') throw storageErrors.bad_url('it names no host');
  const password = url.searchParams.get('password') ?? decoded(url.password);
  return { url: text, place: `${host.startsWith('/') ? `${host} ` : `${host}:${url.port || '5432'}/`}${name}`, password: password === '' ? undefined : password };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw storageErrors.bad_url('a % in it does not begin an escape; write it as %25');
  }
};
