/** Which settings hold keys of callers is said by their schemas; whether one is set, here. */
import { holdsCallerKey } from '@svc/api';
import { marksCallerKey } from '@svc/api/internal';
import { schemaOf } from './claims.js';
import type { SectionClaims } from './kernel-sections.js';

type Env = Readonly<Record<string, string | undefined>>;
type Get = (section: string) => unknown;

/** Sections that may hold a key. None of an extension from elsewhere: it could make the daemon believe that callers need a key. */
export const keySections = (claims: SectionClaims): readonly string[] => Object.keys(claims).filter((name) => claims[name]?.isForeign !== true && marksCallerKey(schemaOf(claims[name])));

/** False: the daemon is open. */
export const hasCallerKey = (claims: SectionClaims, get: Get, env: Env): boolean => keySections(claims).some((name) => holdsCallerKey(schemaOf(claims[name]), get(name), env));

/** What the setting for the key that the daemon made has to be (`x-owner-key`): its hash where nobody set another key, else nothing. */
export const ownerKeySetting = (claims: SectionClaims, get: Get, env: Env, hash: string | undefined): Readonly<Record<string, string>> => {
  const own = keySections(claims).find((name) => schemaOf(claims[name])['x-owner-key'] === true);
  if (own === undefined) return {};
  const isOtherSet = hasCallerKey(Object.fromEntries(Object.entries(claims).filter(([name]) => name !== own)), get, env);
  return { [own]: isOtherSet ? '' : (hash ?? '') };
};
