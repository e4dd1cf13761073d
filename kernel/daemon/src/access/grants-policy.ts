/** What one extension was granted: asked by every member of its context where the grant is used. */
import { type Grant, grantFaults, grantsOf, type GrantName, isGranted, type Manifest } from '@svc/api/internal';
import { daemonErrors } from '../errors.js';

export interface Grants {
  /** As they stand in extension.json. */
  readonly texts: readonly string[];
  has(kind: GrantName, parameter?: string): boolean;
  /** Throws `daemon_not_granted`, with the grant's name and the line to add. */
  need(kind: GrantName, parameter?: string): void;
  /** The parameters of all grants of a kind. */
  of(kind: GrantName): readonly string[];
}

/** Throws `daemon_bad_grants` for a manifest that asks for what does not exist. */
export const createGrants = (id: string, manifest: Pick<Manifest, 'grants' | 'hooks' | 'replace'>): Grants => {
  const faults = grantFaults(manifest);
  if (faults.length > 0) throw daemonErrors.bad_grants(id, faults.join('; '));
  const grants: readonly Grant[] = grantsOf(manifest);
  const has: Grants['has'] = (kind, parameter) => isGranted(grants, kind, parameter);
  return {
    texts: grants.map(({ text }) => text),
    has,
    need: (kind, parameter) => {
      if (!has(kind, parameter)) throw daemonErrors.not_granted(id, parameter === undefined ? kind : `${kind}:${parameter}`);
    },
    of: (kind) => grants.flatMap((grant) => (grant.kind === kind && grant.parameter !== undefined ? [grant.parameter] : [])),
  };
};
