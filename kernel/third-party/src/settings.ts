/** What the settings say of third-party extensions: whose are taken, and what each may use. */
import type { Policy } from '@svc/installer/install';
import type { ProcessLimits } from '@svc/isolation';
import { settingsOf } from '@svc/platform/config/kernel-sections';

/** Whose extensions are taken, from where, and how they run. */
export function installPolicy(config: { get(section: string): unknown }): Policy {
  const { index, isolation, registry, third_party } = settingsOf(config, 'extensions');
  return { thirdParty: third_party, isolation, registry, index };
}

/** What the process of one extension may take. */
export function processLimits(config: { get(section: string): unknown }): ProcessLimits {
  const { memory_mb, rest_secs } = settingsOf(config, 'extensions');
  return { memoryMb: memory_mb, restMs: rest_secs * 1_000 };
}
