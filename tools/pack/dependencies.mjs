/** The npm packages that a packed package needs, with the ranges that its sources name. */
import { readFileSync } from 'node:fs';
import { inRoot } from '../build/paths.mjs';

const packageJson = (dir) => JSON.parse(readFileSync(inRoot(dir, 'package.json'), 'utf8'));

/** Those of one package of the kernel, without our own. */
export const dependenciesOf = (name) => Object.fromEntries(Object.entries(packageJson(`kernel/${name}`).dependencies ?? {}).filter(([dependency]) => !dependency.startsWith('@svc/')));

/** The range of one that some package of this repository names; throws when none does. */
export const rangeOf = (dependency, dirs) => {
  const range = dirs.map((dir) => packageJson(dir)).flatMap(({ dependencies, devDependencies }) => ({ ...devDependencies, ...dependencies })[dependency] ?? [])[0];
  if (range === undefined) throw new Error(`no package.json of ${dirs.join(', ')} names ${dependency}`);
  return range;
};

/** Our own, in the very version that was packed with it. */
export const versionOf = (name) => packageJson(`kernel/${name}`).version;
