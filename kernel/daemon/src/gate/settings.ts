/** Settings at the gate: the sections that the manifest claims, and no others. */
import type { ConfigHandle, Manifest, Plain, TSchema } from '@svc/api';
import { type Owner, runAs } from '@svc/core';
import type { Config } from '@svc/platform/config/config';
import { kernelSections } from '@svc/platform/config/kernel-sections';
import { requireDeclared } from './declared.js';

/** As the platform names a claim: a section, or `/key`. */
export const claimedBy = (manifest: Manifest): string[] => (manifest.config ?? []).map((claim) => ('section' in claim ? claim.section : claim.key));

export const settingsGate = (config: Config, owner: Owner, manifest: Manifest): ConfigHandle => {
  const claimed = [...claimedBy(manifest), ...(manifest.reads ?? []).filter((section) => section in kernelSections)];
  return {
    get: <S extends TSchema>({ section }: { readonly section: string; readonly schema: S }) => {
      requireDeclared(manifest, 'config', claimed, section);
      // The platform validated the value against the schema that was claimed.
      return config.get(section) as Plain<S>;
    },
    onChange: ({ section }, fn) => {
      requireDeclared(manifest, 'config', claimed, section);
      const listening = config.onChange(section, () => runAs(owner, undefined, fn));
      return owner.lifetime.add(`watch of [${section}]`, () => listening.dispose());
    },
  };
};
