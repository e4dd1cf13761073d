/**
 * What a signature says: these hooks, in this manifest, by whoever has this key.
 *
 * G1  `[integrity]` has the SHA-256 of each hook. A hook whose file has another one is not run.
 * G2  The signature is Ed25519 over the canonical text of the manifest, which holds `[integrity]`. A manifest that was changed afterwards is not loaded.
 * G3  The private key never leaves the vault.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { isTable, scanToml, type Secrets } from '@svc/api';
import { signedText } from './canonical.js';

/** Before the 32 bytes of an Ed25519 key in its DER form. */
const ED25519_SPKI_PREFIX = '302a300506032b6570032100';
export const SIGNING_KEY = 'plugin.signing';

export const sha256Of = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');

export const isSignedBy = (publicKey: string, text: Uint8Array | string, signature: string): boolean => {
  const raw = Buffer.from(publicKey, 'base64');
  if (raw.length !== 32) return false;
  const key = createPublicKey({ key: Buffer.concat([Buffer.from(ED25519_SPKI_PREFIX, 'hex'), raw]), format: 'der', type: 'spki' });
  return verify(null, typeof text === 'string' ? Buffer.from(text) : text, key, Buffer.from(signature, 'base64'));
};

/** Why the signature in a manifest does not hold; undefined where it does, and where there is none. */
export const signatureFault = (raw: Readonly<Record<string, unknown>>): string | undefined => {
  const { signature } = raw;
  if (signature === undefined) return undefined;
  if (!isTable(signature) || signature.algorithm !== 'ed25519' || typeof signature.public_key !== 'string' || typeof signature.value !== 'string') return '[signature] is incomplete';
  return isSignedBy(signature.public_key, signedText(raw), signature.value) ? undefined : 'plugin.toml was changed after it was signed';
};

export interface Signed {
  readonly signature: string;
  readonly publicKey: string;
}

export const sign = async (secrets: Pick<Secrets, 'sign'>, manifest: Readonly<Record<string, unknown>>): Promise<Signed> => {
  const { signature, publicKey } = await secrets.sign(SIGNING_KEY, Buffer.from(signedText(manifest)));
  return { signature: Buffer.from(signature).toString('base64'), publicKey: Buffer.from(publicKey).toString('base64') };
};

/** The text of plugin.toml with these tables in place of its own. All else stays, comments too. */
export const withTables = (text: string, tables: Readonly<Record<string, Readonly<Record<string, string>>>>): string => {
  const headers = scanToml(text).filter(({ kind }) => kind !== 'assign');
  const cuts = headers.flatMap(({ path, start }, index) => (path[0] !== undefined && path[0] in tables ? [{ start, end: headers[index + 1]?.start ?? text.length }] : []));
  const rest = cuts.reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
  const added = Object.entries(tables).map(([name, values]) => [`[${name}]`, ...Object.entries(values).map(([key, value]) => `${JSON.stringify(key)} = ${JSON.stringify(value)}`)].join('\n'));
  return `${[rest.trimEnd(), ...added].join('\n\n')}\n`;
};
