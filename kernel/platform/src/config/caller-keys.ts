/** Which settings hold keys of callers is said by their schemas; whether one is set, here. */
import { holdsCallerKey, marksCallerKey } from '@svc/api';
import { schemaOf } from './claims.js';
import type { SectionClaims } from './kernel-sections.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Sections that may hold a key. */
export const keySections = (claims: SectionClaims): readonly string[] => Object.keys(claims).filter((name) => marksCallerKey(schemaOf(claims[name])));

/** False: the daemon is open. */
export const hasCallerKey = (claims: SectionClaims, get: (section: string) => unknown, env: Env): boolean => keySections(claims).some((name) => holdsCallerKey(schemaOf(claims[name]), get(name), env));
