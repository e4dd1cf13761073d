/** Services at the access check: provided and used are those that the manifest names, in the versions it names. */
import type { ServiceDecl, Services } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import type { Contributor, ServiceRegistry } from '@svc/core';
import { contextErrors } from '../errors.js';
import { keysOfRecord, requireDeclared, still, type Grants } from './grants-policy.js';

export const servicesAccess = (registry: ServiceRegistry, owner: Contributor, manifest: Manifest, grants: Pick<Grants, 'has'>): Services => {
  const isTrusted = grants.has('actors');
  const provides = (decl: ServiceDecl): void => {
    requireDeclared(manifest, 'provides', keysOfRecord(manifest.provides), decl.name);
    if (![manifest.provides?.[decl.name] ?? []].flat().includes(decl.version)) throw contextErrors.not_declared(manifest.id, `${decl.name} ${decl.version}`, 'provides');
  };
  const needed = keysOfRecord(manifest.requires);
  const used = [...needed, ...keysOfRecord(manifest.optional), ...keysOfRecord(manifest.provides)];
  return {
    provide: (given, methods) => {
      const decl = still(given);
      provides(decl);
      return registry.provide(owner, decl, methods);
    },
    require: (given) => {
      const decl = still(given);
      requireDeclared(manifest, 'requires', needed, decl.name);
      return registry.require(owner, decl, isTrusted);
    },
    optional: (given) => {
      const decl = still(given);
      requireDeclared(manifest, 'optional', used, decl.name);
      return registry.optional(owner, decl, isTrusted);
    },
  };
};
