/** Fetches over HTTP with the client of npm: proxies, retries and the check of integrity are its own. */
import { createWriteStream } from 'node:fs';
import type { Agent } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ARCHIVE_LIMITS, inMegabytes, isSvcError, type SvcError } from '@svc/api';
import { installErrors } from '../errors.js';
import type { FetchContext } from './fetching.js';
import { agentFor } from './reachable.js';

/** It is read at once, while nobody else is answered. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const RETRIES = { retries: 2, factor: 2, minTimeout: 250, maxTimeout: 2_000 };

export interface Wanted {
  readonly url: string;
  /** As messages call it, without secrets. */
  readonly what: string;
  /** An SRI text: `sha512-…`. */
  readonly integrity: string;
  /** The address of the registry or index that named it, where one did. */
  readonly namedBy?: string;
}

/** Rejects with `install_download`, `install_not_found`, `install_checksum` or `install_archive_size`. */
export const downloadArchive = async ({ url, what, integrity, namedBy }: Wanted, file: string, { signal, onProgress }: FetchContext): Promise<void> => {
  try {
    const { body, headers } = await request(url, { integrity, signal, own: namedBy ?? url });
    const length = Number(headers.get('content-length') ?? Number.NaN);
    const total = Number.isSafeInteger(length) ? { total: length } : {};
    const counted = atMost(ARCHIVE_LIMITS.bytes, 'The package', (done) => onProgress({ step: 'fetch', what, done, ...total }));
    await pipeline(body, counted, createWriteStream(file, { flags: 'wx', mode: 0o600 }), { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw named(error, what);
  }
};

/** A JSON document. Rejects with `install_download` or `install_not_found`. */
export const downloadJson = async (url: string, what: string, { signal }: FetchContext, accept = 'application/json'): Promise<unknown> => {
  try {
    const { body } = await request(url, { accept, signal, own: url });
    const chunks: Buffer[] = [];
    await pipeline(
      body,
      atMost(MAX_DOCUMENT_BYTES, what, () => undefined),
      async (counted: AsyncIterable<Buffer>) => {
        for await (const chunk of counted) chunks.push(chunk);
      },
    );
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    signal?.throwIfAborted();
    throw named(error, what);
  }
};

const request = async (url: string, { accept, integrity, own, signal }: { accept?: string; integrity?: string; own: string; signal: AbortSignal | undefined }) => {
  // Loaded when something is fetched: most starts of the daemon fetch nothing.
  const { default: fetch } = await import('npm-registry-fetch');
  const address = new URL(url);
  const { username, password } = address;
  address.username = '';
  address.password = '';
  const login = username === '' ? {} : { authorization: `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}` };
  const agent = await agentFor(own, process.env);
  const { body, headers } = await fetch(address.href, {
    // The client asks a function for the agent of each address that it is led to; its types know of one agent alone.
    ...(agent ? { agent: agent as unknown as Agent } : {}),
    headers: { ...login, ...(accept === undefined ? {} : { accept }) },
    retry: RETRIES,
    timeout: TIMEOUT_MS,
    ...(integrity === undefined ? {} : { integrity }),
    ...(signal ? { signal } : {}),
  });
  if (!body) throw new Error('an answer without a body');
  return { body, headers };
};

const atMost = (limit: number, what: string, seen: (bytes: number) => void): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      seen(bytes);
      if (bytes > limit) done(installErrors.archive_size(what, inMegabytes(limit)));
      else done(null, chunk);
    },
  });
};

const named = (error: unknown, what: string): SvcError => {
  if (isSvcError(error)) return error;
  // The client wraps what the agent threw.
  if (error instanceof Error && isSvcError(error.cause)) return error.cause;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : undefined;
  if (code === 'EINTEGRITY') return installErrors.checksum(what, 'its checksum is another').with({ cause: error });
  if (status === 404) return installErrors.not_found(what, 'where it was looked for').with({ cause: error });
  return installErrors.download(what, reasonOf(error, code, status)).with({ cause: error });
};

/** Messages of the client name whole addresses, which may hold secrets. */
const reasonOf = (error: unknown, code: string, status: number | undefined): string => {
  if (status !== undefined) return `the answer was ${status}`;
  if (error instanceof SyntaxError) return 'the answer is not JSON';
  return code === '' || code === 'FETCH_ERROR' ? 'nobody answered' : code;
};
