/** Hooks at the access check: tapped and defined are those that the manifest names; called are one's own, and by grant those declared callable. */
import type { Hooks } from '@svc/api';
import { grantOfHook, type Manifest } from '@svc/api/internal';
import type { HookRegistry, Contributor } from '@svc/core';
import { requireDeclared, still, type Grants } from './grants-policy.js';

export const hooksAccess = (registry: HookRegistry, owner: Contributor, manifest: Manifest, grants: Pick<Grants, 'need'>): Hooks => {
  const tapped = (manifest.hooks ?? []).map(({ name }) => name);
  return {
    tap: (decl, fn, options) => {
      const hook = still(decl);
      requireDeclared(manifest, 'hooks', tapped, hook.name);
      const needed = grantOfHook(hook.name);
      // One that is optional may not have been given.
      if (needed !== undefined) grants.need(needed);
      return registry.tap(owner, hook, fn, options);
    },
    define: (decl) => {
      const hook = still(decl);
      requireDeclared(manifest, 'defines', manifest.defines ?? [], hook.name);
      return registry.define(owner, hook);
    },
    use: (decl) => {
      const hook = still(decl);
      const handle = registry.use(owner, hook);
      grants.need('calls', hook.name);
      return handle;
    },
  };
};
