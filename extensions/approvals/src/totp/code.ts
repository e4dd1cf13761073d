/**
 * One-time codes by RFC 6238: SHA-1, six digits, steps of 30 s, one step of drift. The secret stays in the secrets adapter,
 * which makes the HMAC; otplib does the rest. It is loaded when somebody uses a code, not at each start.
 */
import type { Clock, Ids, Secrets } from '@svc/api';
import { approvalErrors } from '../errors.js';
import type { CryptoPlugin } from 'otplib';

const SECRET_BYTES = 20;
const STEP_SECONDS = 30;
const CODE = /^\d{6}$/;
/** Stands where otplib wants a secret that only the adapter has. */
const NO_SECRET = new Uint8Array(SECRET_BYTES);

export interface NewSecret {
  readonly hex: string;
  readonly base32: string;
  readonly uri: string;
}

export const newSecret = async (ids: Pick<Ids, 'bytes'>, { issuer, label }: { issuer: string; label: string }): Promise<NewSecret> => {
  const { generateURI, ScureBase32Plugin } = await import('otplib');
  const bytes = ids.bytes(SECRET_BYTES);
  const base32 = new ScureBase32Plugin().encode(bytes, { padding: false });
  return { hex: Buffer.from(bytes).toString('hex'), base32, uri: generateURI({ issuer, label, secret: base32 }) };
};

/** The step that the code belongs to; undefined for a wrong one. */
export const stepOf = async (secrets: Pick<Secrets, 'hmac' | 'where'>, name: string, clock: Pick<Clock, 'now'>, code: string): Promise<number | undefined> => {
  if (!CODE.test(code)) return undefined;
  await secretThere(secrets, name);
  const { verify } = await import('otplib');
  const result = await verify({ secret: NO_SECRET, token: code, crypto: adapterCrypto(secrets, name), epoch: Math.floor(clock.now() / 1_000), period: STEP_SECONDS, epochTolerance: STEP_SECONDS });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
};

/** Throws `approvals_totp_secret_gone`. */
export const secretThere = async (secrets: Pick<Secrets, 'where'>, name: string): Promise<void> => {
  if ((await secrets.where({ secret: name })) === undefined) throw approvalErrors.totp_secret_gone();
};

const adapterCrypto = (secrets: Pick<Secrets, 'hmac'>, name: string): CryptoPlugin => ({
  name: 'secrets adapter',
  algorithms: ['sha1'],
  hmac: async (_algorithm, _key, data) => {
    const mac = await secrets.hmac(name, data, { algorithm: 'sha1', key: 'hex' });
    if (!mac) throw approvalErrors.totp_secret_gone();
    return mac;
  },
  randomBytes: () => {
    throw new Error('secrets are made by ctx.ids');
  },
  constantTimeEqual: (a, b) => {
    const [one, other] = [Buffer.from(a), Buffer.from(b)];
    let differs = one.length ^ other.length;
    for (let at = 0; at < one.length; at += 1) differs |= (one[at] ?? 0) ^ (other[at] ?? 0);
    return differs === 0;
  },
});
