/** Hooks at the gate: tapped and defined are those that the manifest names; called are one's own, and those declared callable. */
import type { Hooks, Manifest } from '@svc/api';
import type { HookRegistry, Owner } from '@svc/core';
import { requireDeclared } from './declared.js';

export const hooksGate = (registry: HookRegistry, owner: Owner, manifest: Manifest): Hooks => {
  const tapped = (manifest.hooks ?? []).map(({ name }) => name);
  return {
    tap: (hook, fn, options) => {
      requireDeclared(manifest, 'hooks', tapped, hook.name);
      return registry.tap(owner, hook, fn, options);
    },
    define: (hook) => {
      requireDeclared(manifest, 'defines', manifest.defines ?? [], hook.name);
      return registry.define(owner, hook);
    },
    use: (hook) => registry.use(owner, hook),
  };
};
