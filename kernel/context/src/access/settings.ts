/** Settings at the access check: the sections that the manifest claims, and no others. */
import type { ConfigHandle, Plain, TSchema } from '@svc/api';
import type { Manifest } from '@svc/api/internal';
import { type Contributor, runAs } from '@svc/core';
import type { Config } from '@svc/platform/config/config';
import { requireDeclared } from './grants-policy.js';

/** As the platform names a claim: a section, `/key`, or `api.setting`. */
export const claimedBy = (manifest: Manifest): string[] => (manifest.config ?? []).map((claim) => ('section' in claim ? claim.section : 'key' in claim ? claim.key : claim.setting));

export const settingsAccess = (config: Config, owner: Contributor, manifest: Manifest): ConfigHandle => {
  const claimed = claimedBy(manifest);
  return {
    get: <S extends TSchema>({ section }: { readonly section: string; readonly schema: S }) => {
      requireDeclared(manifest, 'config', claimed, section);
      // The platform validated the value against the schema that was claimed.
      return config.get(section) as Plain<S>;
    },
    onChange: ({ section }, fn) => {
      requireDeclared(manifest, 'config', claimed, section);
      const listening = config.onChange(section, () => runAs(owner, fn));
      return owner.lifetime.add(`watch of [${section}]`, () => listening.dispose());
    },
  };
};
