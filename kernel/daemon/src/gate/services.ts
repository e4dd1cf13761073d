/** Services at the gate: provided and used are those that the manifest names, in the versions it names. */
import { type Manifest, type ServiceDecl, type Services, declaredAs } from '@svc/api';
import type { Owner, ServiceRegistry } from '@svc/core';
import { daemonErrors } from '../errors.js';
import { keysOfRecord, requireDeclared } from './declared.js';

export const servicesGate = (registry: ServiceRegistry, owner: Owner, manifest: Manifest): Services => {
  const provides = (decl: ServiceDecl): void => {
    requireDeclared(manifest, 'provides', keysOfRecord(manifest.provides), decl.name);
    if (![manifest.provides?.[decl.name] ?? []].flat().includes(decl.version)) throw daemonErrors.not_declared(manifest.id, `${decl.name} ${decl.version}`, 'provides');
  };
  const needed = keysOfRecord(manifest.requires);
  const used = [...needed, ...keysOfRecord(manifest.optional), ...keysOfRecord(manifest.provides)];
  return {
    provide: (decl, methods) => {
      provides(decl);
      return registry.provide(owner, decl, methods);
    },
    require: (decl) => {
      requireDeclared(manifest, 'requires', needed, decl.name);
      return registry.require(owner, decl);
    },
    optional: (decl) => {
      requireDeclared(manifest, 'optional', used, decl.name);
      return registry.optional(owner, decl);
    },
  };
};

export const providedAs = (manifest: Manifest): string[] => Object.entries(manifest.provides ?? {}).flatMap(([name, versions]) => [versions].flat().map((version) => declaredAs({ name, version })));
