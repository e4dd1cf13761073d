/** Signatures of what is sent: of the body alone, and those of Standard Webhooks. */
import type { Secrets } from '@svc/api';

const encoder = new TextEncoder();

/** No headers where there is no secret. */
export const signatures = async (secrets: Pick<Secrets, 'hmac'>, secret: string, id: string, seconds: number, body: string): Promise<Record<string, string>> => {
  const [plain, standard] = await Promise.all([
    secrets.hmac(secret, encoder.encode(body), { algorithm: 'sha256', key: 'utf8' }),
    secrets.hmac(secret, encoder.encode(`${id}.${seconds}.${body}`), { algorithm: 'sha256', key: 'whsec' }),
  ]);
  return plain && standard ? { 'x-webhook-signature': `sha256=${Buffer.from(plain).toString('hex')}`, 'webhook-signature': `v1,${Buffer.from(standard).toString('base64')}` } : {};
};
