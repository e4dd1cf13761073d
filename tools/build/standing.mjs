/**
 * The short answer to "is anything stale?", for `npm start`: what was once found fresh stands as long as every file
 * that was looked at has the time and size it had then. Anything else is no answer, and the whole question is asked.
 *
 * Looked at is what freshness.mjs looks at: sources, products, the record, these tools, the packages, and the folders
 * in which another area or another tool would appear.
 */
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DIST, inRoot } from './paths.mjs';

const STANDING = path.join(DIST, '.standing.json');

const stampOf = (file) => {
  const stat = statSync(inRoot(file), { throwIfNoEntry: false });
  return stat ? [stat.mtimeMs, stat.size] : [0, -1];
};

const isAsItWas = ([file, time, size]) => {
  const now = stampOf(file);
  return now[0] === time && now[1] === size;
};

export const stands = ({ stamps }) => stamps.every(isAsItWas);

/** True when nothing has changed since all was found fresh; false says nothing. */
export const isStanding = () => {
  try {
    return stands(JSON.parse(readFileSync(STANDING, 'utf8')));
  } catch {
    return false; // none yet, or not to be read: the whole question is asked
  }
};

/** What the answer depends on beside the inputs and products of the targets. */
const ofTheWay = () => {
  const areas = readdirSync(inRoot('extensions'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const tools = readdirSync(inRoot('tools/build')).map((name) => `tools/build/${name}`);
  return ['tsconfig.json', 'package-lock.json', 'dist/.build.json', 'tools/build', ...tools, 'extensions', ...areas.flatMap(({ name }) => [`extensions/${name}`, `extensions/${name}/src`])];
};

/** Take it before the whole question is asked: what changes meanwhile is seen next time. */
export const lookAt = (files) => ({ stamps: [...new Set([...ofTheWay(), ...files])].map((file) => [file, ...stampOf(file)]) });

/** Keeps a look that turned out to be at something fresh. */
export const keepStanding = (look) => {
  const draft = `${STANDING}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(look));
  renameSync(draft, STANDING);
};
