/** What a package asks for, what of it somebody agreed to, and what no isolation keeps. */
import { GRANT_KINDS, isGranted, type Manifest, parseGrant } from '@svc/api';
import type { Isolation } from '../signing/trust.js';

export interface AskedGrant {
  readonly grant: string;
  /** What it lets the extension do, in words. */
  readonly what: string;
  /** Why it wants that, as its author says. */
  readonly why: string;
  /** It works without. */
  readonly optional: boolean;
  /** Not covered by what was agreed to for the version that is installed. */
  readonly isNew: boolean;
}

/** `agreed`: the grants of the version that is installed; none for a new extension. */
export const askedGrants = ({ grants = [] }: Pick<Manifest, 'grants'>, agreed: readonly string[]): readonly AskedGrant[] => {
  const before = agreed.map(parseGrant).filter((one) => typeof one !== 'string');
  return grants.map(({ grant, why, optional = false }) => {
    const parsed = parseGrant(grant);
    const known = typeof parsed === 'string' ? undefined : parsed;
    return { grant, what: known ? GRANT_KINDS[known.kind].what : '', why, optional, isNew: !(known && isGranted(before, known.kind, known.parameter)) };
  });
};

/** The grants that hold from now on, and those that it cannot do without and that nobody agreed to. */
export const agreedGrants = (asked: readonly AskedGrant[], consent: readonly string[] | 'all'): { readonly granted: readonly string[]; readonly missing: readonly string[] } => {
  const isAgreed = ({ grant, isNew }: AskedGrant): boolean => consent === 'all' || !isNew || consent.includes(grant);
  return {
    granted: asked.filter(isAgreed).map(({ grant }) => grant),
    missing: asked.filter((one) => !one.optional && !isAgreed(one)).map(({ grant }) => grant),
  };
};

const NETWORK =
  'the network: Node.js does not stop it from opening connections of its own. What it fetches through the daemon is held to its grants; the rest only isolation = "walled" cuts, with bubblewrap on Linux.';

/** What this isolation does not keep, as sentences for whoever agrees. */
export const notKept = (isolation: Isolation): readonly string[] => {
  if (isolation === 'walled') return [];
  if (isolation === 'isolated') return [NETWORK];
  return ['anything: it runs inside the daemon. Its grants hold what it asks the daemon for; nothing stops it from reading files, the environment and the memory of the daemon.'];
};
