/** What each role may do, by the verb of a route's permission (`agents.read`, `runs.send`, `kernel.admin`). */
import type { Role } from '@svc/api';

const ALLOWED: Readonly<Record<Role, ReadonlySet<string>>> = {
  owner: new Set(['read', 'send', 'write', 'admin', 'own']),
  system: new Set(['read', 'send', 'write', 'admin', 'own']),
  admin: new Set(['read', 'send', 'write', 'admin']),
  user: new Set(['read', 'send', 'write']),
  viewer: new Set(['read']),
  public: new Set(),
};

export const mayDo = (role: Role, permission: string): boolean => ALLOWED[role].has(permission.slice(permission.lastIndexOf('.') + 1));
