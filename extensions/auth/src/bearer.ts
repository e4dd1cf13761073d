/** Callers by a token of a provider, which another area knows (`auth.bearer`). */
import type { Actor, HookHandle } from '@svc/api';
import type { AuthBearer } from './contract.js';
import type { Keyring } from './keyring.js';

const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const MAX_CHARS = 16_384;

/** Keys have no dots where svc makes them, and one of a person's own that looks so was found before. */
export const looksLikeJwt = (key: string): boolean => key.length <= MAX_CHARS && JWT.test(key);

export interface BearerDeps {
  readonly ask: HookHandle<typeof AuthBearer>;
  readonly keyring: () => Keyring;
  readonly reading: () => Promise<void> | undefined;
}

export const bearerCaller =
  ({ ask, keyring, reading }: BearerDeps) =>
  async (token: string): Promise<Actor | undefined> => {
    const answer = await ask.call({ token });
    if (!answer) return undefined;
    await reading();
    return keyring().callerOf(answer.actorId, answer.personId);
  };
