/** What a change does to others, before it is made. */
import type { ExtensionPlan } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { dependentsOf, usersOf } from './installed/resolver.js';

/** What stops when `id` does, of what is `active`. */
export function planStop(action: ExtensionPlan['action'], id: string, active: readonly Manifest[], essential: boolean): ExtensionPlan {
  const on = active.some((manifest) => manifest.id === id);
  const warning = essential ? `${id} is essential: without it the daemon refuses most work and answers 503.` : null;
  return { id, action, starts: [], stops: on ? [id, ...dependentsOf(id, active)] : [], degrades: on ? usersOf(id, active) : [], warning, back: `svc ext enable ${id}` };
}
