/** People who came in by a provider, without one: their rows as they are after a sign-in. */
import { createHash } from 'node:crypto';
import type { TestKernel } from '@svc/testing';

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Somebody who signed in at a provider, with the token of that sign-in, as the extension oidc writes it down. */
export const signedIn = async (kernel: TestKernel, hash: string, role: string, more: { set_role?: string } = {}): Promise<{ id: string; token: string }> => {
  const db = kernel.daemon.parts.storage.dbFor({ id: 'auth', tables: ['people', 'credentials'], isPlatform: true });
  const [id, now, token] = [`oidc:${hash.repeat(32).slice(0, 32)}`, new Date().toISOString(), hashOf(`token of ${hash}`)];
  const row = { id, owner_id: id, name: `Person ${hash}`, email: `${hash}@example.com`, source: `company:${hash}`, role, set_role: more.set_role ?? null, disabled: 0, created_at: now, seen_at: now };
  const credential = {
    id: `sign-in:${hash}`,
    owner_id: id,
    role: 'owner',
    key_hash: hashOf(token),
    created_at: now,
    seen_at: null,
    actor_id: id,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  };
  await db.commit([db.insert('people', [row]), db.insert('credentials', [credential])]);
  await kernel.as(token).expect(200, 'GET', '/auth/session');
  return { id, token };
};
