/** What GET /api/security shows of the kernel's own systems: each is tried by the package that owns it, over the parts of this daemon. */
import { type SecurityLook, SecurityReport, securityProbe } from '@svc/api';
import type { ContextParts } from '@svc/context';
import type { Contributor } from '@svc/core';
import { lookAtSandbox } from '@svc/platform/adapters/child/sandbox-probe';
import { lookAtAddresses } from '@svc/platform/adapters/fetch/address-probe';
import { lookAtPaths } from '@svc/platform/adapters/files/path-probe';
import { settingsOf } from '@svc/platform/config/kernel-sections';
import { lookAtHeaders } from '@svc/platform/http/header-probe';
import { type Address, urlOf } from './address.js';

const probesOf = ({ clock, config, env, execAdapter, fetchAdapter, home: { dataDir }, http, openDir }: ContextParts, address: Address): Readonly<Record<string, () => Promise<SecurityLook>>> => ({
  security_headers: () => lookAtHeaders(http.anonymousGet),
  path_traversal_prevention: () => lookAtPaths(openDir, dataDir),
  ssrf_protection: () => lookAtAddresses(fetchAdapter, urlOf(address)),
  subprocess_sandbox: () => lookAtSandbox({ adapter: execAdapter, env, allowed: settingsOf(config, 'exec_policy').allowed_env_vars, folder: dataDir }),
  manifest_signing: async () => {
    const { lookAtSigning } = await import('@svc/installer/signing-probe');
    return lookAtSigning(dataDir, { thirdParty: settingsOf(config, 'extensions').third_party, now: new Date(clock.now()) });
  },
});

export const tapSecurity = (own: Contributor, parts: ContextParts, address: Address): void => {
  for (const [name, look] of Object.entries(probesOf(parts, address))) parts.hooks.tap(own, SecurityReport, securityProbe(name, look));
};
