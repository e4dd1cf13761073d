/**
 * Saves changes one by one, each on the file that was looked at last.
 *
 * S1  Nothing is written while somebody else changed one of the same settings since they were read.
 * S2  A change of another setting by somebody else is no obstacle: the file is looked at anew, and the change is made on that.
 */
import { daemon, type OutputOf, sayingOf, SvcError } from '@svc/kit';
import { isSame } from '@svc/kit/collection';
import type { Setting } from './schema.js';

/** Somebody who saves again and again while one saves. */
const MAX_ATTEMPTS = 5;

export interface Wanted {
  readonly path: string;
  /** Null takes it out of the file. */
  readonly value: unknown;
  readonly base: unknown;
}

export interface Saved {
  readonly done: ReadonlyArray<OutputOf<'setConfigValue'>>;
  /** Paths that somebody else changed. */
  readonly conflicts: readonly string[];
  readonly refused: ReadonlyArray<{ readonly path: string; readonly why: string }>;
}

type Look = OutputOf<'listSettings'>;

const valueAt = (look: Look, path: string): unknown => look.settings.find((one: Setting) => one.path === path)?.value;
const isTaken = (look: Look, { path, base }: Wanted): boolean => !isSame(valueAt(look, path), base);

export const save = async (wanted: readonly Wanted[]): Promise<Saved> => {
  const first = await daemon.call('listSettings');
  const taken = wanted.filter((one) => isTaken(first, one));
  if (taken.length > 0) return { done: [], conflicts: taken.map(({ path }) => path), refused: [] };
  const done: Array<OutputOf<'setConfigValue'>> = [];
  const conflicts: string[] = [];
  const refused: Array<{ path: string; why: string }> = [];
  let look: Look | undefined = first;
  for (const one of wanted) {
    const made: OutputOf<'setConfigValue'> | 'conflict' | string = await saveOne(one, look);
    look = undefined;
    if (made === 'conflict') conflicts.push(one.path);
    else if (typeof made === 'string') refused.push({ path: one.path, why: made });
    else done.push(made);
  }
  return { done, conflicts, refused };
};

/** The answer, `conflict`, or why it was refused. */
const saveOne = async (wanted: Wanted, looked: Look | undefined): Promise<OutputOf<'setConfigValue'> | 'conflict' | string> => {
  let look = looked;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    look ??= await daemon.call('listSettings');
    if (isTaken(look, wanted)) return 'conflict';
    try {
      return await daemon.call('setConfigValue', { body: { path: wanted.path, value: wanted.value } }, { headers: { 'if-match': `"${look.revision}"` } });
    } catch (error) {
      if (!(error instanceof SvcError) || error.status >= 500 || error.status === 401) throw error;
      if (error.code !== 'config_changed_meanwhile') {
        const { text, hint } = sayingOf(error);
        return [text, hint].filter(Boolean).join(' ');
      }
      look = undefined;
    }
  }
  return 'conflict';
};
