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
/** What is compared of a token: nobody learns from the time it takes where two differ. */
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
  const hmac = async (data: Uint8Array, key: 'utf8' | 'whsec'): Promise<Uint8Array | undefined> => secrets.hmac(secret, data, { algorithm: 'sha256', key });
  const isRecent = (stamp: string): boolean => /^\d{1,12}$/.test(stamp) && Math.abs(clock.now() / SECOND_MS - Number(stamp)) <= MAX_AGE_SECS;
  switch (scheme) {
    case 'standard': {
      const { 'webhook-id': id = '', 'webhook-timestamp': stamp = '', 'webhook-signature': given = '' } = headers;
      if (id === '' || stamp === '') return 'webhook-id or webhook-timestamp is missing';
      if (!isRecent(stamp)) return OLD;
      return fits(await hmac(joined(`${id}.${stamp}.`, bytes), 'whsec'), 'base64', given.split(' ').map(versionOne));
    }
    case 'github':
      return fits(await hmac(bytes, 'utf8'), 'hex', [(headers['x-hub-signature-256'] ?? '').toLowerCase().replace(/^sha256=/, '')]);
    case 'stripe': {
      const parts = (headers['stripe-signature'] ?? '').split(',').map((part) => part.trim().split('='));
      const stamp = parts.find(([name]) => name === 't')?.[1] ?? '';
      if (stamp === '') return 'Stripe-Signature has no time';
      if (!isRecent(stamp)) return OLD;
      return fits(
        await hmac(joined(`${stamp}.`, bytes), 'utf8'),
        'hex',
        parts.flatMap(([name, value = '']) => (name === 'v1' ? [value] : [])),
      );
    }
    case 'token': {
      const mine = await hmac(encoder.encode(COMPARED), 'utf8');
      const { authorization = '', 'x-gitlab-token': gitlab = '', 'x-api-key': key = '' } = headers;
      const tokens = [authorization.replace(/^bearer\s+/i, '').trim(), gitlab, key].filter((token) => token !== '');
      const isIt = mine !== undefined && tokens.some((token) => isSame(mine, createHmac('sha256', token).update(COMPARED).digest()));
      return isIt ? undefined : 'the token is another one';
    }
  }
};

const OLD = 'it is older than five minutes, or a clock is wrong';

const versionOne = (one: string): string => (one.startsWith('v1,') ? one.slice('v1,'.length) : '');

const joined = (before: string, bytes: Uint8Array): Uint8Array => Buffer.concat([encoder.encode(before), bytes]);

const fits = (expected: Uint8Array | undefined, as: 'hex' | 'base64', given: readonly string[]): string | undefined =>
  expected !== undefined && given.some((one) => isSame(expected, Buffer.from(one, as))) ? undefined : 'it does not fit the body';

const isSame = (one: Uint8Array, other: Uint8Array): boolean => one.length === other.length && timingSafeEqual(one, other);

const NAMED = ['idempotency-key', 'webhook-id', 'x-github-delivery', 'x-gitlab-event-uuid'];

/** By what a call is known that comes again; undefined where it says nothing. */
export const idOfCall = (scheme: Scheme, { headers, body }: SentCall): string | undefined => {
  if (scheme === 'standard') return headers['webhook-id'];
  if (scheme === 'stripe') return valueAt(body, 'id');
  return NAMED.map((name) => headers[name]).find((value) => value !== undefined && value !== '');
};
