/**
 * From the sections of a patch to what will be written, before anything is.
 *
 * P1  A patch that does not fit in one place changes nothing in any.
 * P2  A write that fails takes back the ones before it.
 * P3  Only files are touched that the patch names, and none outside the workspace.
 */
import type { Dir } from '@svc/api';
import { toolErrors } from '../errors.js';
import { type Budget, SEARCH_STEPS } from './line-search.js';
import type { PatchSection } from './patch-format.js';
import { applyHunks } from './patch-hunks.js';
import { readText, writablePath, writeText } from './workspace.js';

/** What a file becomes; null removes it. `before` is what it was, null when it was not there. */
export interface Change {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Later sections see what earlier ones made. Throws `tools_patch_conflict`, `tools_patch_too_costly` and the errors of reading. */
export const planPatch = async (dir: Dir, sections: readonly PatchSection[]): Promise<Change[]> => {
  const plan = new Map<string, { before: string | null; after: string | null }>();
  const current = async (path: string): Promise<string | null> => {
    const planned = plan.get(path);
    return planned ? planned.after : ((await readText(dir, path)) ?? null);
  };
  const set = async (path: string, after: string | null): Promise<void> => {
    const before = plan.has(path) ? (plan.get(path)?.before ?? null) : await current(path);
    plan.set(path, { before, after });
  };
  const budget: Budget = { left: SEARCH_STEPS };
  for (const section of sections) await planSection(dir, section, current, set, budget);
  return [...plan].map(([path, { before, after }]) => ({ path, before, after })).filter(({ before, after }) => before !== after);
};

type Current = (path: string) => Promise<string | null>;
type SetText = (path: string, after: string | null) => Promise<void>;

const planSection = async (dir: Dir, section: PatchSection, current: Current, set: SetText, budget: Budget): Promise<void> => {
  const path = writablePath(dir, section.path);
  const before = await current(path);
  if (section.kind === 'add') {
    if (before !== null) throw toolErrors.patch_conflict(path, 'it exists already; update it instead of adding it');
    return set(path, section.content);
  }
  if (before === null) throw toolErrors.patch_conflict(path, 'the file does not exist');
  if (section.kind === 'delete') return set(path, null);
  const patched = applyHunks(before, section.hunks, budget);
  if ('problem' in patched) throw toolErrors.patch_conflict(path, patched.problem);
  const target = section.moveTo === null ? path : writablePath(dir, section.moveTo);
  if (target !== path) {
    if ((await current(target)) !== null) throw toolErrors.patch_conflict(target, 'a file is there already, and the patch would move another onto it');
    await set(path, null);
  }
  return set(target, patched.text);
};

/** Carries the plan out. What was changed before a failure is put back; the failure is thrown on. */
export const carryOut = async (dir: Dir, changes: readonly Change[]): Promise<void> => {
  const done: Change[] = [];
  try {
    for (const change of changes) {
      done.push(change);
      await put(dir, change.path, change.after);
    }
  } catch (error) {
    for (const { path, before } of done.reverse()) await put(dir, path, before);
    throw error;
  }
};

const put = async (dir: Dir, path: string, text: string | null): Promise<void> => {
  if (text !== null) await writeText(dir, path, text);
  else await dir.remove(path, { noLinks: true });
};
