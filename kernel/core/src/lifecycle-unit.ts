/** One extension as the lifecycle keeps it, and what it shows of it. */
import type { ExtensionStatus } from '@svc/api';
import type { ExtensionProcess, ExtensionStorage, Manifest } from '@svc/api/internal';
import type { AnyRegistry } from './contribution-registry.js';
import type { Generation, Phase } from './generation.js';
import type { StrikeRegistry } from './hooks/strike-registry.js';
import type { Installed } from './installed/installed.js';
import type { Intent, IntentSources } from './installed/intent.js';

export type State = ExtensionStatus['state'];

export const FIRST_RETRY_MS = 1_000;
const DRAIN_MS = 60_000;

export class UnknownExtension extends Error {
  override readonly name = 'UnknownExtension';
}

export interface Unit {
  /** What its next generation is made from. */
  installed: Installed;
  state: State;
  phase: Phase | null;
  reason: string | null;
  recoverable: boolean;
  degraded: boolean;
  generation: Generation | undefined;
  generations: number;
  retryMs: number;
  cancelRetry: (() => void) | undefined;
  startedAt: string | null;
  startMs: number | null;
  leaks: string[];
  /** Of the start that goes on. */
  starting: AbortController | undefined;
  /** A person wants it on; that is kept when it has started. */
  isAttempted: boolean;
  /** What a person should know of it although it runs. */
  note: string | null;
  /** Why its last start failed. */
  failure: unknown;
}

export const newUnit = (installed: Installed): Unit => ({
  installed,
  state: 'inactive',
  phase: null,
  reason: null,
  recoverable: true,
  degraded: false,
  generation: undefined,
  generations: 0,
  retryMs: FIRST_RETRY_MS,
  cancelRetry: undefined,
  startedAt: null,
  startMs: null,
  leaks: [],
  starting: undefined,
  isAttempted: false,
  note: null,
  failure: undefined,
});

interface StatusSources {
  readonly registries: readonly AnyRegistry[];
  readonly strikes: StrikeRegistry;
  intents(): IntentSources;
  processOf?(id: string): ExtensionProcess | undefined;
  storedBy?(id: string): ExtensionStorage | undefined;
}

export const statusOf = (unit: Unit, { intents, processOf, registries, storedBy, strikes }: StatusSources, intent: Intent): ExtensionStatus => {
  const { installed, generation } = unit;
  const { bundled, description, id, manifest, origin = null, version } = installed;
  return {
    id,
    version,
    description,
    bundled,
    origin,
    process: processOf?.(id) ?? null,
    stored: storedBy?.(id) ?? null,
    state: unit.state,
    degraded: unit.degraded,
    phase: unit.phase,
    reason: unit.reason ?? unit.note,
    recoverable: unit.recoverable,
    generation: generation?.owner.generation ?? 0,
    essential: intents().preset.essential.includes(id),
    intent,
    provides: Object.fromEntries(Object.entries(manifest.provides ?? {}).map(([name, versions]) => [name, [versions].flat().join(', ')])),
    requires: Object.keys(manifest.requires ?? {}),
    optional: Object.keys(manifest.optional ?? {}),
    grants: (manifest.grants ?? []).map(({ grant, why }) => ({ grant, why })),
    contributes: Object.fromEntries(registries.map((registry) => [registry.name, generation ? registry.describe(generation.owner) : []])),
    holds: generation?.owner.lifetime.holds() ?? [],
    strikes: strikes.count(id),
    leaks: unit.leaks,
    startedAt: unit.startedAt,
    startMs: unit.startMs,
  };
};

export const manifestOf = (unit: Unit): Manifest => unit.installed.manifest;
export const drainMsOf = (unit: Unit): number => unit.installed.manifest.drainMs ?? DRAIN_MS;
