/** What the composition root reads from settings, environment and release. */
import type { JsonSchema } from '@svc/api';
import { derivedFrom, type Installed, type InstalledStore, type IntentSources, type Lifecycle } from '@svc/core';
import { type SectionClaims, settingsOf } from '@svc/platform/config/kernel-sections';
import type { Admission } from '@svc/platform/http/callers/admission';
import type { Preset, Release } from '../release.js';

const EMPTY_PRESET: Preset = { extensions: [], essential: [], required_security: [] };

/** Of a daemon that is up: what stands between it and its callers. */
export function admissionOf(closed: readonly string[], missing: readonly string[], isDatabaseElsewhere: boolean): Admission {
  // Who has which key may stand in such a setting: nobody is believed then.
  if (closed.length > 0) return { state: 'closed', reason: `the setting ${closed.join(', ')} is not valid.`, mayRepair: false };
  if (missing.length > 0) return { state: 'closed', reason: `${missing.join(', ')} is not active. On this machine svc ext enable ${missing[0]} brings it back.`, mayRepair: true };
  if (isDatabaseElsewhere)
    return {
      state: 'closed',
      reason: 'the setting storage.url could not be read at the start, and names another database than the one in use. Restart the daemon.',
      mayRepair: false,
    };
  return { state: 'ready' };
}

/** `[security] required` names installed areas without which nothing but public routes may answer; the preset says which by default. */
export function missingSecurity(lifecycle: Lifecycle, preset: Preset, config: { get(section: string): unknown }): readonly string[] {
  return requiredSecurity(preset, config).filter((id) => !lifecycle.isActive(id));
}

export function requiredSecurity(preset: Preset, config: { get(section: string): unknown }): readonly string[] {
  const own = settingsOf(config, 'security').required;
  return own.length > 0 ? own : preset.required_security;
}

/** Validated as JSON Schemas when the extension was. */
const schemasOf = ({ contributions }: Installed) => contributions.config as Readonly<Record<string, JsonSchema>>;

/** What the installed extensions claim now; asked for at every look at a setting. Who was installed first keeps a section; the other is not started (core's claims.ts). */
export const claimsOf = (store: InstalledStore): (() => SectionClaims) => derivedFrom(store, sectionsOf);

export const sectionsOf = (all: readonly Installed[]): SectionClaims =>
  Object.fromEntries(all.toReversed().flatMap((one) => Object.entries(schemasOf(one)).map(([section, schema]) => [section, { schema, owner: one.id, isForeign: !one.bundled }])));

export function presetOf(release: Release, config: { get(section: string): unknown }): { name: string; preset: Preset } {
  const { preset: name } = settingsOf(config, 'extensions');
  return { name, preset: release.presets[name] ?? EMPTY_PRESET };
}

/** What decides whether an extension should run. */
export const intentSources = (choices: ReadonlyMap<string, boolean>, config: { get(section: string): unknown }, { name, preset }: { name: string; preset: Preset }): IntentSources => ({
  choices,
  ...extensionSettings(config),
  preset: { name, ...preset },
});

function extensionSettings(config: { get(section: string): unknown }): { configEnable: readonly string[]; configDisable: readonly string[] } {
  const { enable, disable } = settingsOf(config, 'extensions');
  return { configEnable: enable, configDisable: disable };
}
