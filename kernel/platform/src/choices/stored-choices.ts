/** Choices as the lifecycle sees them: those of the database, under those that were noted in files. */
import type { Disposable, Logger } from '@svc/api';
import type { Lifecycle } from '@svc/core';
import type { TimerClock } from '../clock/clock.js';
import { createTimers } from '../clock/timers.js';
import type { Choices } from './choices.js';
import { type IdNotes, switchedOffIn, switchingOnIn } from './switched-off.js';

const POLL_EVERY_MS = 1_000;
/** A database that does not answer within this gets the choice later. */
const PATIENCE_MS = 5_000;

export interface StoredChoicesDeps {
  readonly dataDir: string;
  readonly choices: Choices;
  readonly clock: TimerClock;
  readonly log: Logger;
  reported(id: string): void;
}

export interface StoredChoices {
  all(): ReadonlyMap<string, boolean>;
  set(id: string, enabled: boolean | undefined): Promise<void>;
  /** An extension is being switched on; the returned function is called when it is known what came of it. */
  attempt(id: string): () => Promise<void>;
  /** Those that were being switched on when the daemon ended; they are forgotten now. */
  cutOff(): readonly string[];
  /** Follows what is noted while the daemon runs, also while it starts. */
  watch(lifecycle: Pick<Lifecycle, 'follow' | 'giveUp'>): Disposable;
}

export const createStoredChoices = ({ choices, clock, dataDir, log, reported }: StoredChoicesDeps): StoredChoices => {
  const off = switchedOffIn(dataDir);
  const on = switchingOnIn(dataDir);
  /** As of the last look. */
  let noted = off.all();
  const storing = new Set<string>();
  const store = async (id: string): Promise<void> => {
    if (storing.has(id)) return;
    storing.add(id);
    try {
      await choices.set(id, false);
      off.drop(id);
      reported(id);
    } finally {
      storing.delete(id);
      noted = off.all();
    }
  };
  const late = (cause: unknown): void => log.warn('a choice is noted in a file; the database gets it when it answers', { cause });
  return {
    all: () => (noted.size === 0 ? choices.all : new Map([...choices.all, ...[...noted].map((id): [string, boolean] => [id, false])])),
    set: async (id, enabled) => {
      if (enabled !== false) {
        off.drop(id);
        noted = off.all();
        await choices.set(id, enabled);
        reported(id);
        return;
      }
      // Without a file only the database can keep it, and says why it does not.
      const isNoted = put(off, id, late);
      noted = off.all();
      if (!isNoted) return store(id);
      await Promise.race([store(id).catch(late), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())]);
    },
    attempt: (id) => {
      put(on, id, late);
      return async () => on.drop(id);
    },
    cutOff: () => {
      const all = [...on.all()];
      for (const id of all) on.drop(id);
      return all;
    },
    watch: (lifecycle) =>
      createTimers({ clock, onError: late }).every(POLL_EVERY_MS, () => {
        const before = noted;
        noted = off.all();
        const news = [...noted].filter((id) => !before.has(id));
        for (const id of news) lifecycle.giveUp(id, 'it was switched off while it started');
        if (news.length > 0) void lifecycle.follow(news).catch(late);
        for (const id of noted) void store(id).catch(late);
      }),
  };
};

const put = (notes: IdNotes, id: string, failed: (cause: unknown) => void): boolean => {
  try {
    notes.put(id);
    return true;
  } catch (error) {
    failed(error);
    return false;
  }
};
