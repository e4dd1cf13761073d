/**
 * Backups while the daemon runs, as the area has them.
 *
 * L1  One backup or restore at a time; another is refused with `backup_busy`.
 * L2  A restore begins to stop the daemon only when all of the archive was unpacked and validated.
 */
import type { Backups, BackupState, BackupSummary } from '@svc/api';
import { BackupCollect } from '@svc/api';
import type { HookRegistry } from '@svc/core';
import { createBackupList, type ListedBackup, timeOf } from '@svc/platform/backup/backups-folder';
import { backupErrors } from '@svc/platform/backup/errors';
import { lastRestore, type RestorePlan } from '@svc/platform/backup/restore-swap';
import { assertServerTakes } from '@svc/platform/backup/server-database';
import type { Storage } from '@svc/platform/storage/storage';
import { archiveOf, type BackupHome, backUpHome, stageRestore } from './home-backup.js';

export interface LiveBackupsDeps extends BackupHome {
  readonly storage: Pick<Storage, 'saveTo'>;
  readonly hooks: HookRegistry;
  /** Other daemons that are alive on this database, as people call them. */
  others(): Promise<readonly string[]>;
  /** Stops this daemon and starts it with what was staged; undefined where nobody does that. */
  readonly onRestore: ((plan: RestorePlan) => void) | undefined;
  /** Aborted when the daemon stops. */
  readonly signal: AbortSignal;
  later(work: () => void): void;
}

type Running = NonNullable<BackupState['running']>;

export const createLiveBackups = (deps: LiveBackupsDeps): Backups => {
  const { clock, home, storage } = deps;
  const list = createBackupList(home.home, deps.version);
  let running: Running | undefined;
  const alone = async <T>(kind: Running['kind'], step: Running['step'], work: () => Promise<T>): Promise<T> => {
    if (running) throw backupErrors.busy();
    running = { kind, step, startedAt: clock.iso() };
    try {
      return await work();
    } finally {
      running = undefined;
    }
  };
  return Object.freeze({
    create: (cause: 'manual' | 'scheduled') =>
      alone('backup', 'database', async () => {
        await deps.hooks.handle(BackupCollect).call({ cause });
        const { filename } = await backUpHome(deps, {
          cause,
          live: storage,
          signal: deps.signal,
          onStep: (step) => {
            if (running) running = { ...running, step };
          },
        });
        const made = (await list.all()).find((one) => one.filename === filename);
        if (!made) throw backupErrors.not_found(filename);
        return summaryOf(made);
      }),
    list: async () => (await list.all()).map(summaryOf),
    remove: list.remove,
    restore: (filename: string, actorId: string) =>
      alone('restore', 'validating', async () => {
        const archive = await archiveOf(home, filename);
        const { onRestore, server } = deps;
        if (!onRestore) throw backupErrors.cannot_restart();
        const others = await deps.others();
        if (others.length > 0) throw backupErrors.other_daemons(others.join(', '));
        if (server) await assertServerTakes(server.url);
        const { manifest, staged } = await stageRestore(deps, archive);
        deps.later(() => onRestore({ filename, staged, actor: actorId, safety: null }));
        const { files, version, created_at, hostname, svc_version, components } = manifest;
        return { files: files.length, manifest: { version, created_at, hostname, svc_version, components } };
      }),
    state: async () => {
      const last = await lastRestore(home.home);
      const shown = last && { filename: last.filename, status: last.status, at: last.at, reason: last.reason, safetyBackup: last.safety_backup };
      return { running: running ?? null, lastRestore: shown ?? null };
    },
  });
};

const summaryOf = (backup: ListedBackup): BackupSummary => ({
  filename: backup.filename,
  path: backup.path,
  sizeBytes: backup.sizeBytes,
  modifiedAt: backup.modifiedAt,
  createdAt: timeOf(backup),
  components: backup.manifest?.components ?? [],
  svcVersion: backup.manifest?.svc_version ?? null,
  problem: backup.problem ?? null,
});
