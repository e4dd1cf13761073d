/** What the composition root reads from settings, environment and release. */
import type { Lifecycle } from '@svc/core';
import type { Home } from '@svc/platform/config/home';
import type { SectionClaims } from '@svc/platform/config/kernel-sections';
import { isLoopbackName } from '@svc/platform/http/access';
import type { Gate } from '@svc/platform/http/gate';
import { daemonErrors } from './errors.js';
import type { InstalledFiles, Preset, Release } from './release.js';

const EMPTY_PRESET: Preset = { extensions: [], essential: [], required_security: [] };

export function gateOf(phase: 'starting' | 'ready' | 'stopping', closed: readonly string[], missing: readonly string[]): Gate {
  if (phase !== 'ready') return { state: phase };
  // Who has which key may stand in such a setting: nobody is believed then.
  if (closed.length > 0) return { state: 'closed', reason: `the setting ${closed.join(', ')} is not valid.`, mayRepair: false };
  if (missing.length > 0) return { state: 'closed', reason: `${missing.join(', ')} is not active.`, mayRepair: true };
  return { state: 'ready' };
}

/** `[security] required` names installed areas without which nothing but public routes may answer; the preset says which by default. */
export function missingSecurity(lifecycle: Lifecycle | undefined, preset: Preset, config: { get(section: string): unknown }): readonly string[] {
  return requiredSecurity(preset, config).filter((id) => !lifecycle?.isActive(id));
}

export function requiredSecurity(preset: Preset, config: { get(section: string): unknown }): readonly string[] {
  const own = (config.get('security') as { required: readonly string[] }).required;
  return own.length > 0 ? own : preset.required_security;
}

export function claimsOf(installed: readonly InstalledFiles[]): SectionClaims {
  const claims: Record<string, { schema: unknown; owner: string }> = {};
  for (const one of installed) for (const [section, schema] of Object.entries(one.contributions.config)) claims[section] = { schema, owner: one.id };
  return claims;
}

export function presetOf(release: Release, config: { get(section: string): unknown }): { name: string; preset: Preset } {
  const { preset: name } = config.get('extensions') as { preset: string };
  return { name, preset: release.presets[name] ?? EMPTY_PRESET };
}

export function extensionSettings(config: { get(section: string): unknown }): { configEnable: readonly string[]; configDisable: readonly string[] } {
  const { enable, disable } = config.get('extensions') as { enable: readonly string[]; disable: readonly string[] };
  return { configEnable: enable, configDisable: disable };
}

export function listenAddress(config: { get(section: string): unknown }, home: Home, port: number | undefined): { host: string; port: number } {
  const text = home.listen ?? (config.get('api') as { listen_addr: string }).listen_addr;
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: port ?? home.port ?? Number(text.slice(colon + 1)) };
}

export function refuseOpenNetwork(host: string, hasApiKey: boolean): void {
  if (!isLoopbackName(host) && !hasApiKey) throw daemonErrors.open_to_network(host);
}

export function hasKey(env: Readonly<Record<string, string | undefined>>, config: { get(section: string): unknown }): boolean {
  const users = config.get('/users') as readonly unknown[] | undefined;
  return Boolean(env.SVC_API_KEY) || Boolean(config.get('/api_key')) || Boolean(config.get('/api_key_hash')) || (users?.length ?? 0) > 0;
}
