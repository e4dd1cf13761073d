/**
 * Who may fire a trigger by its address: whoever has its secret, in the way that each kind of sender shows it.
 *
 * A1  A signature is one of the exact bytes, by the secret of this trigger alone. One with a time is five minutes old at most.
 * A2  A call is known by the id that its sender gives it; where the signature covers an id, by that one alone.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock, Req, Secrets } from '@svc/api';
import { valueAt } from './values.js';

export const SCHEMES = ['standard', 'github', 'stripe', 'token'] as const;
export type Scheme = (typeof SCHEMES)[number];

export interface SenderDeps {
  readonly secrets: Pick<Secrets, 'hmac'>;
  readonly clock: Pick<Clock, 'now'>;
}

export type SentCall = Pick<Req, 'headers' | 'bytes'> & { readonly body: unknown };

const MAX_AGE_SECS = 300;
const SECOND_MS = 1_000;
/** Texts are compared by their digests: nobody learns from the time it takes where two differ. */
const COMPARED = 'compared';
const encoder = new TextEncoder();

/** Why it holds by none of these secrets, given by their names in the vault; undefined where it does. */
export const refusalOf = async (deps: SenderDeps, scheme: Scheme, secrets: readonly string[], call: SentCall): Promise<string | undefined> => {
  let first: string | undefined = 'there is no secret';
  for (const [index, secret] of secrets.entries()) {
    const refused = await refusalBy(deps, scheme, secret, call);
    if (refused === undefined) return undefined;
    if (index === 0) first = refused;
  }
  return first;
};

const refusalBy = async ({ secrets, clock }: SenderDeps, scheme: Scheme, secret: string, { headers, bytes }: SentCall): Promise<string | undefined> => {
  const hmac: Hmac = async (data, key) => secrets.hmac(secret, data, { algorithm: 'sha256', key });
  switch (scheme) {
    case 'standard':
      return standardRefusal(hmac, headers, bytes, clock.now());
    case 'github':
      return hubRefusal(hmac, (headers['x-hub-signature-256'] ?? '').replace(/^(?!sha256=)/i, 'sha256='), bytes);
    case 'stripe': {
      const parts = (headers['stripe-signature'] ?? '').split(',').map((part) => part.trim().split('='));
      const stamp = parts.find(([name]) => name === 't')?.[1] ?? '';
      if (stamp === '') return 'Stripe-Signature has no time';
      if (!isRecent(stamp, clock.now())) return OLD;
      const expected = await hmac(joined(`${stamp}.`, bytes), 'utf8');
      return fits(
        expected && hexOf(expected),
        parts.flatMap(([name, value = '']) => (name === 'v1' ? [value] : [])),
      );
    }
    case 'token': {
      const mine = await hmac(encoder.encode(COMPARED), 'utf8');
      const { authorization = '', 'x-gitlab-token': gitlab = '', 'x-api-key': key = '' } = headers;
      const tokens = [authorization.replace(/^bearer\s+/i, '').trim(), gitlab, key].filter((token) => token !== '');
      const isIt = mine !== undefined && tokens.some((token) => timingSafeEqual(mine, createHmac('sha256', token).update(COMPARED).digest()));
      return isIt ? undefined : 'the token is another one';
    }
  }
};

/** SHA-256 by a secret: its text, or with `whsec` the base64 after `whsec_` where it has that. */
export type Hmac = (data: Uint8Array, key: 'utf8' | 'whsec') => Promise<Uint8Array | undefined>;

/** Why a signature of Standard Webhooks does not hold; undefined where it does. */
export const standardRefusal = async (hmac: Hmac, headers: Req['headers'], bytes: Uint8Array, nowMs: number): Promise<string | undefined> => {
  const { 'webhook-id': id = '', 'webhook-timestamp': stamp = '', 'webhook-signature': given = '' } = headers;
  if (id === '' || !STAMP.test(stamp)) return 'webhook-id or webhook-timestamp is missing';
  if (!isRecent(stamp, nowMs)) return OLD;
  const expected = await hmac(joined(`${id}.${stamp}.`, bytes), 'whsec');
  return fits(expected && `v1,${Buffer.from(expected).toString('base64')}`, given.split(' '));
};

/** The same of `X-Hub-Signature-256`. */
export const hubRefusal = async (hmac: Hmac, given: string, bytes: Uint8Array): Promise<string | undefined> => {
  const expected = await hmac(bytes, 'utf8');
  return fits(expected && `sha256=${hexOf(expected)}`, [given.toLowerCase()]);
};

const OLD = 'it is older than five minutes, or a clock is wrong';
const STAMP = /^\d{1,12}$/;

const isRecent = (stamp: string, nowMs: number): boolean => STAMP.test(stamp) && Math.abs(nowMs / SECOND_MS - Number(stamp)) <= MAX_AGE_SECS;

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const joined = (before: string, bytes: Uint8Array): Uint8Array => Buffer.concat([encoder.encode(before), bytes]);

const fits = (expected: string | undefined, given: readonly string[]): string | undefined =>
  expected !== undefined && given.some((one) => isSameText(one, expected)) ? undefined : 'it does not fit the body';

/** In a time that says nothing of where they differ. */
export const isSameText = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((text) => createHmac('sha256', COMPARED).update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
};

const NAMED = ['idempotency-key', 'webhook-id', 'x-github-delivery', 'x-gitlab-event-uuid'];

/** By what a call is known that comes again; undefined where it says nothing. */
export const idOfCall = (scheme: Scheme, { headers, body }: SentCall): string | undefined => {
  if (scheme === 'standard') return headers['webhook-id'];
  if (scheme === 'stripe') return valueAt(body, 'id');
  return NAMED.map((name) => headers[name]).find((value) => value !== undefined && value !== '');
};
