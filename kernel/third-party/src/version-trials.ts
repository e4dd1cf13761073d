/**
 * A version that takes the place of another is one decision: code, files and tables of the new one, or all of before.
 *
 * V1  installed.json says that a version is tried before anything of it runs, and that it counts after it has started.
 *     The second is the decision; the copy of its tables goes after it.
 * V2  Where it does not start, its tables are put back first, then the files. Whoever ends in between does the same again.
 * V3  A daemon that ended while it tried one puts back what was before, and says so. It does not try that one again.
 */
import type { Installed, Trials } from '@svc/core';
import type { Installer } from '@svc/installer/install';
import type { ScopedLogger } from '@svc/platform/log/log';
import type { Storage } from '@svc/platform/storage/storage';
import { thirdPartyErrors } from './errors.js';
import type { InstalledFiles } from '@svc/core';

export type TrialStorage = Pick<Storage, 'isPending' | 'copyTables' | 'restoreTables' | 'forgetTables' | 'tableCopies'>;

export interface VersionTrialDeps {
  installer(): Installer | undefined;
  /** What the record of this id names now. Rejects where it may not run. */
  current(id: string): Promise<InstalledFiles>;
  readonly storage: TrialStorage;
  readonly log: ScopedLogger;
}

export interface VersionTrials extends Trials {
  /** When nothing runs yet: what was cut off is put back. Answers with what to say of each, by id. */
  settle(): Promise<ReadonlyMap<string, string>>;
}

/** Nobody waits longer for a database that does not answer; the next start puts back. */
const UNDO_MS = 60_000;

export const createVersionTrials = ({ current, installer, log, storage }: VersionTrialDeps): VersionTrials => {
  const recordOf = (id: string) =>
    installer()
      ?.records()
      .find((one) => one.id === id);
  const isOpen = ({ id, origin, version }: Installed): boolean => {
    const record = recordOf(id);
    return record?.trial !== undefined && record.version === version && record.installedAt === origin?.installedAt;
  };
  const open = (): { files: Installer; rows: TrialStorage } => {
    const files = installer();
    if (!files) throw thirdPartyErrors.not_ready();
    return { files, rows: storage };
  };
  const ownerOf = ({ id, manifest }: Installed): { id: string; tables: readonly string[] } => ({ id, tables: manifest.tables ?? [] });
  const changesTables = (candidate: Installed): boolean => isOpen(candidate) && storage.isPending(ownerOf(candidate), (candidate as InstalledFiles).migrations ?? []); // all that the store holds
  return {
    isOpen,
    changesTables,
    begin: async (candidate) => {
      const { files, rows } = open();
      const trial = recordOf(candidate.id)?.trial;
      if (!trial) return;
      // It was not possible to put back what an earlier attempt of this life left.
      if (trial.isBegun) await rows.restoreTables(ownerOf(candidate), trial.token);
      else await files.beginTrial(candidate.id);
      if (changesTables(candidate)) await rows.copyTables(ownerOf(candidate), trial.token);
    },
    confirm: async ({ id }) => {
      const { files, rows } = open();
      await files.confirmTrial(id);
      await rows.forgetTables(id).catch((cause: unknown) => log.warn('the copy of its tables could not be dropped; the next start drops it', { extension: id, cause }));
    },
    undo: async (candidate) => {
      const { files, rows } = open();
      const trial = recordOf(candidate.id)?.trial;
      if (!trial) return undefined;
      await within(UNDO_MS, rows.restoreTables(ownerOf(candidate), trial.token));
      await files.undoTrial(candidate.id);
      return current(candidate.id);
    },
    settle: async () => {
      const said = new Map<string, string>();
      const files = installer();
      for (const { id, trial, version } of files?.records() ?? []) {
        if (!trial?.isBegun) continue;
        const isRestored = await storage.restoreTables({ id, tables: [] }, trial.token);
        await files?.undoTrial(id);
        said.set(id, `the daemon ended while it tried ${version}; ${trial.before.version} is back${isRestored ? ', with its earlier tables' : ''}`);
        log.error('the daemon stopped during an upgrade; the earlier version is restored', { extension: id, version, back: trial.before.version, tables: isRestored });
      }
      const tokens = new Set((files?.records() ?? []).flatMap(({ trial }) => (trial ? [trial.token] : [])));
      for (const { owner, token } of await storage.tableCopies()) if (!tokens.has(token)) await storage.forgetTables(owner);
      return said;
    },
  };
};

const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the database did not put its tables back within ${ms / 1_000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
