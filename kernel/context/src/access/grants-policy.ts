/** What one extension was granted and what it declared: asked by every member of its context where it is used. */
import { type Grant, grantFaults, grantsOf, type GrantName, isGranted, type Manifest } from '@svc/api/internal';
import { contextErrors } from '../errors.js';

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
  if (faults.length > 0) throw contextErrors.bad_grants(id, faults.join('; '));
  const grants: readonly Grant[] = grantsOf(manifest);
  const has: Grants['has'] = (kind, parameter) => isGranted(grants, kind, parameter);
  return {
    texts: grants.map(({ text }) => text),
    has,
    need: (kind, parameter) => {
      if (!has(kind, parameter)) throw contextErrors.not_granted(id, parameter === undefined ? kind : `${kind}:${parameter}`);
    },
    of: (kind) => grants.flatMap((grant) => (grant.kind === kind && grant.parameter !== undefined ? [grant.parameter] : [])),
  };
};

/** Throws `daemon_not_declared`, naming the field of extension.json and what to add there. */
export const requireDeclared = (manifest: Manifest, field: string, names: readonly string[], name: string): void => {
  if (names.some((one) => one === name || (one.endsWith(':*') && name.startsWith(one.slice(0, -1))))) return;
  throw contextErrors.not_declared(manifest.id, name, field);
};

/** A declaration as it is read once: one that reads otherwise the second time would be validated by one name and used by another. */
export const still = <D extends object>(decl: D): D => Object.freeze({ ...decl });

export const keysOfRecord = (record: Readonly<Record<string, unknown>> | undefined): string[] => Object.keys(record ?? {});
