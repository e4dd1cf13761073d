/**
 * Who may call /api/hooks/*, where [webhook_triggers] is enabled.
 *
 * A1  Every call shows the token, a signature by it, or an API key; also where the daemon asks for no key.
 * A2  A signature is one of the exact bytes. One of Standard Webhooks is five minutes old at most, and its id is the signed one.
 * A3  The token acts for the owner of the daemon. A call whose signature is not proved yet acts for nobody.
 */
import { createHmac } from 'node:crypto';
import { type Actor, type Actors, type Admission, type Clock, type Logger, type OptionalHandle, type Req, textThatIsSet } from '@svc/api';
import type { AuthService } from '@svc/ext-auth/contract';
import { type Hmac, hubRefusal, isSameText, standardRefusal } from '@svc/ext-triggers/contract';
import type { WebhookTriggersConfig } from './config.js';
import { webhookErrors } from './errors.js';

export interface CallerDeps {
  readonly actors: Actors;
  readonly auth: OptionalHandle<AuthService>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  settings(): WebhookTriggersConfig;
  /** The value of this variable, or what the vault has in its place. */
  token(env: string): Promise<string | undefined>;
}

type Call = Pick<Req, 'actor' | 'headers' | 'bytes'>;

export interface HookCallers {
  /** Of the routes of hooks. Undefined for an API key, which is not its business. */
  callers(request: Admission): Promise<Actor | undefined>;
  /** For whom a call acts. Throws `webhooks_bad_signature`, `webhooks_too_large`. */
  proved(call: Call): Promise<Actor>;
}

const MIN_TOKEN_CHARS = 32;
const MINUTE_MS = 60_000;
const MAX_COUNTED = 10_000;
const OWNER = 'owner';
/** Owns nothing, so that nothing can be done in its name. */
const UNPROVED = 'hook:unproved';
const CHALLENGE = { headers: { 'www-authenticate': 'Bearer' } };
const STANDARD = 'webhook-signature';
const HUB = 'x-hub-signature-256';

export const createHookCallers = (deps: CallerDeps): HookCallers => {
  const { actors, settings } = deps;
  const counted = createCounts(deps.clock);
  const tokenNow = async (): Promise<string | undefined> => {
    const { token_env: env } = settings();
    const token = await deps.token(env);
    if (token !== undefined && token.length >= MIN_TOKEN_CHARS) return token;
    deps.log.warn(token === undefined ? 'A hook was called, and its token is not set.' : `The token of hooks is shorter than ${MIN_TOKEN_CHARS} characters and is not used.`, { variable: env });
    return undefined;
  };
  return {
    callers: async ({ headers, network }) => {
      const { enabled, rate_limit_per_minute: most } = settings();
      if (!enabled) return undefined;
      const key = presentedKey(headers);
      const isOpen = (await deps.auth.value?.isOpen()) ?? true;
      const isSigned = key === undefined && (headers[STANDARD] !== undefined || headers[HUB] !== undefined);
      // A browser that signed in.
      if (key === undefined && !isSigned && !isOpen && headers.cookie !== undefined) return undefined;
      const token = key === undefined && !isSigned ? undefined : await tokenNow();
      const isToken = key !== undefined && token !== undefined && isSameText(key, token);
      if (key !== undefined && !isToken && !isOpen) return undefined;
      if (most > 0 && counted(network) > most) throw webhookErrors.too_many_calls(most).with({ headers: { 'retry-after': '60' } });
      if (isToken) return actors.of(OWNER);
      if (isSigned && token !== undefined) return actors.of(UNPROVED);
      throw webhookErrors.no_token().with(CHALLENGE);
    },
    proved: async ({ actor, headers, bytes }) => {
      const { enabled, max_payload_bytes: most } = settings();
      if (enabled && bytes.length > most) throw webhookErrors.too_large(most);
      if (actor.ownerId !== UNPROVED) return actor;
      const token = await tokenNow();
      const refused = token === undefined ? 'the daemon has no token' : await refusalOf(headers, bytes, token, deps.clock.now());
      if (refused !== undefined) throw webhookErrors.bad_signature(refused).with(CHALLENGE);
      return actors.of(OWNER);
    },
  };
};

/** `Authorization: Bearer` or `x-api-key`. */
const presentedKey = ({ authorization = '', 'x-api-key': key }: Admission['headers']): string | undefined =>
  (/^bearer\s/i.test(authorization) ? textThatIsSet(authorization.slice('bearer'.length)) : undefined) ?? (key === '' ? undefined : key);

/** Why a signature does not hold; undefined where it does. */
const refusalOf = (headers: Req['headers'], bytes: Uint8Array, token: string, now: number): Promise<string | undefined> => {
  const hmac: Hmac = async (data, key) =>
    createHmac('sha256', key === 'whsec' ? keyOf(token) : token)
      .update(data)
      .digest();
  return headers[STANDARD] === undefined ? hubRefusal(hmac, headers[HUB] ?? '', bytes) : standardRefusal(hmac, headers, bytes, now);
};

const WHSEC = 'whsec_';
/** After `whsec_` it is base64, as Standard Webhooks has it; any other text is the key itself. */
const keyOf = (token: string): Buffer => (token.startsWith(WHSEC) ? Buffer.from(token.slice(WHSEC.length), 'base64') : Buffer.from(token, 'utf8'));

/** Calls of each address in the minute that it began with. */
const createCounts = (clock: Pick<Clock, 'now'>): ((network: string) => number) => {
  const counts = new Map<string, { readonly since: number; calls: number }>();
  return (network) => {
    const now = clock.now();
    const before = counts.get(network);
    if (before && now - before.since < MINUTE_MS) return ++before.calls;
    if (counts.size >= MAX_COUNTED) for (const [key, { since }] of counts) if (now - since >= MINUTE_MS) counts.delete(key);
    // Of so many addresses at once the oldest begins anew.
    const [oldest] = counts.keys();
    if (counts.size >= MAX_COUNTED && oldest !== undefined) counts.delete(oldest);
    counts.delete(network);
    counts.set(network, { since: now, calls: 1 });
    return 1;
  };
};
