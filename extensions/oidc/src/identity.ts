/**
 * Who a provider says somebody is.
 *
 * P1  A person is issuer and subject; an e-mail address never is.
 * P2  Without a verified address, or of another domain, nobody comes in where the settings ask for it.
 * P3  A role comes of the role map, else it is the default role; nobody is an owner whom no line names.
 */
import { createHash } from 'node:crypto';
import type { Role } from '@svc/api';
import type { ExternalAuth, Provider } from '@svc/ext-auth/contract';
import { oidcErrors } from './errors.js';

export type Claims = Readonly<Record<string, unknown>>;

export interface Identity {
  /** SHA-256 of issuer and subject. */
  readonly id: string;
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly picture: string | undefined;
  /** What the claim lists. */
  readonly roles: readonly string[];
  /** Undefined where nobody may come in by these claims. */
  readonly role: Role | undefined;
}

const MAX_ROLES = 500;
const MAX_NAME = 200;
const MAX_URL = 2_000;
/** From the highest. */
const RANKS = ['owner', 'admin', 'user', 'viewer'] as const;

const textOf = (value: unknown, most: number): string | undefined => {
  if (typeof value !== 'string') return undefined;
  const clean = value.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return clean === '' ? undefined : clean.slice(0, most);
};

/** `realm_access.roles` leads inside; a claim whose own name has dots comes first. */
const claimAt = (claims: Claims, path: string): unknown => {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const part of path.split('.')) value = typeof value === 'object' && value !== null && Object.hasOwn(value, part) ? (value as Claims)[part] : undefined; // an object by the line itself
  return value;
};

export const rolesOf = (claims: Claims, path: string): string[] => {
  if (path === '') return [];
  const value = claimAt(claims, path);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one): one is string => typeof one === 'string').slice(0, MAX_ROLES);
};

const roleOf = (roles: readonly string[], { default_role: usual, role_map: map }: ExternalAuth): Role | undefined => {
  const mapped = roles.flatMap((role) => (Object.hasOwn(map, role) ? [map[role]] : []));
  return RANKS.find((rank) => mapped.includes(rank)) ?? (usual === 'none' ? undefined : usual);
};

export const identityId = (issuer: string, subject: string): string => createHash('sha256').update(`${issuer}\n${subject}`).digest('hex');

/** Throws `oidc_bad_token` without a subject, `oidc_email_unverified`, `oidc_wrong_domain`. */
export const identityOf = (provider: Provider, issuer: string, claims: Claims, settings: ExternalAuth): Identity => {
  const subject = claims.sub;
  if (typeof subject !== 'string' || subject === '' || subject.length > 255) throw oidcErrors.bad_token(provider.id, 'it names no subject');
  const email = textOf(claims.email, 320);
  const isEmailVerified = email !== undefined && (claims.email_verified === true || claims.email_verified === 'true');
  if (provider.require_email_verified && !isEmailVerified) throw oidcErrors.email_unverified();
  const domain = /^[^@]+@([^@]+)$/.exec(email ?? '')?.[1]?.toLowerCase();
  if (provider.allowed_domains.length > 0 && !provider.allowed_domains.some((one) => domain !== undefined && one.toLowerCase() === domain)) throw oidcErrors.wrong_domain();
  const roles = rolesOf(claims, settings.roles_claim);
  const picture = textOf(claims.picture, MAX_URL);
  return {
    ...{ id: identityId(issuer, subject), provider: provider.id, issuer, subject, email, isEmailVerified, roles },
    name: textOf(claims.name, MAX_NAME) ?? textOf(claims.preferred_username, MAX_NAME) ?? email ?? subject.slice(0, MAX_NAME),
    picture: picture !== undefined && /^https?:\/\//.test(picture) ? picture : undefined,
    role: roleOf(roles, settings),
  };
};
