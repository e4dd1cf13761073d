/** The capabilities that installed extensions declare, read from their data alone. */
import type { CapabilityDecl } from '@svc/api';
import { frozen, isCapability } from '@svc/api/internal';
import type { Installed } from './installed.js';
import { derivedFrom, type InstalledStore } from './installed-store.js';

const FORMS: Readonly<Record<CapabilityDecl['grant'], string>> = { flag: 'true or false', names: 'patterns of names', hosts: 'patterns of hosts' };

/** How messages and `svc ext info` call it. A declaration of another form reads otherwise, and so does not pass for this one. */
export const describeCapability = ({ name, grant }: CapabilityDecl): string => `${name}: ${FORMS[grant]}`;

/** What one extension declares: named in its manifest, and whole in its contributions. */
export const ownCapabilities = ({ manifest, contributions }: Pick<Installed, 'manifest' | 'contributions'>): readonly CapabilityDecl[] =>
  contributions.capabilities.filter((one) => isCapability(one) && (manifest.capabilities ?? []).includes(one.name));

const firstOfEach = (all: readonly Installed[]): readonly CapabilityDecl[] => {
  const owners = new Map<string, string>();
  for (const { id, manifest } of all) for (const name of manifest.capabilities ?? []) if (!owners.has(name)) owners.set(name, id);
  const kept = all.flatMap((one) => ownCapabilities(one).filter(({ name }) => owners.get(name) === one.id));
  // What is handed out is shared by all who ask.
  return frozen(structuredClone([...new Map(kept.map((one) => [one.name, one])).values()]));
};

/** What all declare. Of two that claim a name the one installed first has it; the other is not started (claims.ts). */
export const declaredCapabilities = (store: Pick<InstalledStore, 'all'>): (() => readonly CapabilityDecl[]) => derivedFrom(store, firstOfEach);
