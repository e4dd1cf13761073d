/**
 * Remembers what each target was built from, so that only what changed is built again.
 *
 * A file counts as unchanged when its time and size are the recorded ones, or else its content is.
 * Packages are not looked at file by file: the lock file stands for them.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DIST, inRoot } from './paths.mjs';

const RECORD = path.join(DIST, '.build.json');
const FORMAT = 3;

const sha256 = (data) => createHash('sha256').update(data).digest('hex');

/** Changes when the way of building does: these tools, the compiler's settings, the installed packages. Not with Node: what is built is the same under each. */
export const toolFingerprint = () => {
  const hash = createHash('sha256').update(`${FORMAT}`);
  const tools = readdirSync(inRoot('tools/build'))
    .sort()
    .map((file) => inRoot('tools/build', file));
  for (const file of [...tools, inRoot('tsconfig.json'), inRoot('package-lock.json')]) if (existsSync(file)) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
};

/** The record, empty when there is none, when it cannot be read, or when the tools changed: then all is built. */
export const readRecord = (fingerprint) => {
  try {
    const record = JSON.parse(readFileSync(RECORD, 'utf8'));
    if (record.fingerprint === fingerprint) return record;
  } catch (error) {
    if (error.code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  return { fingerprint, targets: {} };
};

export const writeRecord = (record) => {
  mkdirSync(DIST, { recursive: true });
  const draft = `${RECORD}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(record));
  renameSync(draft, RECORD);
};

/** Stamps inputs after a build. What was written while it ran cannot be trusted: it counts as changed next time. */
export const stampInputs = (files, startedAt) => {
  const inputs = {};
  for (const file of [...new Set(files)].sort()) {
    const stat = statSync(inRoot(file), { throwIfNoEntry: false });
    if (!stat) continue;
    const during = stat.mtimeMs >= startedAt;
    inputs[file] = during ? [0, -1, ''] : [stat.mtimeMs, stat.size, sha256(readFileSync(inRoot(file)))];
  }
  return inputs;
};

const isUnchanged = (file, stamp) => {
  const stat = statSync(inRoot(file), { throwIfNoEntry: false });
  if (!stat) return false;
  if (stat.mtimeMs === stamp[0] && stat.size === stamp[1]) return true;
  if (stat.size !== stamp[1] || sha256(readFileSync(inRoot(file))) !== stamp[2]) return false;
  stamp[0] = stat.mtimeMs;
  return true;
};

/** True when the target was built from exactly what lies there now, and its result still does. */
export const isFresh = (record, target) => {
  const entry = record.targets[target.name];
  if (!entry || entry.entries !== (target.entries ?? []).join()) return false;
  return entry.products.every((file) => existsSync(inRoot(file))) && Object.entries(entry.inputs).every(([file, stamp]) => isUnchanged(file, stamp));
};
