/**
 * A catalog from its host: fetched within bounds, and known to be the one that was meant.
 *
 * U3  Over plain http a catalog must be signed. Where a key is set, nothing of an unsigned or altered file is looked at.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { type ExtensionContext, type FetchResponse, isSvcError } from '@svc/api';
import type { ModelsConfig } from '../config.js';
import { modelErrors } from '../errors.js';

/** Twenty times the shipped one; it is parsed in the daemon's own thread. */
export const MAX_CATALOG_BYTES = 2 * 1024 * 1024;
const MAX_PROOF_BYTES = 4_096;
const DEADLINE_MS = 20_000;
/** What stands before the 32 bytes of an Ed25519 key in its DER form. */
const ED25519_SPKI_PREFIX = '302a300506032b6570032100';

export interface Download {
  /** The parsed JSON; validated by policy.ts. */
  readonly value: unknown;
  /** How many files were fetched: the catalog and its proofs. */
  readonly files: number;
}

export interface DownloadDeps {
  readonly fetch: ExtensionContext['fetch'];
  /** Of the catalog that stands, for messages. */
  readonly standing: string;
}

/** Throws `models_no_catalog_url`, `models_catalog_unsafe`, `models_catalog_unreachable`, `models_catalog_unverified`, `models_catalog_unusable`. */
export const download = async (deps: DownloadDeps, config: ModelsConfig, signal: AbortSignal): Promise<Download> => {
  const { catalog_url: url, catalog_public_key: key, catalog_sha256_url: shaUrl } = config;
  if (url === '') throw modelErrors.no_catalog_url(deps.standing);
  if (key === '' && new URL(url).protocol === 'http:') throw modelErrors.catalog_unsafe();
  const bytes = await get(deps, url, MAX_CATALOG_BYTES, signal);
  let files = 1;
  if (shaUrl !== '') {
    files++;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const said = /(?:^|\s)([0-9a-f]{64})(?:\s|$)/i.exec((await get(deps, shaUrl, MAX_PROOF_BYTES, signal)).toString('latin1'))?.[1]?.toLowerCase();
    if (said === undefined) throw modelErrors.catalog_unverified('there is no SHA-256 at catalog_sha256_url', deps.standing);
    if (said !== sha256) throw modelErrors.catalog_unverified(`its SHA-256 is ${sha256.slice(0, 12)}…, and ${said.slice(0, 12)}… was announced`, deps.standing);
  }
  if (key !== '') {
    files++;
    const signature = signatureOf(await get(deps, config.catalog_signature_url || besideOf(url), MAX_PROOF_BYTES, signal));
    if (!signature || !isSignedBy(key, bytes, signature)) throw modelErrors.catalog_unverified('it is not signed with the key under [models] catalog_public_key', deps.standing);
  }
  return { value: parsed(bytes, deps.standing), files };
};

const get = async ({ fetch, standing }: DownloadDeps, url: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> => {
  const { host } = new URL(url);
  const unreachable = (why: string) => modelErrors.catalog_unreachable(why, standing);
  try {
    const response = await fetch(url, { purpose: 'webhook', signal, timeoutMs: DEADLINE_MS, maxBytes });
    if (response.status !== 200) {
      response.cancel();
      throw unreachable(`${host} answered ${response.status}.`);
    }
    return await bytesOf(response);
  } catch (error) {
    // The adapter's messages name hosts and reasons, and no secrets.
    if (isSvcError(error) && error.code.startsWith('fetch_')) throw unreachable(error.message).with({ cause: error });
    throw error;
  }
};

const bytesOf = async (response: FetchResponse): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  await response.each((piece) => void pieces.push(piece));
  return Buffer.concat(pieces);
};

const besideOf = (url: string): string => {
  const beside = new URL(url);
  beside.pathname += '.sig';
  return beside.href;
};

/** 64 bytes as they are, or as one line of base64. */
const signatureOf = (file: Buffer): Buffer | undefined => {
  if (file.length === 64) return file;
  const text = file.toString('latin1').trim();
  return /^[A-Za-z0-9+/]{86}==$/.test(text) ? Buffer.from(text, 'base64') : undefined;
};

const isSignedBy = (key: string, bytes: Buffer, signature: Buffer): boolean => {
  const der = Buffer.concat([Buffer.from(ED25519_SPKI_PREFIX, 'hex'), Buffer.from(key, 'base64')]);
  return verify(null, bytes, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
};

const parsed = (bytes: Buffer, standing: string): unknown => {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw modelErrors.catalog_unusable('it is not text in UTF-8', standing);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw modelErrors.catalog_unusable(/^\s*</.test(text) ? 'it is a web page' : 'it is not JSON', standing);
  }
};
