/** Who is started when, and what may take the place of what. */
import { PhaseError } from './generation.js';
import type { Installed } from './installed/installed.js';
import { type Host, resolve } from './installed/resolver.js';
import { manifestOf, type Unit } from './lifecycle-unit.js';

/** What a build made starts before what came from elsewhere: that takes no name, route or tool from it by being first. */
export const roundsOf = (waves: readonly (readonly string[])[], isFromElsewhere: (id: string) => boolean): ReadonlyArray<readonly string[]> => {
  if (!waves.flat().some(isFromElsewhere)) return waves;
  // Whoever needs one from elsewhere waits for the second round; what runs already is not started again.
  return [...waves.map((wave) => wave.filter((id) => !isFromElsewhere(id))), ...waves].filter((wave) => wave.length > 0);
};

/** Validated before any of its code runs: everything that runs now must still find what it requires. */
export const validateCandidate = (units: readonly Unit[], before: Installed, candidate: Installed, options: Host): void => {
  if (candidate === before) return;
  if (candidate.id !== before.id) throw new Error(`${candidate.id} cannot take the place of ${before.id}`);
  const others = units.filter((unit) => unit.installed !== before);
  const { blocked } = resolve([...others.filter((unit) => unit.generation).map(manifestOf), candidate.manifest], [...others.map(manifestOf), candidate.manifest], options);
  const why = blocked.get(candidate.id) ?? [...blocked].map(([id, reason]) => `${id}: ${reason}`)[0];
  if (why !== undefined) throw new PhaseError('load', new Error(why));
};
