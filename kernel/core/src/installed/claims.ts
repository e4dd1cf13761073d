/**
 * What only one extension can have: settings, hooks, facts, kinds of work and capabilities are claimed by name. Of two that claim the
 * same the one installed first keeps it; the kernel's own names are nobody else's.
 */
import { capabilityNameFault } from '@svc/api';
import type { Manifest } from '@svc/api/internal';

/** Names that the kernel keeps, by what they name. */
export interface KernelNames {
  readonly sections: readonly string[];
  readonly events: readonly string[];
  readonly kinds: readonly string[];
}

export const NO_KERNEL_NAMES: KernelNames = { sections: [], events: [], kinds: [] };

interface Claim {
  /** As a message calls it: `the config section`. */
  readonly what: string;
  readonly name: string;
}

const claimsOf = (manifest: Manifest): Claim[] => [
  ...(manifest.config ?? []).map((claim) => ({ what: 'the config section', name: 'section' in claim ? claim.section : 'key' in claim ? claim.key : claim.setting })),
  ...(manifest.defines ?? []).map((name) => ({ what: 'the hook', name })),
  ...(manifest.events?.publishes ?? []).map((name) => ({ what: 'the event', name })),
  ...(manifest.kinds ?? []).map((name) => ({ what: 'the kind of work', name })),
  ...(manifest.capabilities ?? []).map((name) => ({ what: 'the capability', name })),
];

/** Why these claims cannot stand beside what was there before; undefined when they can. */
export const rivalClaim = (manifest: Manifest, before: readonly Manifest[], kernel: KernelNames): string | undefined => {
  const own: Readonly<Record<string, readonly string[]>> = { 'the config section': kernel.sections, 'the event': kernel.events, 'the kind of work': kernel.kinds };
  for (const { what, name } of claimsOf(manifest)) {
    if (own[what]?.includes(name)) return `it claims ${what} ${name}, which is the kernel's`;
    const fault = what === 'the capability' ? capabilityNameFault(name) : undefined;
    if (fault !== undefined) return `it claims the capability ${name}, which ${fault}`;
    const rival = before.find((other) => claimsOf(other).some((claim) => claim.what === what && claim.name === name));
    if (rival) return `it claims ${what} ${name}, which ${rival.id} has`;
  }
  return undefined;
};
