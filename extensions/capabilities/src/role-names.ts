/** Names in the roles of `[capabilities]` that grant nothing: no permission has them, and no installed area declares them. */
import { type CapabilityDecl, didYouMean, type DoctorFinding } from '@svc/api';
import { GRANTS, type RoleGrants } from './grants.js';

const ROLES = ['admin', 'user', 'viewer'] as const;

/** A sentence for each. The area may have been removed, or not come yet: so the setting stands, and is told. */
export const idleNames = (roles: RoleGrants, declared: readonly CapabilityDecl[]): string[] => {
  const known: readonly string[] = [...GRANTS, ...declared.map(({ name }) => name)];
  return ROLES.flatMap((role) =>
    roles[role]
      .filter((name) => !known.includes(name))
      .map((name) => `[capabilities] ${role} names "${name}", which is not a permission, and no installed extension declares such a capability: it grants nothing.${didYouMean(name, known)}`),
  );
};

export const roleFindings = (roles: RoleGrants, declared: readonly CapabilityDecl[]): DoctorFinding[] => {
  const idle = idleNames(roles, declared);
  if (idle.length === 0) return [{ check: 'capabilities.roles', result: 'pass', message: 'Roles name permissions that there are.' }];
  return idle.map((message) => ({ check: 'capabilities.roles', result: 'warn', message, fix: 'Correct the name under [capabilities] in config.toml, or install the extension that declares it.' }));
};
