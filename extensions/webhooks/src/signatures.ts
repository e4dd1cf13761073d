/** Signatures of what is sent: of the body alone, and those of Standard Webhooks. */
import type { Secrets } from '@svc/api';

const encoder = new TextEncoder();

/** `secrets` by name, the newest first: each signs in the header of Standard Webhooks. No headers where there is none. */
export const signatures = async (vault: Pick<Secrets, 'hmac'>, secrets: readonly string[], id: string, seconds: number, body: string): Promise<Record<string, string>> => {
  const [plain, ...standard] = await Promise.all([
    secrets[0] === undefined ? undefined : vault.hmac(secrets[0], encoder.encode(body), { algorithm: 'sha256', key: 'utf8' }),
    ...secrets.map((secret) => vault.hmac(secret, encoder.encode(`${id}.${seconds}.${body}`), { algorithm: 'sha256', key: 'whsec' })),
  ]);
  if (!plain) return {};
  const each = standard.flatMap((signature) => (signature ? [`v1,${Buffer.from(signature).toString('base64')}`] : []));
  return { 'x-webhook-signature': `sha256=${Buffer.from(plain).toString('hex')}`, 'webhook-signature': each.join(' ') };
};
