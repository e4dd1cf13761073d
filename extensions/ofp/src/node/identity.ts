/** The key of this daemon: made when it is first needed, and kept in the vault. The node id is a digest of it, so that they never part. */
import { createHash } from 'node:crypto';
import { type Secrets, uuidOfDigest } from '@svc/api';

const KEY = 'ofp.identity';

export interface Identity {
  readonly nodeId: string;
  readonly publicKey: string;
  sign(text: string): Promise<{ readonly signature: string; readonly publicKey: string }>;
}
/** Rejects where the vault keeps no keys. */
export type IdentityOf = () => Promise<Identity>;

export const createIdentity = (secrets: Pick<Secrets, 'sign'>): IdentityOf => {
  let known: Promise<Identity> | undefined;
  const sign: Identity['sign'] = async (text) => {
    const made = await secrets.sign(KEY, Buffer.from(text));
    return { signature: Buffer.from(made.signature).toString('base64'), publicKey: Buffer.from(made.publicKey).toString('base64') };
  };
  const load = async (): Promise<Identity> => {
    const { publicKey } = await sign('node id');
    return { nodeId: uuidOfDigest(createHash('sha256').update(publicKey).digest('hex')), publicKey, sign };
  };
  return () => {
    known ??= load().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
};
